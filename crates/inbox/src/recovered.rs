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
    /// What else may lack something, as people call it: `targets`.
    pub incomplete: Vec<String>,
    /// Where the damaged inbox is.
    pub kept: PathBuf,
}

/// What people call the tables that they would miss rows of.
const WORDS: [(&str, &str); 14] = [
    ("source", "sources"),
    ("target", "targets"),
    ("delivery", "deliveries"),
    ("attempt", "attempts"),
    ("tag", "tags"),
    ("binned", "the trash"),
    ("retention", "retention"),
    ("tunnel", "tunnels"),
    ("tunnel_gap", "gaps"),
    ("saved_search", "saved searches"),
    ("first_key", "what is known of duplicates"),
    ("audit", "the audit trail"),
    ("refusal", "refusals"),
    ("hourly", "statistics"),
];

/// How many kinds of things are named in a sentence.
const FEW: usize = 5;

/// Returns what people call those tables that they would miss rows of.
pub(crate) fn in_words(tables: &[&str]) -> Vec<String> {
    let named = WORDS.into_iter().filter(|(table, _)| tables.contains(table));
    named.map(|(_, words)| words.to_owned()).collect()
}

impl std::fmt::Display for Recovered {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at, events, without_body, missing, incomplete, kept } = self;
        write!(out, "the inbox was damaged and was recovered at {at}: {events} events are here, ")?;
        match missing {
            Some(missing) => write!(out, "{missing} are missing, ")?,
            None => write!(out, "it isn't known how many are missing, ")?,
        }
        write!(out, "{without_body} have lost their body; ")?;
        match incomplete.as_slice() {
            [] => {}
            some if some.len() <= FEW => {
                write!(out, "look at what may be incomplete: {}; ", some.join(", "))?
            }
            _ => out.write_str(
                "look at what else may be incomplete, targets, tunnels and retention above all; ",
            )?,
        }
        write!(out, "the damaged file is kept: {}", kept.display())
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
