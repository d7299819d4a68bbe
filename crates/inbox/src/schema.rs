//! Where the inbox file is, and the migrations that make its schema.

use std::{
    fs,
    path::{Path, PathBuf},
};

use hookmitt_sqlite::PrepareError;

use crate::InboxError;

/// The migrations in order. The schema number is the count of migrations that have run.
const MIGRATIONS: [&str; 27] = [
    include_str!("../../../migrations/0001_inbox.sql"),
    include_str!("../../../migrations/0002_attempt_sent.sql"),
    include_str!("../../../migrations/0003_handshake_answer.sql"),
    include_str!("../../../migrations/0004_tunnel.sql"),
    include_str!("../../../migrations/0005_spoilt.sql"),
    include_str!("../../../migrations/0006_foreign_host.sql"),
    include_str!("../../../migrations/0007_signed_with.sql"),
    include_str!("../../../migrations/0008_unproved_keys.sql"),
    include_str!("../../../migrations/0009_complete_until.sql"),
    include_str!("../../../migrations/0010_tunnel_sources.sql"),
    include_str!("../../../migrations/0011_queues.sql"),
    include_str!("../../../migrations/0012_target_state.sql"),
    include_str!("../../../migrations/0013_folds.sql"),
    include_str!("../../../migrations/0014_answered.sql"),
    include_str!("../../../migrations/0015_bin.sql"),
    include_str!("../../../migrations/0016_search.sql"),
    include_str!("../../../migrations/0017_packed.sql"),
    include_str!("../../../migrations/0018_saved_search.sql"),
    include_str!("../../../migrations/0019_jobs.sql"),
    include_str!("../../../migrations/0020_keeping.sql"),
    include_str!("../../../migrations/0021_retention.sql"),
    include_str!("../../../migrations/0022_blocks.sql"),
    include_str!("../../../migrations/0023_hours.sql"),
    include_str!("../../../migrations/0024_refusal_status.sql"),
    include_str!("../../../migrations/0025_deleted_by_job.sql"),
    include_str!("../../../migrations/0026_key_body.sql"),
    include_str!("../../../migrations/0027_sync.sql"),
];

/// The number of the schema that this build knows, which an open inbox has.
pub const SCHEMA: usize = MIGRATIONS.len();

/// Creates the data directory (0700) and its inbox (0600) if they are missing, and runs the migrations. Returns the
/// path of the file.
pub(crate) fn prepare(directory: &Path) -> Result<PathBuf, InboxError> {
    let path = directory.join("inbox.db");
    let unusable = |error: PrepareError| match error {
        PrepareError::Newer { found, known } => InboxError::Newer { path: path.clone(), found, known },
        PrepareError::Damaged(why) | PrepareError::Refused(why) => {
            InboxError::Open { path: path.clone(), why }
        }
    };
    keep_private(directory).map_err(|why| unusable(PrepareError::Refused(why.to_string())))?;
    hookmitt_sqlite::prepare(&path, &directory.join("setup.lock"), &MIGRATIONS).map_err(unusable)?;
    Ok(path)
}

/// Brings the copy of a backup up to date, which no other process can know of.
pub(crate) fn update(copy: &Path, backup: &Path) -> Result<(), InboxError> {
    hookmitt_sqlite::update(copy, &MIGRATIONS).map_err(|error| match error {
        PrepareError::Newer { found, known } => InboxError::Newer { path: backup.to_owned(), found, known },
        PrepareError::Damaged(why) | PrepareError::Refused(why) => {
            InboxError::NoBackup { path: backup.to_owned(), why }
        }
    })
}

/// Returns an inbox in memory that has had all migrations, and nothing else.
pub(crate) fn fresh() -> rusqlite::Result<rusqlite::Connection> {
    let db = rusqlite::Connection::open_in_memory()?;
    MIGRATIONS.iter().try_for_each(|sql| db.execute_batch(sql))?;
    Ok(db)
}

/// Creates a data directory (0700) if it is missing.
pub(crate) fn make_folder(directory: &Path) -> Result<(), InboxError> {
    hookmitt_sqlite::make_private_folder(directory).map_err(|error| InboxError::open(directory, error))
}

/// Makes an existing folder private if it is empty or holds an inbox. A folder of other things, named by mistake, keeps
/// its mode.
fn keep_private(directory: &Path) -> std::io::Result<()> {
    let is_ours = || {
        Ok::<_, std::io::Error>(
            directory.join("inbox.db").exists() || fs::read_dir(directory)?.next().is_none(),
        )
    };
    if directory.is_dir() && is_ours()? { close_to_others(directory) } else { Ok(()) }
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
    Ok(()) // the access list of the user's own folder keeps it private
}

/// Returns the migrations that lead to an earlier schema.
#[cfg(test)]
pub(crate) fn earlier(schema: usize) -> &'static [&'static str] {
    &MIGRATIONS[..schema]
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

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
        let known = MIGRATIONS.len();
        let words = format!("has schema 99; this hookmitt knows up to {known}");
        assert!(error.to_string().contains(&words), "{error}");
    }

    #[test]
    fn jobs_of_an_earlier_schema_can_be_undone_still() {
        let folder = tempfile::tempdir().unwrap();
        let (path, lock) = (folder.path().join("inbox.db"), folder.path().join("setup.lock"));
        hookmitt_sqlite::prepare(&path, &lock, earlier(24)).unwrap();
        let db = Connection::open(&path).unwrap();
        db.execute_batch(
            "INSERT INTO job (id, kind, asked, asked_by, top, created_at) VALUES (1, 'delete', '{}', 'cli', 3, 500),
                (2, 'restore', '{}', 'cli', 3, 600);
            INSERT INTO event (seq, id, source, received_at, via, verdict, flags, method, path, version, size, sha256,
                headers, body, deleted_at)
            SELECT value, randomblob(16), 1, 0, 0, 0, 0, 'POST', '', 11, 0, zeroblob(32), x'', x'', value * 100
            FROM json_each('[5, 6, 7]');
            INSERT INTO binned (event, at) VALUES (5, 1), (6, 1), (7, 1)",
        )
        .unwrap();
        drop(db);
        prepare(folder.path()).unwrap();
        let db = Connection::open(&path).unwrap();
        let mut select = db.prepare("SELECT job FROM binned ORDER BY event").unwrap();
        let jobs: Vec<Option<i64>> =
            select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(jobs, [Some(1), None, None]);
    }

    #[test]
    fn page_size_and_vacuum_mode_are_set_by_the_first_migration() {
        let folder = tempfile::tempdir().unwrap();
        let db = Connection::open(prepare(folder.path()).unwrap()).unwrap();
        let pragma = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!((pragma("page_size"), pragma("auto_vacuum")), (4096, 2));
    }
}
