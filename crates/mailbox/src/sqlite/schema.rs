//! Opens the file and brings its schema up to date.

use std::{
    fs::{self, File, OpenOptions},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::Connection;

use super::checkpoint::LOG_LIMIT;
use crate::MailboxError;

/// The migrations in order; the schema number is how many have run.
const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/0001_mailbox.sql")];

/// How long a connection waits for another process before it gives up.
pub(super) const BUSY: Duration = Duration::from_secs(5);

/// Makes the file (0600) and its folder (0700) where they are missing, and migrates.
///
/// One process at a time: an advisory lock on a file beside it is held meanwhile.
pub(super) fn prepare(path: &Path) -> Result<(), MailboxError> {
    let refused = |why: &dyn std::fmt::Display| unusable(path, why);
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_private_folder(folder).map_err(|error| refused(&error))?;
    }
    let guard = private_file(&beside(path, "-setup")).map_err(|error| refused(&error))?;
    guard.lock().map_err(|error| refused(&error))?;
    private_file(path).map_err(|error| refused(&error))?;
    let db = connect(path).map_err(|error| refused(&error))?;
    migrate(&db, path)
}

fn migrate(db: &Connection, path: &Path) -> Result<(), MailboxError> {
    let refused = |why: rusqlite::Error| unusable(path, &why);
    let done: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(refused)?;
    let known = MIGRATIONS.len();
    let missing = usize::try_from(done).ok().and_then(|done| MIGRATIONS.get(done..));
    let newer = format!("it has schema {done}; this hookmitt knows up to {known}: update hookmitt");
    for sql in missing.ok_or_else(|| unusable(path, &newer))? {
        db.execute_batch(sql).map_err(refused)?;
    }
    db.pragma_update(None, "journal_mode", "wal").map_err(refused)
}

/// The store can't be opened, and why.
pub(super) fn unusable(path: &Path, why: &dyn std::fmt::Display) -> MailboxError {
    MailboxError::Open { store: path.display().to_string(), why: why.to_string() }
}

/// The writer's connection: every commit is synced before it counts.
pub(super) fn writer(path: &Path) -> rusqlite::Result<Connection> {
    let db = connect(path)?;
    // FULL, not NORMAL: in WAL mode NORMAL syncs at checkpoints only, and a power cut would take acknowledged letters.
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "fullfsync", true)?; // macOS: fsync alone stops at the drive's cache
    db.pragma_update(None, "wal_autocheckpoint", 0)?; // checkpoint.rs decides
    db.pragma_update(None, "journal_size_limit", LOG_LIMIT)?; // written over, not cut off and grown again
    // KiB. Small on purpose: SQLite walks the whole cache at each commit.
    db.pragma_update(None, "cache_size", -2_048)?;
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

/// A reader's connection.
pub(super) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let db = connect(path)?;
    db.pragma_update(None, "query_only", true)?;
    db.pragma_update(None, "cache_size", -2_048)?;
    db.set_prepared_statement_cache_capacity(32);
    Ok(db)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(BUSY)?;
    Ok(db)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// A folder that is there already keeps its mode: it may hold other things.
fn make_private_folder(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
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
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let texts: Vec<_> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        assert_eq!(texts, MIGRATIONS);
    }

    #[test]
    fn a_newer_schema_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.db");
        prepare(&path).unwrap();
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        let error = prepare(&path).unwrap_err().to_string();
        assert!(error.contains("it has schema 99; this hookmitt knows up to 1: update hookmitt"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_database_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.db");
        fs::write(&path, "not a database, but long enough to be read as a header of one ".repeat(9)).unwrap();
        let before = fs::read(&path).unwrap();
        assert!(matches!(prepare(&path), Err(MailboxError::Open { .. })));
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn the_writer_syncs_every_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.db");
        prepare(&path).unwrap();
        let db = writer(&path).unwrap();
        let number = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!((number("synchronous"), number("fullfsync"), number("auto_vacuum")), (2, 1, 2));
        let mode: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_the_files_or_their_folder() {
        use std::os::unix::fs::PermissionsExt as _;
        let outside = tempfile::tempdir().unwrap();
        let path = outside.path().join("hookmitt/relay.db");
        prepare(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}
