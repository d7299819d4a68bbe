//! The dictionary: each word that a column holds has a number, and a count of the events that use it.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{column::Column, error::IndexError, rows};

/// The number that stands for no word.
pub(crate) const ABSENT: i64 = 0;

/// The number that stands for any word: those that are too long, or too many. Searches verify such events.
pub(crate) const ANY: i64 = 1;

/// The number of the first word.
const FIRST: i64 = 2;

/// How many words a column has at most. A sender may invent a new path or type in each request.
const MOST: i64 = 200_000;

/// The length of the longest word, in bytes.
const LONGEST: usize = 512;

/// How many numbers are looked at to find a free one. Where none is free, all but few would have to be looked at.
const TRIES: i64 = 64;

/// What separates the words of an event that has several, such as its tags.
const SEPARATOR: char = '\n';

/// Which number of each column to try next for a new word.
pub(crate) type Next = HashMap<Column, i64>;

/// The dictionary during a transaction that writes.
pub(crate) struct Words<'a> {
    db: &'a Connection,
    next: &'a mut Next,
    known: HashMap<(Column, String), i64>,
    /// By how much the count of uses of a word changes.
    uses: HashMap<i64, i64>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(db: &'a Connection, next: &'a mut Next) -> Self {
        Self { db, next, known: HashMap::new(), uses: HashMap::new() }
    }

    /// Returns the number of a word, which is added if it is new.
    pub(crate) fn number(&mut self, column: Column, word: Option<&str>) -> Result<i64, IndexError> {
        let Some(word) = word else { return Ok(ABSENT) };
        if word.len() > LONGEST {
            return Ok(ANY);
        }
        if let Some(number) = self.known.get(&(column, word.to_owned())) {
            return Ok(*number);
        }
        let number = match self.find(column, word)? {
            Some(number) => number,
            None => self.add(column, word)?,
        };
        self.known.insert((column, word.to_owned()), number);
        Ok(number)
    }

    /// Returns the number of a set of words.
    pub(crate) fn set(&mut self, column: Column, words: &[String]) -> Result<i64, IndexError> {
        if words.is_empty() {
            return Ok(ABSENT);
        }
        if words.iter().any(|word| word.contains(SEPARATOR)) {
            return Ok(ANY);
        }
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.sort_unstable();
        words.dedup();
        self.number(column, Some(&words.join("\n")))
    }

    /// Counts that an event uses another word than before.
    pub(crate) fn changed(&mut self, column: Column, before: Option<i64>, after: Option<i64>) {
        for (number, by) in [(before, -1), (after, 1)] {
            if let Some(number) = number.filter(|number| *number >= FIRST) {
                *self.uses.entry(id(column, number)).or_default() += by;
            }
        }
    }

    /// Stores the counts, and deletes the words that nothing uses any more.
    pub(crate) fn store(self) -> Result<(), IndexError> {
        let mut count = self.db.prepare_cached("UPDATE word SET uses = uses + ?2 WHERE id = ?1")?;
        let mut delete = self.db.prepare_cached("DELETE FROM word WHERE id = ?1 AND uses <= 0")?;
        let new = self.known.iter().filter(|(_, number)| **number >= FIRST);
        let new = new.map(|((column, _), number)| (id(*column, *number), 0));
        let mut uses: HashMap<i64, i64> = new.collect();
        uses.extend(self.uses);
        for (id, by) in uses {
            count.execute([id, by])?;
            delete.execute([id])?;
        }
        Ok(())
    }

    fn find(&self, column: Column, word: &str) -> Result<Option<i64>, IndexError> {
        const SQL: &str = "SELECT id FROM word WHERE id >> 32 = ?1 AND text = ?2";
        let found = self.db.prepare_cached(SQL)?.query_row(params![column as i64, word], |row| row.get(0));
        Ok(found.optional()?.map(number))
    }

    fn add(&mut self, column: Column, word: &str) -> Result<i64, IndexError> {
        let first = match self.next.get(&column) {
            Some(next) => *next,
            None => last(self.db, column)? + 1,
        };
        let mut add = self
            .db
            .prepare_cached("INSERT OR IGNORE INTO word (id, text, uses, sum) VALUES (?1, ?2, 0, ?3)")?;
        for tried in first..first + TRIES {
            let number = FIRST + (tried - FIRST) % MOST;
            self.next.insert(column, number + 1);
            let id = id(column, number);
            if add.execute(params![id, word, rows::checksum(id, word.as_bytes())])? == 1 {
                return Ok(number);
            }
        }
        Ok(ANY)
    }
}

/// Calls `each` with every word of a column that is used, its number and how many events use it, until it returns
/// `false`. The numbers ascend.
pub(crate) fn each(
    db: &Connection,
    column: Column,
    mut each: impl FnMut(i64, &str, u64) -> bool,
) -> Result<(), IndexError> {
    const SQL: &str = "SELECT id, text, uses, sum FROM word WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
    let mut statement = db.prepare_cached(SQL)?;
    let mut found = statement.query([id(column, FIRST), id(column, FIRST + MOST)])?;
    while let Some(row) = found.next()? {
        let (id, word, sum) = (row.get(0)?, row.get_ref(1)?.as_str(), row.get_ref(3)?.as_blob());
        let is_whole = |word: &&str| sum.is_ok_and(|sum| sum == rows::checksum(id, word.as_bytes()));
        let word = word.ok().filter(is_whole);
        let word = word.ok_or_else(|| IndexError::Damaged(format!("word {id} is not what was written")))?;
        if !each(number(id), word, row.get(2)?) {
            break;
        }
    }
    Ok(())
}

/// Returns the words of a set.
pub(crate) fn split(set: &str) -> impl Iterator<Item = &str> {
    set.split(SEPARATOR)
}

/// Returns the highest number of a column's words.
fn last(db: &Connection, column: Column) -> Result<i64, IndexError> {
    const SQL: &str = "SELECT max(id) FROM word WHERE id BETWEEN ?1 AND ?2";
    let range = [id(column, FIRST), id(column, FIRST + MOST)];
    let last: Option<i64> = db.prepare_cached(SQL)?.query_row(range, |row| row.get(0))?;
    Ok(last.map_or(FIRST - 1, number))
}

fn id(column: Column, number: i64) -> i64 {
    (column as i64) << 32 | number
}

fn number(id: i64) -> i64 {
    id & 0xFFFF_FFFF
}
