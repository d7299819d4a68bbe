//! Opens the file and brings its schema up to date.

use std::{
    fs::{self, File, OpenOptions},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::Connection;

use crate::InboxError;

/// The migrations in order; the schema number is how many have run.
const MIGRATIONS: [&str; 4] = [
    include_str!("../../../migrations/0001_inbox.sql"),
    include_str!("../../../migrations/0002_attempt_sent.sql"),
    include_str!("../../../migrations/0003_handshake_answer.sql"),
    include_str!("../../../migrations/0004_tunnel.sql"),
];

/// How long a connection waits for another process before it gives up.
pub(crate) const BUSY: Duration = Duration::from_secs(5);

/// Makes the data directory (0700) and its inbox (0600) where they are missing, and migrates.
///
/// One process at a time: an advisory lock on `setup.lock` is held meanwhile.
pub(crate) fn prepare(directory: &Path) -> Result<PathBuf, InboxError> {
    let path = directory.join("inbox.db");
    let refused = |why: &dyn std::fmt::Display| InboxError::Open { path: path.clone(), why: why.to_string() };
    make_private_folder(directory).map_err(|error| refused(&error))?;
    let guard = private_file(&directory.join("setup.lock")).map_err(|error| refused(&error))?;
    guard.lock().map_err(|error| refused(&error))?;
    private_file(&path).map_err(|error| refused(&error))?;
    let db = connect(&path).map_err(|error| refused(&error))?;
    migrate(&db, &path)?;
    Ok(path)
}

fn migrate(db: &Connection, path: &Path) -> Result<(), InboxError> {
    let refused = |why: rusqlite::Error| InboxError::Open { path: path.to_owned(), why: why.to_string() };
    let done: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(refused)?;
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    let missing = usize::try_from(done).ok().and_then(|done| MIGRATIONS.get(done..));
    let missing = missing.ok_or_else(|| InboxError::Newer { path: path.to_owned(), found: done, known })?;
    for sql in missing {
        db.execute_batch(sql).map_err(refused)?;
    }
    db.pragma_update(None, "journal_mode", "wal").map_err(refused)
}

/// The writer's connection: every commit is synced before it counts.
pub(crate) fn writer(path: &Path) -> Result<Connection, InboxError> {
    let db = connect(path)?;
    // FULL, not NORMAL: in WAL mode NORMAL syncs at checkpoints only, and a power cut would take acknowledged events.
    db.pragma_update(None, "synchronous", durability())?;
    db.pragma_update(None, "fullfsync", true)?; // macOS: fsync alone stops at the drive's cache
    db.pragma_update(None, "wal_autocheckpoint", 0)?; // checkpoint.rs decides
    db.pragma_update(None, "journal_size_limit", crate::WAL_LIMIT)?; // written over, not cut off and grown again
    // KiB. Small on purpose: SQLite walks the whole cache at each commit.
    db.pragma_update(None, "cache_size", -2_048)?;
    db.pragma_update(None, "foreign_keys", false)?; // events outlive their sources' and targets' rows
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

/// `FULL`; a debug build may be told otherwise, so that the test of the syncs can show that it would notice.
fn durability() -> String {
    if cfg!(debug_assertions) {
        return std::env::var("HOOKMITT_TEST_SYNCHRONOUS").unwrap_or_else(|_| "FULL".to_owned());
    }
    "FULL".to_owned()
}

/// A reader's connection.
pub(crate) fn reader(path: &Path) -> Result<Connection, InboxError> {
    let db = connect(path)?;
    db.pragma_update(None, "query_only", true)?;
    db.pragma_update(None, "cache_size", -4_096)?;
    Ok(db)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(BUSY)?;
    Ok(db)
}

/// Makes the folder 0700. One that is there already is closed to others where it is empty or holds an inbox: a
/// folder of other things that somebody points us at keeps its mode.
fn make_private_folder(directory: &Path) -> std::io::Result<()> {
    if directory.is_dir() {
        let ours = directory.join("inbox.db").exists() || fs::read_dir(directory)?.next().is_none();
        return if ours { close_to_others(directory) } else { Ok(()) };
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

#[cfg(unix)]
fn close_to_others(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(directory)?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn close_to_others(_: &Path) -> std::io::Result<()> {
    Ok(()) // the user's own folder is private by its access list
}

/// Opens a file, made 0600 where it is missing. SQLite gives `-wal` and `-shm` the mode of the file itself.
fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_holds_every_file_of_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let texts: Vec<_> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        assert_eq!(texts, MIGRATIONS);
    }

    #[test]
    fn a_newer_schema_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = prepare(folder.path()).unwrap();
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let error = prepare(folder.path()).unwrap_err();
        assert!(error.to_string().contains("has schema 99; this hookmitt knows up to 4"), "{error}");
    }

    #[test]
    fn page_size_and_vacuum_mode_are_set_by_the_first_migration() {
        let folder = tempfile::tempdir().unwrap();
        let db = connect(&prepare(folder.path()).unwrap()).unwrap();
        let pragma = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!((pragma("page_size"), pragma("auto_vacuum")), (4096, 2));
    }

    #[test]
    fn a_file_that_is_no_database_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        fs::write(&path, "not a database, but long enough to be read as a header of one ".repeat(9)).unwrap();
        let before = fs::read(&path).unwrap();
        assert!(matches!(prepare(folder.path()), Err(InboxError::Open { .. })));
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
