//! What this process has counted, with the names of the sources.

use hookmitt_event::{Verdict, Via};
use rusqlite::Connection;

use super::meter::Meter;
use crate::{Inbox, InboxError};

/// How many events of a source came in one way and had one verdict at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The source's name.
    pub source: String,
    /// How they came in.
    pub via: Via,
    /// Their verdict.
    pub verdict: Verdict,
    /// How many they are.
    pub events: u64,
}

impl Inbox {
    /// Returns what this process has stored and delivered, and what it stored by source. Removed sources are left out.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn metered(&self) -> Result<(Meter, Vec<Captured>), InboxError> {
        const SQL: &str = "SELECT slug FROM source WHERE id = ?1 AND removed_at IS NULL";
        let meter = self.meter();
        self.readers
            .read(move |db: &Connection| {
                let mut captured = Vec::new();
                for ((source, via, verdict), events) in meter.captured() {
                    let mut select = db.prepare_cached(SQL)?;
                    let mut slugs = select.query_map([source], |row| row.get(0))?;
                    if let Some(source) = slugs.next().transpose()? {
                        captured.push(Captured { source, via, verdict, events });
                    }
                }
                Ok((meter, captured))
            })
            .await
    }
}
