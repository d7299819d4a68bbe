//! How many requests were refused, counted in memory and written now and then: a flood must not cost a sync each.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::Connection;

/// How old the written counts may be while other things are written.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// How many tunnels may have counts to be written, before more are not counted. Only tunnels that exist are asked for.
const MOST: usize = 100_000;

/// What was refused of one tunnel; only grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) refused: u64,
    pub(super) refused_at: Option<i64>,
    pub(super) unknown: u64,
}

/// What was refused of every tunnel.
#[derive(Debug)]
pub(super) struct Refusals(Mutex<Book>);

#[derive(Debug)]
struct Book {
    counts: HashMap<String, Count>,
    /// What is not written yet.
    open: HashSet<String>,
    written_at: Instant,
}

impl Refusals {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Book { counts: HashMap::new(), open: HashSet::new(), written_at: Instant::now() }))
    }

    /// Reads what was counted before this process began. What it counted itself is newer.
    pub(super) fn load(&self, db: &Connection) -> rusqlite::Result<()> {
        let sql = "SELECT name, refused, refused_at, unknown FROM tunnel JOIN mark ON tunnel = id
            WHERE shut = 0 AND (refused > 0 OR unknown > 0)";
        let mut statement = db.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut book = self.book();
        while let Some(row) = rows.next()? {
            let count = Count { refused: row.get(1)?, refused_at: row.get(2)?, unknown: row.get(3)? };
            book.counts.entry(row.get(0)?).or_insert(count);
        }
        Ok(())
    }

    /// Counts a request.
    pub(super) fn count(&self, tunnel: &str, unknown_source: bool, now: i64) {
        let mut book = self.book();
        if book.open.len() >= MOST {
            return;
        }
        let count = book.counts.entry(tunnel.to_owned()).or_default();
        if unknown_source {
            count.unknown += 1;
        } else {
            count.refused += 1;
            count.refused_at = count.refused_at.max(Some(now));
        }
        book.open.insert(tunnel.to_owned());
    }

    /// What was counted.
    pub(super) fn of(&self, tunnel: &str) -> Count {
        self.book().counts.get(tunnel).copied().unwrap_or_default()
    }

    /// Writes what was not written for a second, or all of it at once.
    pub(super) fn write(&self, db: &Connection, at_once: bool) -> rusqlite::Result<()> {
        const COUNT: &str = "UPDATE mark SET refused = ?2, refused_at = ?3, unknown = ?4
            WHERE tunnel = (SELECT id FROM tunnel WHERE name = ?1 AND shut = 0)";
        for (tunnel, count) in self.to_write(at_once) {
            let row = (&tunnel, count.refused, count.refused_at, count.unknown);
            if db.prepare_cached(COUNT)?.execute(row)? == 0 {
                self.book().counts.remove(&tunnel); // there is no such tunnel (any more)
            }
        }
        Ok(())
    }

    /// What to write now; should the transaction fail, the next count of that tunnel writes it all the same.
    fn to_write(&self, at_once: bool) -> Vec<(String, Count)> {
        let mut book = self.book();
        if book.open.is_empty() || !at_once && book.written_at.elapsed() < WRITE_EVERY {
            return Vec::new();
        }
        book.written_at = Instant::now();
        let open = std::mem::take(&mut book.open);
        let count = |name: String| book.counts.get(&name).map(|&count| (name, count));
        open.into_iter().filter_map(count).collect()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
