//! What an inbox file contains, read by SQLite itself and not by the code under test.

use std::{collections::HashMap, io::Read as _, path::Path};

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
        self.content("body", event).map(|body| hex::encode(Sha256::digest(body)))
    }

    /// Returns the header lines of an event as they came, or `None` if there is no event with this id.
    pub fn headers(&self, event: &str) -> Option<Vec<u8>> {
        self.content("headers", event)
    }

    fn content(&self, column: &str, event: &str) -> Option<Vec<u8>> {
        let id = uuid::Uuid::parse_str(event).expect("an event id");
        let sql = format!("{} WHERE e.id = ?1", select(column, ""));
        let mut select = self.db.prepare_cached(&sql).expect("a statement");
        select.query_row([id.as_bytes().as_slice()], whole).optional().expect("an answer")
    }

    /// Returns the bodies of all events, in the order in which they were stored.
    pub fn bodies(&self) -> Vec<String> {
        let sql = format!("{} ORDER BY e.seq", select("body", ""));
        let mut select = self.db.prepare(&sql).expect("a statement");
        let bodies = select.query_map([], whole).expect("an answer");
        bodies.map(|body| String::from_utf8_lossy(&body.expect("a row")).into_owned()).collect()
    }

    /// Returns the body, path and note of each event that is not in the bin, by its number.
    pub fn texts(&self) -> Vec<(i64, String)> {
        let sql = format!("{} WHERE e.deleted_at IS NULL", select("body", ", e.seq, e.path, e.note"));
        let mut select = self.db.prepare(&sql).expect("a statement");
        let text = |row: &rusqlite::Row<'_>| {
            let body = String::from_utf8_lossy(&whole(row)?).into_owned();
            let note: Option<String> = row.get(8)?;
            Ok((row.get(6)?, [body, row.get(7)?, note.unwrap_or_default()].join("\n")))
        };
        let texts = select.query_map([], text).expect("an answer");
        texts.map(|text| text.expect("a row")).collect()
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

/// Returns the query for where the header lines or bodies of events are: in `raw`, in `packed` or a block with their
/// dictionary, or in the rows of events; for what part of a block they are; and for other columns after those.
fn select(column: &str, others: &str) -> String {
    let (data, start) =
        if column == "body" { ("coalesce(b.data, p.body)", "p.start") } else { ("p.headers", "NULL") };
    format!(
        "SELECT r.{column}, {data}, d.data, e.{column}, {start}, e.size{others} FROM event e
        LEFT JOIN raw r ON r.seq = e.seq LEFT JOIN packed p ON p.seq = e.seq LEFT JOIN block b ON b.id = p.block
        LEFT JOIN dictionary d ON d.id = p.dictionary"
    )
}

/// Returns the bytes of a row of [`select`] as they came.
fn whole(row: &rusqlite::Row<'_>) -> rusqlite::Result<Vec<u8>> {
    if let Some(raw) = row.get(0)? {
        return Ok(raw);
    }
    let (packed, dictionary): (Option<Vec<u8>>, Option<Vec<u8>>) = (row.get(1)?, row.get(2)?);
    let bytes = match packed.as_ref().and_then(|packed| packed.split_first()) {
        None => return row.get(3),
        Some((0, bytes)) => bytes.to_vec(),
        Some((_, frame)) => {
            let mut bytes = Vec::new();
            let zstd = zstd::stream::read::Decoder::with_dictionary(frame, &dictionary.unwrap_or_default());
            zstd.and_then(|mut zstd| zstd.read_to_end(&mut bytes)).expect("a frame");
            bytes
        }
    };
    let start: Option<usize> = row.get(4)?;
    Ok(start.map_or(bytes.clone(), |start| {
        bytes[start..start + row.get::<_, usize>(5).expect("a size")].to_vec()
    }))
}
