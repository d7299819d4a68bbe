//! Opens the database file and brings its schema up to date.

use std::{
    fmt::Display,
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, config::DbConfig};

/// How long a connection waits while another one holds the file locked.
pub(crate) const BUSY: Duration = Duration::from_secs(5);

/// The size, in bytes, that the log is kept below while readers come and go.
pub const LOG_LIMIT: u64 = 128 * 1024 * 1024;

/// Why a file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// A newer hookmitt wrote the file.
    #[error("it has schema {found}; this hookmitt knows up to {known}: update hookmitt")]
    Newer {
        /// The schema number in the file.
        found: u32,
        /// The newest schema number that the caller knows.
        known: u32,
    },
    /// The file is no database, or a damaged one; the text is SQLite's.
    #[error("{0}")]
    Damaged(String),
    /// The system or SQLite refused the file, perhaps only for now; the text is theirs.
    #[error("{0}")]
    Refused(String),
}

impl From<rusqlite::Error> for PrepareError {
    fn from(why: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match why.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged(why.to_string()),
            _ => refused(why),
        }
    }
}

/// Tells a file from another one that takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    /// Returns the id of the file that is at a path now; `None` if there is none, or if the system has no such ids.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            fs::metadata(path).ok().map(|file| Self(file.dev(), file.ino()))
        }
        #[cfg(not(unix))]
        {
            let _path = path; // an open database can't be removed there
            None
        }
    }
}

/// Creates the file (0600) and its folder (0700) if they are missing, and runs the migrations that the file has not had
/// yet. The schema number is the count of migrations that have run. An existing folder keeps its mode, because it may
/// hold other things.
///
/// Only one process at a time does this: it holds an advisory lock on the file `lock` meanwhile.
///
/// # Errors
/// Returns a [`PrepareError`]. A file that is not a database is left unchanged.
pub fn prepare(path: &Path, lock: &Path, migrations: &[&str]) -> Result<(), PrepareError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_private_folder(folder).map_err(refused)?;
    }
    let guard = private_file(lock).map_err(refused)?;
    guard.lock().map_err(refused)?;
    update(path, migrations)
}

/// Does what [`prepare`] does for a file that no other process can know of.
///
/// # Errors
/// Returns a [`PrepareError`].
pub fn update(path: &Path, migrations: &[&str]) -> Result<(), PrepareError> {
    private_file(path).map_err(refused)?;
    migrate(&connect(path)?, migrations)
}

