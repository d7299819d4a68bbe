//! The write-ahead log stays small, whoever reads meanwhile.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use std::{fs, path::Path, sync::Arc};

use hookmitt_sqlite::{Background, Closed, Jobs, Readers, State, Unwritten, Writer, is_called_out, prepare};
use rusqlite::Connection;

/// The size of what each commit adds, in bytes.
const LETTER: u64 = 1024 * 1024;

/// How many are written. The log would have all of them if it never started over.
const LETTERS: u64 = 200;

/// The size from which on the writer waits for readers, and keeps everybody else waiting.
const INSISTS: u64 = 96 * 1024 * 1024;

/// A store of large letters.
struct Letters;

#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
struct Failure(String);

impl From<rusqlite::Error> for Failure {
    fn from(why: rusqlite::Error) -> Self {
        Self(why.to_string())
    }
}

impl From<Unwritten> for Failure {
    fn from(why: Unwritten) -> Self {
        Self(format!("{why:?}"))
    }
}

impl From<Closed> for Failure {
    fn from(_: Closed) -> Self {
        Self("closed".to_owned())
    }
}

impl State for Letters {
    type Error = Failure;

    fn begin(&mut self, _: &Connection) -> Result<(), Failure> {
        Ok(())
    }

    fn keep(&mut self) {}

    fn undo(&mut self, _: &Connection) -> Result<(), Failure> {
        Ok(())
    }

    fn end(&mut self, _: &Connection, _: bool) -> Result<(), Failure> {
        Ok(())
    }

    fn committed(&mut self) -> u64 {
        LETTER
    }

    fn rolled_back(&mut self) {}
}

/// Writes all letters. Returns how large the log became, in bytes: its file keeps the size.
async fn written(jobs: &Jobs<Letters>, log: &Path) -> u64 {
    for _ in 0..LETTERS {
        let letter = |db: &Connection, _: &mut Letters| {
            Ok(db.execute("INSERT INTO letter VALUES (randomblob(?1))", [LETTER])?)
        };
        jobs.write(letter).await.unwrap();
    }
    fs::metadata(log).unwrap().len()
}

/// Reads one thing after the other, as a page of a search does.
fn page(db: &Connection) -> Result<(), Failure> {
    const SQL: &str =
        "WITH RECURSIVE n (n) AS (SELECT count(*) FROM letter UNION ALL SELECT n + 1 FROM n LIMIT 500)
        SELECT max(n) FROM n";
    for _ in 0..100 {
        db.query_row(SQL, [], |_| Ok(()))?;
        if is_called_out() {
            break;
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_goes_on_and_on_lets_the_log_start_over() {
    let folder = tempfile::tempdir().unwrap();
    let (path, log) = (folder.path().join("letters.db"), folder.path().join("letters.db-wal"));
    prepare(&path, &folder.path().join("lock"), &["CREATE TABLE letter (a); PRAGMA user_version = 1"])
        .unwrap();
    let jobs = Writer::open(&path, Letters).unwrap().start("writer").unwrap();
    let readers: Arc<Readers<Failure>> =
        Arc::new(Readers::watched(path.as_path().into(), jobs.gate(), |_| ()));
    let background = Background::start("search").unwrap();
    let search = async {
        loop {
            readers.read_on(&background, page).await.unwrap();
        }
    };
    let largest = tokio::select! {
        largest = written(&jobs, &log) => largest,
        never = search => never,
    };
    assert!(largest < INSISTS, "the log has {} MiB", largest / LETTER);
}
