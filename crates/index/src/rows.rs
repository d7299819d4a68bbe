//! Rows of a table `(id, data)`, each with a checksum: SQLite notices damage in its own structure only, and an
//! overwritten byte in a bit set would hide an event from searches.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::IndexError;

/// The tables that hold such rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Table {
    /// Columns of chunks.
    Part,
    /// Which events a run holds.
    Run,
    /// Pages of a run.
    Gram,
    /// Which events of a chunk have a sieve.
    Long,
    /// Slices of sieves.
    Sieve,
}

impl Table {
    fn sql(self, [part, run, gram, long, sieve]: [&'static str; 5]) -> &'static str {
        match self {
            Self::Part => part,
            Self::Run => run,
            Self::Gram => gram,
            Self::Long => long,
            Self::Sieve => sieve,
        }
    }
}

/// Writes a row, also over an earlier one.
pub(crate) fn put(db: &Connection, table: Table, id: i64, mut data: Vec<u8>) -> Result<(), IndexError> {
    hookmitt_sqlite::pause();
    let sum = checksum(id, &data);
    data.extend(sum);
    let sql = table.sql([
        "INSERT OR REPLACE INTO part (id, data) VALUES (?1, ?2)",
        "INSERT OR REPLACE INTO run (id, data) VALUES (?1, ?2)",
        "INSERT OR REPLACE INTO gram (id, data) VALUES (?1, ?2)",
        "INSERT OR REPLACE INTO long (id, data) VALUES (?1, ?2)",
        "INSERT OR REPLACE INTO sieve (id, data) VALUES (?1, ?2)",
    ]);
    db.prepare_cached(sql)?.execute(params![id, data])?;
    Ok(())
}

/// Reads a row.
pub(crate) fn get(db: &Connection, table: Table, id: i64) -> Result<Option<Vec<u8>>, IndexError> {
    let sql = table.sql([
        "SELECT data FROM part WHERE id = ?1",
        "SELECT data FROM run WHERE id = ?1",
        "SELECT data FROM gram WHERE id = ?1",
        "SELECT data FROM long WHERE id = ?1",
        "SELECT data FROM sieve WHERE id = ?1",
    ]);
    let data: Option<Vec<u8>> = db.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    data.map(|data| checked(id, data)).transpose()
}

/// Reads the last row of those from `first` to `last`, with its id.
pub(crate) fn last(
    db: &Connection,
    table: Table,
    (first, last): (i64, i64),
) -> Result<Option<(i64, Vec<u8>)>, IndexError> {
    let sql = table.sql([
        "SELECT id, data FROM part WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
        "SELECT id, data FROM run WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
        "SELECT id, data FROM gram WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
        "SELECT id, data FROM long WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
        "SELECT id, data FROM sieve WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
    ]);
    let row = db.prepare_cached(sql)?.query_row([first, last], |row| Ok((row.get(0)?, row.get(1)?)));
    row.optional()?.map(|(id, data)| Ok((id, checked(id, data)?))).transpose()
}

/// Reads the rows from `first` to `last`, in order.
pub(crate) fn all(
    db: &Connection,
    table: Table,
    (first, last): (i64, i64),
) -> Result<Vec<(i64, Vec<u8>)>, IndexError> {
    let sql = table.sql([
        "SELECT id, data FROM part WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
        "SELECT id, data FROM run WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
        "SELECT id, data FROM gram WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
        "SELECT id, data FROM long WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
        "SELECT id, data FROM sieve WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
    ]);
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([first, last], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.map(|row| {
        let (id, data) = row?;
        Ok((id, checked(id, data)?))
    })
    .collect()
}

/// Deletes the rows from `first` to `last`.
pub(crate) fn delete(db: &Connection, table: Table, (first, last): (i64, i64)) -> Result<(), IndexError> {
    let sql = table.sql([
        "DELETE FROM part WHERE id BETWEEN ?1 AND ?2",
        "DELETE FROM run WHERE id BETWEEN ?1 AND ?2",
        "DELETE FROM gram WHERE id BETWEEN ?1 AND ?2",
        "DELETE FROM long WHERE id BETWEEN ?1 AND ?2",
        "DELETE FROM sieve WHERE id BETWEEN ?1 AND ?2",
    ]);
    db.prepare_cached(sql)?.execute([first, last])?;
    Ok(())
}

fn checked(id: i64, mut data: Vec<u8>) -> Result<Vec<u8>, IndexError> {
    let damaged = || IndexError::Damaged(format!("row {id} is not what was written"));
    let sum: [u8; 4] = data.last_chunk().copied().ok_or_else(damaged)?;
    data.truncate(data.len() - sum.len());
    if checksum(id, &data) == sum { Ok(data) } else { Err(damaged()) }
}

/// Returns the checksum of a row. The id is part of it, so that a row is not taken for another one.
pub(crate) fn checksum(id: i64, data: &[u8]) -> [u8; 4] {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&id.to_le_bytes());
    sum.update(data);
    sum.finalize().to_le_bytes()
}
