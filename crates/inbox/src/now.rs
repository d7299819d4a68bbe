//! The present in store time and by the wall clock, and what the file stores of the inbox's clock.

use hookmitt_clock::{Reading, StoreClock};
use rusqlite::{Connection, OptionalExtension as _};

pub(crate) const STORE: &str = "clock";
pub(crate) const WALL: &str = "clock_wall";

/// The present time by both clocks, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// In store time.
    pub(crate) store: i64,
    /// By the wall clock.
    pub(crate) wall: i64,
}

impl From<&StoreClock> for Now {
    fn from(clock: &StoreClock) -> Self {
        let Reading { store, wall } = clock.keep();
        Self { store, wall }
    }
}

/// Reads the last stored reading of the inbox's clock.
pub(crate) fn kept(db: &Connection) -> rusqlite::Result<Option<Reading>> {
    const SQL: &str = "SELECT s.value, w.value FROM meta s JOIN meta w ON w.key = ?2 WHERE s.key = ?1";
    db.query_row(SQL, [STORE, WALL], |row| Ok(Reading { store: row.get(0)?, wall: row.get(1)? })).optional()
}
