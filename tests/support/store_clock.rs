//! Turns the clock by which an inbox ages its data.

use std::{path::Path, time::Duration};

use rusqlite::Connection;

/// Moves an inbox's own clock forward while no process uses the inbox, as if it had run for that long.
pub fn turn_store_clock(data_dir: &Path, by: Duration) {
    let db = Connection::open(data_dir.join("inbox.db")).expect("an inbox");
    let micros = i64::try_from(by.as_micros()).expect("a span");
    let turned = db.execute("UPDATE meta SET value = value + ?1 WHERE key = 'clock'", [micros]);
    assert_eq!(turned.expect("a clock"), 1, "a process that ran for a moment has stored its clock");
}
