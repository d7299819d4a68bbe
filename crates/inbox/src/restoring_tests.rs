//! What is refused as a backup, and what a restore makes sure of.

use std::{
    io::{Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use hookmitt_clock::{Clock, HandClock};
use hookmitt_event::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{Inbox, InboxError, Restoring, samples, schema};

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
    assert_eq!(refused_after("DELETE FROM meta WHERE key = 'keys_settled'"), None, "goes once they are");
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

#[test]
fn a_backup_that_could_not_be_opened_is_refused_before_it_takes_the_place() {
    for (sql, why) in [
        ("UPDATE meta SET value = 'xx' WHERE key = 'config'", "its config can't be read"),
        ("UPDATE meta SET value = 'xx' WHERE key = 'last_seq'", "its last_seq can't be read"),
        ("DELETE FROM meta WHERE key = 'instance'", "its instance can't be read"),
        ("UPDATE meta SET value = 9223372036854775807 WHERE key = 'last_seq'", "it has no number left"),
        ("UPDATE source SET slug = 'A B'", "it can't be read: "),
        ("UPDATE source SET settings = '{'", "it can't be read: "),
        ("INSERT INTO saved_search (name, q, place) VALUES (CAST(x'ff' AS TEXT), '', 1)", "can't be read"),
    ] {
        let refused = refused_after(sql);
        assert!(refused.as_ref().is_some_and(|refused| refused.contains(why)), "{sql}: {refused:?}");
    }
}

#[test]
fn a_file_of_something_else_is_told_of_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let junk = folder.path().join("junk");
    std::fs::write(&junk, vec![b'j'; 9_000]).unwrap();
    let why = refused(folder.path(), &junk).unwrap();
    assert!(!why.contains("the inbox is damaged"), "{why}");
    Connection::open(folder.path().join("other")).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    assert_eq!(refused(folder.path(), &folder.path().join("other")).unwrap(), "it is no inbox");
}

#[test]
fn only_a_file_that_fits_on_the_disk_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(refused(folder.path(), folder.path()).unwrap(), "it is no file");
    #[cfg(unix)]
    assert_eq!(refused(folder.path(), Path::new("/dev/zero")).unwrap(), "it is no file");
    let huge = folder.path().join("huge");
    std::fs::File::create(&huge).unwrap().set_len(1 << 42).unwrap();
    let why = refused(folder.path(), &huge).unwrap();
    assert!(why.contains("it needs 4398046511104 bytes, and"), "{why}");
}

/// Makes an inbox with an event of this number, of which a backup without it was made before.
fn used(folder: &Path, seq: i64) -> PathBuf {
    let (home, backup) = (folder.join("home"), folder.join("backup"));
    drop(schema::prepare(&home).unwrap());
    let db = Connection::open(home.join("inbox.db")).unwrap();
    db.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
    std::fs::copy(home.join("inbox.db"), &backup).unwrap();
    let event = "INSERT INTO event (seq, id, source, received_at, via, verdict, flags, method, path, version, size,
        sha256, headers, body) VALUES (?1, zeroblob(16), 1, 0, 0, 0, 0, 'POST', '', 11, 0, zeroblob(32), x'', x'')";
    db.execute(event, [seq]).unwrap();
    backup
}

/// Restores a backup, and returns the number of the next event.
async fn next_number(folder: &Path, backup: &Path) -> i64 {
    let home = folder.join("home");
    Restoring::begin(&home, backup, &clock()).unwrap().take().unwrap();
    let inbox = Inbox::open(&home, clock()).unwrap();
    let slug = "one".parse().unwrap();
    let at = Timestamp::from_seconds(1_800_000_000);
    let source = inbox.add_source(slug, crate::SourceSettings::default(), false, at).await.unwrap();
    inbox.store(samples::event(source.row, at)).await.unwrap().seq
}

#[tokio::test]
async fn a_restore_over_a_damaged_inbox_gives_out_no_number_again() {
    for damage in [0_u64, 200] {
        let folder = tempfile::tempdir().unwrap();
        let backup = used(folder.path(), 5_000);
        let mut file =
            std::fs::File::options().write(true).open(folder.path().join("home/inbox.db")).unwrap();
        file.seek(SeekFrom::Start(damage)).unwrap();
        file.write_all(&[0xee; 3_000]).unwrap(); // the page that leads to all tables
        let next = next_number(folder.path(), &backup).await;
        assert!(next > 5_000, "{next}");
    }
}

#[tokio::test]
async fn a_restore_over_a_whole_inbox_goes_on_with_its_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let backup = used(folder.path(), 5_000);
    assert_eq!(next_number(folder.path(), &backup).await, 5_001);
}

#[test]
fn a_log_beside_a_backup_is_taken_only_if_it_belongs_to_it() {
    // A log with frames of another file, as `cp` and a killed hookmitt leave it.
    let other = tempfile::tempdir().unwrap();
    let path = other.path().join("other");
    hookmitt_sqlite::update(&path, schema::earlier(schema::SCHEMA)).unwrap();
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE in_the_log (a)").unwrap();
    let (folder, backup) = backup("");
    let log = folder.path().join("backup-wal");
    std::fs::copy(other.path().join("other-wal"), &log).unwrap();
    assert_eq!(refused(folder.path(), &backup), None);
    // The log of a plain copy is a part of it.
    std::fs::copy(&path, &backup).unwrap();
    let why = refused(folder.path(), &backup).unwrap();
    assert_eq!(why, "its table in_the_log doesn't belong there");
}

#[test]
fn the_note_of_damage_goes_with_the_damaged_inbox() {
    let folder = tempfile::tempdir().unwrap();
    let backup = used(folder.path(), 1);
    let mark = folder.path().join("home/inbox.damaged");
    std::fs::write(&mark, "").unwrap();
    Restoring::begin(&folder.path().join("home"), &backup, &clock()).unwrap().take().unwrap();
    assert!(!mark.exists(), "the next start would recover the restored inbox");
}
