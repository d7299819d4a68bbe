//! Connections that read beside the writer.

use std::{
    marker::PhantomData,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::file;

/// How many may read at once. More would only wait for the same disk and cores.
const READERS: u32 = 4;

/// How long one may hold its snapshot: until then the log can't start over.
const LONGEST: Duration = Duration::from_secs(1);

/// After how many steps of SQLite's machine it looks at the clock: a row or some, each of which may have a large body.
const STEPS: i32 = 250;

/// The file was let go of.
#[derive(Clone, Copy, Debug)]
pub struct Closed;

/// A few reading connections, opened when first needed; clones share them. `E` is what its owner calls errors.
#[derive(Debug)]
pub struct Readers<E> {
    path: Arc<Path>,
    turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
    error: PhantomData<fn() -> E>,
}

impl<E> Clone for Readers<E> {
    fn clone(&self) -> Self {
        let Self { path, turns, idle, error } = self;
        Self { path: Arc::clone(path), turns: Arc::clone(turns), idle: Arc::clone(idle), error: *error }
    }
}

impl<E: From<rusqlite::Error> + From<Closed> + Send + 'static> Readers<E> {
    /// Readers of a file that was prepared.
    pub fn new(path: Arc<Path>) -> Self {
        let turns = Arc::new(Semaphore::new(READERS as usize));
        Self { path, turns, idle: Arc::default(), error: PhantomData }
    }

    /// Runs `read` on a blocking thread, in one snapshot of the file. What takes longer than a second is ended
    /// ([`Refusal::TooLong`](crate::Refusal::TooLong)): while it runs, the log can't start over. So what may have much to
    /// look through reads a page at a time.
    ///
    /// # Errors
    /// What `read` and SQLite say; [`Closed`].
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.read_within(Some(LONGEST), read).await
    }

    /// As [`read`](Self::read), however long it takes: for what somebody asked for by hand and can't be had in pages.
    ///
    /// # Errors
    /// What `read` and SQLite say; [`Closed`].
    pub async fn read_at_length<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.read_within(None, read).await
    }

    async fn read_within<T: Send + 'static>(
        &self,
        limit: Option<Duration>,
        read: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| Closed)?;
        let readers = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let mut db = readers.take()?;
            let end = limit.map(|limit| Instant::now() + limit);
            db.progress_handler(STEPS, end.map(|end| move || Instant::now() >= end))?;
            let snapshot = db.unchecked_transaction()?;
            let answer = read(&snapshot);
            drop(snapshot);
            readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
            answer
        });
        task.await.map_err(|_| Closed)?
    }

    /// Lets go of the file once those that read are done; whoever comes later is told [`Closed`].
    pub async fn close(&self) {
        drop(self.turns.acquire_many(READERS).await); // an error: it is closed already
        self.turns.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| file::reader(&self.path), Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Refusal, refusal};

    #[derive(Debug)]
    enum Failure {
        Sqlite(rusqlite::Error),
        Closed,
    }

    impl From<rusqlite::Error> for Failure {
        fn from(error: rusqlite::Error) -> Self {
            Self::Sqlite(error)
        }
    }

    impl From<Closed> for Failure {
        fn from(_: Closed) -> Self {
            Self::Closed
        }
    }

    /// Goes on for ever.
    fn endless(db: &Connection) -> Result<i64, Failure> {
        const SQL: &str =
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n) SELECT count(*) FROM n";
        Ok(db.query_row(SQL, [], |row| row.get(0))?)
    }

    #[tokio::test]
    async fn who_reads_for_too_long_is_ended_and_the_log_starts_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        file::prepare(&path, &folder.path().join("lock"), &["CREATE TABLE a (b); PRAGMA user_version = 1"])
            .unwrap();
        let readers: Readers<Failure> = Readers::new(path.as_path().into());
        let Err(Failure::Sqlite(ended)) = readers.read(endless).await else { panic!("it has no end") };
        assert_eq!(refusal(&ended), Some(Refusal::TooLong));

        // It gave up, though nobody waits for it any more.
        let abandoned = tokio::time::timeout(LONGEST / 10, readers.read(endless)).await;
        assert!(abandoned.is_err());
        readers.close().await;
        let writer = file::durable(&path).unwrap();
        writer.execute("INSERT INTO a VALUES (1)", []).unwrap();
        let busy = writer.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(0));
        assert_eq!(busy, Ok(0), "nobody holds a snapshot");
        assert!(matches!(readers.read(|_| Ok(())).await, Err(Failure::Closed)));
    }

    #[tokio::test]
    async fn a_limit_holds_for_its_own_read_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        file::prepare(&path, &folder.path().join("lock"), &["PRAGMA user_version = 1"]).unwrap();
        let readers: Readers<Failure> = Readers::new(path.as_path().into());
        let count = |db: &Connection| {
            // Some ten seconds of an old machine at most, and more than a look at the clock.
            let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 100000)
                SELECT count(*) FROM n";
            Ok(db.query_row(sql, [], |row| row.get::<_, i64>(0))?)
        };
        assert!(readers.read(endless).await.is_err());
        assert_eq!(readers.read(count).await.unwrap(), 100_000, "the same connection, with time of its own");
        assert_eq!(readers.read_at_length(count).await.unwrap(), 100_000);
    }
}
