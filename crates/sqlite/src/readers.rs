//! Connections that read while the writer writes.

use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::{
    background::{Background, pause},
    closed::Closed,
    file::{self, FileId},
    gate::{Gate, is_called_out},
};

/// How many readers may read at once. More would only compete for the same disk and cores.
const READERS: u32 = 4;

/// How long a reader may hold its snapshot. Until it ends, the log can't start over.
const LONGEST: Duration = Duration::from_secs(1);

/// After how many virtual machine steps SQLite calls the handler that checks the clock. That is about a row or a few,
/// each of which may have a large body.
const STEPS: i32 = 250;

/// A few reading connections, opened when first needed. Clones share them. `E` is the error type of the store.
pub struct Readers<E> {
    path: Arc<Path>,
    turns: Arc<Semaphore>,
    /// The turns of those who read on threads of low priority, which may be slow and so need turns of their own.
    slow_turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Open>>>,
    gate: Gate,
    failed: Arc<dyn Fn(&E) + Send + Sync>,
}

/// A connection, and the file that it was opened on.
#[derive(Debug)]
struct Open {
    db: Connection,
    file: Option<FileId>,
}

impl<E> Clone for Readers<E> {
    fn clone(&self) -> Self {
        Self {
            path: Arc::clone(&self.path),
            turns: Arc::clone(&self.turns),
            slow_turns: Arc::clone(&self.slow_turns),
            idle: Arc::clone(&self.idle),
            gate: self.gate.clone(),
            failed: Arc::clone(&self.failed),
        }
    }
}

