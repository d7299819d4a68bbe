//! How much the index holds.

use std::path::Path;

use rusqlite::Connection;

use crate::{error::IndexError, schema};

/// How much the index holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Up to which sequence number all events are in it.
    pub done: i64,
    /// How many events are in it.
    pub events: u64,
    /// The size of its file and the file's log, in bytes.
    pub bytes: u64,
    /// How many events are gone of whose texts something is still stored.
    pub tombstones: u64,
}

pub(crate) fn read(db: &Connection, path: &Path) -> Result<State, IndexError> {
    let sums = db.query_row("SELECT ifnull(sum(events), 0), ifnull(sum(gone), 0) FROM chunk", [], |row| {
        Ok((row.get(0)?, row.get(1)?))
    });
    let (events, tombstones) = sums?;
    let size = |suffix| std::fs::metadata(hookmitt_sqlite::beside(path, suffix)).map_or(0, |file| file.len());
    Ok(State { done: schema::done(db)?, events, bytes: size("") + size("-wal"), tombstones })
}
