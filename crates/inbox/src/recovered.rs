//! What was recovered from a damaged inbox.

use std::path::PathBuf;

use hookmitt_event::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use serde::{Deserialize, Serialize};

use crate::InboxError;

/// The row of `meta` that says what was recovered.
pub(crate) const NOTE: &str = "recovered";

/// What was recovered from a damaged inbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recovered {
    /// When it was recovered.
    pub at: Timestamp,
    /// How many events were recovered.
    pub events: u64,
    /// How many of those have lost their body or their header lines.
    pub without_body: u64,
    /// How many events are missing; `None` if the damaged inbox doesn't say how many it had.
    pub missing: Option<u64>,
    /// Where the damaged inbox is.
    pub kept: PathBuf,
}

impl std::fmt::Display for Recovered {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at, events, without_body, missing, kept } = self;
        write!(out, "the inbox was damaged and was recovered at {at}: {events} events are here, ")?;
        match missing {
            Some(missing) => write!(out, "{missing} are missing, ")?,
            None => write!(out, "it isn't known how many are missing, ")?,
        }
        write!(out, "{without_body} have lost their body; the damaged file is kept: {}", kept.display())
    }
}

pub(crate) fn count(db: &Connection, sql: &str) -> rusqlite::Result<u64> {
    db.query_row(sql, [], |row| row.get(0))
}

/// Reads what was recovered, as long as the damaged file is still kept.
pub(crate) fn recovered(db: &Connection) -> Result<Option<Recovered>, InboxError> {
    const SQL: &str = "SELECT value FROM meta WHERE key = ?1";
    let note = db.query_row(SQL, [NOTE], |row| row.get::<_, String>(0)).optional()?;
    let note: Option<Recovered> = note.and_then(|json| serde_json::from_str(&json).ok());
    Ok(note.filter(|recovered| recovered.kept.exists()))
}
