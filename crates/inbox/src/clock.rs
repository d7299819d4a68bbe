//! The inbox's own clock: what waits and what ages goes by it, whatever the wall clock does.

use hookmitt_clock::{Kept, StoreClock};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{Inbox, InboxError};

const STORE: &str = "clock";
const WALL: &str = "clock_wall";

/// The present, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// In store time.
    pub(crate) store: i64,
    /// By the wall clock.
    pub(crate) wall: i64,
}

impl From<&StoreClock> for Now {
    fn from(clock: &StoreClock) -> Self {
        let Kept { store, wall } = clock.keep();
        Self { store, wall }
    }
}

/// What was written down of the clock last.
pub(crate) fn kept(db: &Connection) -> rusqlite::Result<Option<Kept>> {
    const SQL: &str = "SELECT s.value, w.value FROM meta s JOIN meta w ON w.key = ?2 WHERE s.key = ?1";
    db.query_row(SQL, [STORE, WALL], |row| Ok(Kept { store: row.get(0)?, wall: row.get(1)? })).optional()
}

impl Inbox {
    /// Writes down how far the inbox's clock is, for the next process that opens it: every half minute and at the end,
    /// by the process that delivers.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn keep_clock(&self) -> Result<(), InboxError> {
        const SQL: &str = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value";
        let clock = self.clock.clone();
        self.write(move |batch| {
            let Kept { store, wall } = clock.keep();
            batch.db.prepare_cached(SQL)?.execute(params![STORE, store])?;
            batch.db.prepare_cached(SQL)?.execute(params![WALL, wall])?;
            Ok(())
        })
        .await
    }
}
