//! What is refused as a backup, and what a restore makes sure of.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hookmitt_clock::{Clock, HandClock};
use hookmitt_event::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{InboxError, Restoring, schema};

fn clock() -> Arc<dyn Clock> {
    Arc::new(HandClock::at(Timestamp::from_seconds(1_800_000_000)))
}

/// Makes a backup of an inbox with one source, changed by `sql`.
fn backup(sql: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup");
    hookmitt_sqlite::update(&path, schema::earlier(schema::SCHEMA)).unwrap();
    let db = Connection::open(&path).unwrap();
    let source =
        "INSERT INTO source (id, slug, settings, auto_created, created_at) VALUES (1, 'one', '{}', 0, 0)";
    db.execute(source, []).unwrap();
    db.execute_batch(sql).unwrap();
    db.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
    (folder, path)
}

/// Returns why a backup is refused; `None` if it can be taken.
fn refused(folder: &Path, backup: &Path) -> Option<String> {
    match Restoring::begin(&folder.join("home"), backup, &clock()) {
        Ok(restoring) => restoring.leave().map(|()| None).unwrap(),
        Err(InboxError::NoBackup { why, .. }) => Some(why),
        Err(error) => panic!("{error:?}"),
    }
}

fn refused_after(sql: &str) -> Option<String> {
    let (folder, path) = backup(sql);
    refused(folder.path(), &path)
}

#[test]
fn a_backup_with_another_schema_is_refused() {
    let evil = "CREATE TRIGGER evil AFTER INSERT ON event BEGIN DELETE FROM event WHERE seq = new.seq; END";
    assert_eq!(refused_after(evil).unwrap(), "its trigger evil doesn't belong there");
    assert_eq!(refused_after("DROP INDEX event_source").unwrap(), "its index event_source is missing");
    let view = "DROP TABLE tally; CREATE VIEW tally AS SELECT 1 AS source, 0 AS verdict, 0 AS events";
    assert!(refused_after(view).unwrap().contains("tally"));
    let changed = "DROP INDEX event_source; CREATE INDEX event_source ON event (seq)";
    assert_eq!(refused_after(changed).unwrap(), "its index event_source isn't as hookmitt made it");
}

#[test]
fn what_sqlite_adds_to_the_schema_of_a_backup_does_no_harm() {
    assert_eq!(refused_after(""), None);
    assert_eq!(refused_after("ANALYZE"), None);
}

#[test]
fn every_earlier_schema_is_restored() {
    for version in 1..=schema::SCHEMA {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backup");
        hookmitt_sqlite::update(&path, schema::earlier(version)).unwrap();
        assert_eq!(refused(folder.path(), &path), None, "schema {version}");
    }
}