impl<E> fmt::Debug for Readers<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Readers").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<E: From<rusqlite::Error> + From<Closed> + Send + 'static> Readers<E> {
    /// Makes the readers of a file that was prepared.
    pub fn new(path: Arc<Path>) -> Self {
        Self::watched(path, Gate::default(), |_| ())
    }

    /// Like [`new`](Self::new), with the writer's gate, and calls `failed` with whatever a read fails with.
    pub fn watched(path: Arc<Path>, gate: Gate, failed: impl Fn(&E) + Send + Sync + 'static) -> Self {
        let turns = Arc::new(Semaphore::new(READERS as usize));
        Self {
            path,
            turns,
            slow_turns: Arc::new(Semaphore::new(READERS as usize)),
            idle: Arc::default(),
            gate,
            failed: Arc::new(failed),
        }
    }

    /// Runs `read` on a blocking thread, in one snapshot of the file. A read that takes longer than a second is
    /// interrupted ([`Refusal::TooLong`](crate::Refusal::TooLong)), because the log can't start over while it runs. So
    /// callers that may have a lot to search read a page at a time.
    ///
    /// # Errors
    /// Fails if `read` or SQLite does, or with [`Closed`].
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.read_within(LONGEST, read).await
    }

    /// Like [`read`](Self::read), but without a time limit: for work that a person asked for and that can't be split
    /// into pages.
    ///
    /// # Errors
    /// Fails if `read` or SQLite does, or with [`Closed`].
    pub async fn read_at_length<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.read_until(None, read).await
    }

    /// Like [`read`](Self::read), but with another time limit.
    ///
    /// # Errors
    /// Fails if `read` or SQLite does, or with [`Closed`].
    pub async fn read_within<T: Send + 'static>(
        &self,
        limit: Duration,
        read: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.read_until(Some(limit), read).await
    }

    /// Like [`read`](Self::read), on a thread that every other one goes before: for work that goes on for long, a page
    /// at a time. It doesn't keep captures from the cores.
    ///
    /// # Errors
    /// Fails if `read` or SQLite does, or with [`Closed`].
    pub async fn read_on<T: Send + 'static>(
        &self,
        background: &Background,
        read: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let turn = Arc::clone(&self.slow_turns).acquire_owned().await.map_err(|_| Closed)?;
        let readers = self.clone();
        let work = move || {
            let _turn = turn;
            let _inside = readers.gate.wait();
            readers.read_here(Some(LONGEST), read)
        };
        background.run(work).await?
    }

    async fn read_until<T: Send + 'static>(
        &self,
        limit: Option<Duration>,
        read: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| Closed)?;
        let readers = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let _inside = readers.gate.pass();
            readers.read_here(limit, read)
        });
        task.await.map_err(|_| Closed)?
    }

    /// Reads on this thread.
    fn read_here<T>(
        &self,
        limit: Option<Duration>,
        read: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read_with(limit, read).inspect_err(|why| (self.failed)(why))
    }

    fn read_with<T>(
        &self,
        limit: Option<Duration>,
        read: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let Open { mut db, file } = self.take()?;
        let end = limit.map(|limit| Instant::now() + limit);
        let is_over = move || {
            if !is_called_out() {
                pause();
            }
            end.is_some_and(|end| Instant::now() >= end)
        };
        db.progress_handler(STEPS, Some(is_over))?;
        let snapshot = db.unchecked_transaction()?;
        let answer = read(&snapshot);
        drop(snapshot);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(Open { db, file });
        answer
    }

    /// Waits for running reads to end and closes the connections. Later reads fail with [`Closed`].
    pub async fn close(&self) {
        // An error means that it is closed already.
        for turns in [&self.turns, &self.slow_turns] {
            drop(turns.acquire_many(READERS).await);
            turns.close();
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns a connection to the file that is there now. Those to a file that was removed since are closed.
    fn take(&self) -> rusqlite::Result<Open> {
        let file = FileId::of(&self.path);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|open| open.file == file);
        let open = idle.pop();
        drop(idle);
        open.map_or_else(|| Ok(Open { db: file::reader(&self.path)?, file }), Ok)
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

    /// Never ends.
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

        // A read ends after its time limit, even if nobody waits for its result any more.
        let abandoned = tokio::time::timeout(LONGEST / 10, readers.read(endless)).await;
        assert!(abandoned.is_err());
        readers.close().await;
        let writer = file::durable(&path).unwrap();
        writer.execute("INSERT INTO a VALUES (1)", []).unwrap();
        let busy = writer.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(0));
        assert_eq!(busy, Ok(0), "nobody holds a snapshot");
        assert!(matches!(readers.read(|_| Ok(())).await, Err(Failure::Closed)));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_file_that_takes_the_place_of_another_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let make = |number: i64| {
            let sql = format!("CREATE TABLE a (b); INSERT INTO a VALUES ({number}); PRAGMA user_version = 1");
            file::prepare(&path, &folder.path().join("lock"), &[&sql]).unwrap();
        };
        make(1);
        let readers: Readers<Failure> = Readers::new(path.as_path().into());
        let read = || readers.read(|db| Ok(db.query_row("SELECT b FROM a", [], |row| row.get::<_, i64>(0))?));
        assert_eq!(read().await.unwrap(), 1);
        let kept = std::fs::File::open(&path).unwrap(); // so that the system doesn't give its number out again
        std::fs::remove_file(&path).unwrap();
        make(2);
        assert_eq!(read().await.unwrap(), 2);
        drop(kept);
    }

    #[tokio::test]
    async fn a_limit_holds_for_its_own_read_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        file::prepare(&path, &folder.path().join("lock"), &["PRAGMA user_version = 1"]).unwrap();
        let readers: Readers<Failure> = Readers::new(path.as_path().into());
        let count = |db: &Connection| {
            // Takes ten seconds at most on an old machine, and enough steps that the clock is checked more than once.
            let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 100000)
                SELECT count(*) FROM n";
            Ok(db.query_row(sql, [], |row| row.get::<_, i64>(0))?)
        };
        assert!(readers.read(endless).await.is_err());
        assert_eq!(readers.read(count).await.unwrap(), 100_000, "the same connection, with time of its own");
        assert_eq!(readers.read_at_length(count).await.unwrap(), 100_000);
    }

    #[tokio::test]
    async fn many_who_read_in_the_background_hold_up_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        file::prepare(&path, &folder.path().join("lock"), &["PRAGMA user_version = 1"]).unwrap();
        let readers: Readers<Failure> = Readers::new(path.as_path().into());
        let background = Background::start("test").unwrap();
        let (go, waits) = std::sync::mpsc::channel::<()>();
        let waits = Arc::new(Mutex::new(waits));
        let mut slow = tokio::task::JoinSet::new();
        for _ in 0..READERS * 2 {
            let (readers, background, waits) = (readers.clone(), background.clone(), Arc::clone(&waits));
            slow.spawn(async move {
                let read = move |_: &Connection| {
                    waits.lock().unwrap().recv().unwrap();
                    Ok::<_, Failure>(())
                };
                readers.read_on(&background, read).await
            });
        }
        for _ in 0..READERS * 2 {
            readers.read(|_| Ok(())).await.unwrap();
            go.send(()).unwrap();
        }
        assert!(slow.join_all().await.iter().all(Result::is_ok));
        readers.close().await;
        assert!(matches!(readers.read_on(&background, |_| Ok(())).await, Err(Failure::Closed)));
    }
}
