//! The store's files and the migrations of its schema.

use std::path::Path;

use crate::MailboxError;

/// The migrations in order. The schema's version is the number of migrations that have run.
const MIGRATIONS: [&str; 7] = [
    include_str!("../../migrations/0001_mailbox.sql"),
    include_str!("../../migrations/0002_offers.sql"),
    include_str!("../../migrations/0003_most_tunnels.sql"),
    include_str!("../../migrations/0004_expired.sql"),
    include_str!("../../migrations/0005_names.sql"),
    include_str!("../../migrations/0006_owner.sql"),
    include_str!("../../migrations/0007_clock.sql"),
];

/// Creates the file (0600) and its folder (0700) if they are missing, and runs missing migrations.
pub(super) fn prepare(path: &Path) -> Result<(), MailboxError> {
    hookmitt_sqlite::prepare(path, &hookmitt_sqlite::beside(path, "-setup"), &MIGRATIONS)
        .map_err(|why| unusable(path, &why))
}

/// Returns the error that says why the store can't be opened.
pub(super) fn unusable(path: &Path, why: &dyn std::fmt::Display) -> MailboxError {
    MailboxError::Open { store: path.display().to_string(), why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rusqlite::Connection;

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
        assert!(error.contains("it has schema 99; this hookmitt knows up to 7: update hookmitt"), "{error}");
    }

    #[test]
    fn what_a_tunnel_took_is_what_its_latest_device_takes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.db");
        hookmitt_sqlite::prepare(&path, &hookmitt_sqlite::beside(&path, "-setup"), &MIGRATIONS[..1]).unwrap();
        let db = Connection::open(&path).unwrap();
        db.execute_batch(
            "INSERT INTO tunnel VALUES (1, 'acme', 'tk', x'07', '[\"what it took\"]', 0, 5);
             INSERT INTO device VALUES (1, x'01', 'old', 0, 5), (1, x'02', 'latest', 0, 9);",
        )
        .unwrap();
        prepare(&path).unwrap();
        let mut statement = db.prepare("SELECT sources FROM device ORDER BY key").unwrap();
        let sources: Vec<String> =
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(sources, ["[]", "[\"what it took\"]"]);
    }

    #[test]
    fn vacuuming_step_by_step_is_set_by_the_first_migration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.db");
        prepare(&path).unwrap();
        let db = Connection::open(&path).unwrap();
        assert_eq!(db.pragma_query_value(None, "auto_vacuum", |row| row.get::<_, i64>(0)), Ok(2));
    }
}
