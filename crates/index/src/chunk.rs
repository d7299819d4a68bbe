//! Chunks of events, whose columns are read and written whole.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    bits::{Bits, CHUNK},
    column::{Column, Values, encoded},
    error::IndexError,
    rows::{self, Table},
    words::Words,
};

/// How many rows of the table of parts belong to a chunk: the events that it has, and its columns.
const PARTS: i64 = 64;

/// The values of one event, in the order of [`Column::ALL`].
pub(crate) type Row = [i64; Column::ALL.len()];

/// A chunk while it is changed.
pub(crate) struct Chunk {
    number: i64,
    present: Bits,
    columns: Vec<Vec<i64>>,
    /// How the columns were stored when they were read.
    stored: Vec<Vec<u8>>,
}

impl Chunk {
    /// Reads a chunk, which is empty if it isn't stored.
    pub(crate) fn read(db: &Connection, number: i64) -> Result<Self, IndexError> {
        let present = present(db, number)?;
        let (mut columns, mut stored) = (Vec::new(), Vec::new());
        for column in Column::ALL {
            let bytes = if present.is_some() { part(db, number, column)? } else { Vec::new() };
            columns.push(if bytes.is_empty() { vec![0; CHUNK] } else { Values::read(&bytes)?.to_vec(CHUNK) });
            stored.push(bytes);
        }
        Ok(Self { number, present: present.unwrap_or_else(Bits::none), columns, stored })
    }

    /// Adds or replaces an event. Returns whether it was there.
    pub(crate) fn set(&mut self, slot: usize, row: &Row, words: &mut Words<'_>) -> bool {
        let was_present = self.present.contains(slot);
        for (column, values) in Column::ALL.iter().zip(&mut self.columns) {
            let value = row[column.place()];
            if Column::WORDS.contains(column) {
                words.changed(*column, was_present.then_some(values[slot]), Some(value));
            }
            values[slot] = value;
        }
        self.present.insert(slot);
        was_present
    }

    /// Removes an event. Returns whether it was there.
    pub(crate) fn remove(&mut self, slot: usize, words: &mut Words<'_>) -> bool {
        let was_present = self.present.contains(slot);
        if was_present {
            for column in Column::WORDS {
                words.changed(column, Some(self.columns[column.place()][slot]), None);
            }
            self.present.remove(slot);
        }
        was_present
    }

    /// Stores what has changed. `gone` is of how many more events the texts were removed or replaced. A chunk without
    /// events is not stored any more.
    pub(crate) fn store(mut self, db: &Connection, gone: usize) -> Result<(), IndexError> {
        const SQL: &str = "INSERT INTO chunk (id, events, gone) VALUES (?1, ?2, ?3) \
                           ON CONFLICT DO UPDATE SET events = excluded.events, gone = gone + excluded.gone";
        let Some(last) = self.present.newest_first().next() else {
            rows::delete(db, Table::Part, (self.number * PARTS, self.number * PARTS + PARTS - 1))?;
            db.prepare_cached("DELETE FROM chunk WHERE id = ?1")?.execute([self.number])?;
            return Ok(());
        };
        db.prepare_cached(SQL)?.execute(params![self.number, self.present.len(), gone])?;
        rows::put(db, Table::Part, self.number * PARTS, self.present.to_bytes())?;
        for ((column, values), stored) in Column::ALL.iter().zip(&mut self.columns).zip(&self.stored) {
            forget_absent(values, &self.present);
            let bytes = encoded(&values[..=last]);
            if bytes != *stored {
                rows::put(db, Table::Part, self.number * PARTS + *column as i64, bytes)?;
            }
        }
        Ok(())
    }
}

/// Gives the slots without an event the least value, so that nothing stays of removed events and no slot makes the
/// column wider.
fn forget_absent(values: &mut [i64], present: &Bits) {
    let least = present.oldest_first().map(|slot| values[slot]).min().unwrap_or(0);
    for (slot, value) in values.iter_mut().enumerate() {
        if !present.contains(slot) {
            *value = least;
        }
    }
}

/// Reads which events a chunk has; `None` if it isn't stored.
pub(crate) fn present(db: &Connection, chunk: i64) -> Result<Option<Bits>, IndexError> {
    let Some(bytes) = rows::get(db, Table::Part, chunk * PARTS)? else { return Ok(None) };
    let wrong = || IndexError::Damaged("a set of events has a wrong length".to_owned());
    Ok(Some(Bits::from_bytes(&bytes).ok_or_else(wrong)?))
}

/// Reads a column of a stored chunk.
pub(crate) fn values(db: &Connection, chunk: i64, column: Column) -> Result<Values, IndexError> {
    Values::read(&part(db, chunk, column)?)
}

fn part(db: &Connection, chunk: i64, column: Column) -> Result<Vec<u8>, IndexError> {
    let bytes = rows::get(db, Table::Part, chunk * PARTS + column as i64)?;
    bytes.ok_or_else(|| IndexError::Damaged(format!("chunk {chunk} has no column {column:?}")))
}

/// Returns the newest chunk of those from `first` to `last`, and how many events it has.
pub(crate) fn newest(db: &Connection, first: i64, last: i64) -> Result<Option<(i64, u64)>, IndexError> {
    const SQL: &str = "SELECT id, events FROM chunk WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1";
    let newest =
        db.prepare_cached(SQL)?.query_row([first, last], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(newest)
}

/// Returns the chunk of a sequence number, and the slot in it.
pub(crate) fn place(seq: i64) -> (i64, usize) {
    let size = CHUNK as i64;
    (seq.div_euclid(size), usize::try_from(seq.rem_euclid(size)).unwrap_or(0))
}

/// Returns the sequence number of a slot.
pub(crate) fn seq(chunk: i64, slot: usize) -> i64 {
    chunk * CHUNK as i64 + slot as i64
}

/// Returns a chunk that still holds something of texts that are gone: any such chunk, or one of which an eighth is gone.
pub(crate) fn with_gone(db: &Connection, any: bool) -> Result<Option<i64>, IndexError> {
    const SQL: &str =
        "SELECT id FROM chunk WHERE gone > 0 AND (?1 OR gone * 8 >= events + gone) ORDER BY id LIMIT 1";
    Ok(db.prepare_cached(SQL)?.query_row([any], |row| row.get(0)).optional()?)
}

/// Notes that a chunk holds nothing of texts that are gone.
pub(crate) fn set_clean(db: &Connection, chunk: i64) -> Result<(), IndexError> {
    db.prepare_cached("UPDATE chunk SET gone = 0 WHERE id = ?1")?.execute([chunk])?;
    Ok(())
}