/// Locks the file `lock`, which is created if it is missing. The lock lasts until the returned file is dropped or the
/// process ends. Returns `None` if another process holds the lock.
///
/// # Errors
/// Fails if the system refuses to create, open or lock the file.
pub fn take(lock: &Path) -> io::Result<Option<File>> {
    let file = private_file(lock)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn refused(why: impl Display) -> PrepareError {
    PrepareError::Refused(why.to_string())
}

fn migrate(db: &Connection, migrations: &[&str]) -> Result<(), PrepareError> {
    let found: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = u32::try_from(migrations.len()).unwrap_or(u32::MAX);
    let missing = usize::try_from(found).ok().and_then(|done| migrations.get(done..));
    for sql in missing.ok_or(PrepareError::Newer { found, known })? {
        db.execute_batch(sql)?;
    }
    Ok(db.pragma_update(None, "journal_mode", "wal")?)
}

/// Opens a connection that syncs each commit to the disk before the commit returns, for example the writer's. It never
/// checkpoints by itself: another thread copies the log.
///
/// # Errors
/// Fails if SQLite does.
pub fn durable(path: &Path) -> rusqlite::Result<Connection> {
    let db = connect(path)?;
    // FULL, not NORMAL: in WAL mode NORMAL syncs only at checkpoints, and a power cut would lose acknowledged events.
    db.pragma_update(None, "synchronous", durability())?;
    db.pragma_update(None, "fullfsync", true)?; // macOS: fsync alone stops at the drive's cache
    db.pragma_update(None, "wal_autocheckpoint", 0)?; // log.rs decides when to checkpoint
    db.pragma_update(None, "journal_size_limit", LOG_LIMIT)?; // a smaller log is overwritten, not cut and regrown
    // In KiB. Small on purpose, because SQLite walks the whole cache at each commit.
    db.pragma_update(None, "cache_size", -2_048)?;
    // What a statement or a savepoint may have to undo is kept in memory: as a file it takes more calls than the log.
    db.pragma_update(None, "temp_store", "memory")?;
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

/// Returns `FULL`. In a debug build an environment variable may override it, so that the test of the syncs can show
/// that it would notice.
fn durability() -> String {
    if cfg!(debug_assertions) {
        return std::env::var("HOOKMITT_TEST_SYNCHRONOUS").unwrap_or_else(|_| "FULL".to_owned());
    }
    "FULL".to_owned()
}

/// Opens a reader's connection.
///
/// # Errors
/// Fails if SQLite does.
pub fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let db = connect(path)?;
    db.pragma_update(None, "query_only", true)?;
    db.pragma_update(None, "cache_size", -4_096)?;
    db.set_prepared_statement_cache_capacity(32);
    Ok(db)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(BUSY)?;
    // Otherwise SQLite plans a statement anew whenever other values are bound to it, if these might matter for the plan:
    // that takes several times as long as reading a row.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(db)
}

/// Returns the path of a file beside another one: the path with an ending added to the file's name.
#[must_use]
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Creates a folder (0700) that is missing.
///
/// # Errors
/// Fails if the system refuses it.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens a file, and creates it with mode 0600 if it is missing. SQLite gives `-wal` and `-shm` the mode of the file
/// itself.
///
/// # Errors
/// Fails if the system refuses it.
pub fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Opens a file that exists, for reading and writing, unless it is a link: whoever may write to its folder could have put
/// one in its place.
///
/// # Errors
/// Fails if the system refuses it. A system without such a check follows the link.
pub fn open_unlinked(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NOFOLLOW.bits().cast_signed(),
    );
    options.open(path)
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    const MIGRATIONS: [&str; 2] = [
        "CREATE TABLE a (id INTEGER); PRAGMA user_version = 1;",
        "ALTER TABLE a ADD b TEXT; PRAGMA user_version = 2;",
    ];

    fn made(folder: &Path, migrations: &[&str]) -> Result<Connection, PrepareError> {
        let path = folder.join("made/a.db");
        prepare(&path, &folder.join("made/lock"), migrations)?;
        durable(&path).map_err(refused)
    }

    #[test]
    fn only_what_is_missing_is_migrated() {
        let folder = tempfile::tempdir().unwrap();
        made(folder.path(), &MIGRATIONS[..1]).unwrap().execute("INSERT INTO a VALUES (1)", []).unwrap();
        let db = made(folder.path(), &MIGRATIONS).unwrap();
        assert_eq!(db.query_row("SELECT count(*) FROM a WHERE b IS NULL", [], |row| row.get(0)), Ok(1));
    }

    #[test]
    fn a_newer_schema_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        made(folder.path(), &MIGRATIONS).unwrap();
        let error = made(folder.path(), &MIGRATIONS[..1]).unwrap_err();
        assert!(matches!(error, PrepareError::Newer { found: 2, known: 1 }), "{error}");
        assert_eq!(error.to_string(), "it has schema 2; this hookmitt knows up to 1: update hookmitt");
    }

    #[test]
    fn a_file_that_is_no_database_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        fs::write(&path, "not a database, but long enough to be read as a header of one ".repeat(9)).unwrap();
        let before = fs::read(&path).unwrap();
        let refused = prepare(&path, &folder.path().join("lock"), &MIGRATIONS);
        assert!(matches!(refused, Err(PrepareError::Damaged(_))));
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn the_writer_syncs_every_commit() {
        let folder = tempfile::tempdir().unwrap();
        let db = made(folder.path(), &MIGRATIONS).unwrap();
        let number = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!((number("synchronous"), number("fullfsync")), (2, 1));
        let mode: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }

    #[test]
    fn other_values_do_not_make_a_statement_be_planned_again() {
        // Which value is bound decides whether the index will do.
        let schema = "CREATE TABLE a (b INTEGER); CREATE INDEX ones ON a (b) WHERE b = 1;";
        let folder = tempfile::tempdir().unwrap();
        let db = made(folder.path(), &[schema]).unwrap();
        let mut select = db.prepare("SELECT count(*) FROM a WHERE b = ?1").unwrap();
        for value in 1..4 {
            assert_eq!(select.query_row([value], |row| row.get(0)), Ok(0));
        }
        assert_eq!(select.get_status(StatementStatus::RePrepare), 0);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_the_files_or_their_folder() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        drop(made(folder.path(), &MIGRATIONS).unwrap());
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("made"), mode("made/a.db"), mode("made/lock")), (0o700, 0o600, 0o600));
    }
}
