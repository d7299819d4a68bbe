//! What an inbox file contains, read by SQLite itself and not by the code under test.

use std::{collections::HashMap, path::Path};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};
use sha2::{Digest as _, Sha256};

/// A reader's view of `inbox.db`.
pub struct Stored {
    db: Connection,
}

impl Stored {
    /// Opens the inbox of a data directory for reading.
    pub fn open(data_dir: &Path) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX; // WAL readers write to -shm
        let db = Connection::open_with_flags(data_dir.join("inbox.db"), flags).expect("an inbox");
        db.pragma_update(None, "query_only", true).expect("a reader");
        Self { db }
    }

    /// Returns the SHA-256 of the body of an event in hex, or `None` if there is no event with this id.
    pub fn sha256(&self, event: &str) -> Option<String> {
        const SQL: &str = "SELECT body FROM event WHERE id = ?1";
        let id = uuid::Uuid::parse_str(event).expect("an event id");
        let mut select = self.db.prepare_cached(SQL).expect("a statement");
        let hash = |row: &rusqlite::Row<'_>| {
            let body = row.get_ref(0)?.as_blob().expect("bytes");
            Ok(hex::encode(Sha256::digest(body)))
        };
        select.query_row([id.as_bytes().as_slice()], hash).optional().expect("an answer")
    }

    /// Returns the bodies of all events, in the order in which they were stored.
    pub fn bodies(&self) -> Vec<String> {
        let mut select = self.db.prepare("SELECT body FROM event ORDER BY seq").expect("a statement");
        let body = |row: &rusqlite::Row<'_>| row.get::<_, Vec<u8>>(0);
        let bodies = select.query_map([], body).expect("an answer");
        bodies.map(|body| String::from_utf8_lossy(&body.expect("a row")).into_owned()).collect()
    }

    /// Returns the number that a counting query yields.
    pub fn count(&self, sql: &str) -> i64 {
        self.db.query_row(sql, [], |row| row.get(0)).expect("a count")
    }

    /// Returns the states of every event's deliveries, by event id.
    pub fn deliveries(&self) -> HashMap<String, Vec<i64>> {
        const SQL: &str = "SELECT e.id, d.state FROM delivery d JOIN event e ON e.seq = d.event";
        let mut select = self.db.prepare_cached(SQL).expect("a statement");
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, [u8; 16]>(0)?, row.get::<_, i64>(1)?));
        let mut deliveries: HashMap<String, Vec<i64>> = HashMap::new();
        for found in select.query_map([], row).expect("an answer") {
            let (id, state) = found.expect("a row");
            deliveries.entry(uuid::Uuid::from_bytes(id).to_string()).or_default().push(state);
        }
        deliveries
    }

    /// Runs SQLite's own check of the file. Returns `ok`, or the first fault.
    pub fn check(&self) -> String {
        self.db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).expect("an answer")
    }
}
