//! Copies the file while it is written.
//!
//! The steps run on the writer's own connection, between two commits: what it commits meanwhile goes into the copy, too,
//! and the copy needn't begin again. A step holds no snapshot when it is done, so the log can start over.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};
use tokio::sync::{mpsc, oneshot};

/// How long a step should take. A step that took longer is followed by one of fewer pages.
const STEP: Duration = Duration::from_millis(2);

/// How many pages a step copies at least and at most.
const FEWEST: i32 = 8;
const MOST: i32 = 512;

/// How often a copy may begin again because another process has written to the file.
const RESTARTS: u32 = 20;

/// Why a file could not be copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// The writer has ended, or a later copy took the place of this one before it began.
    #[error("the file was closed")]
    Closed,
    /// Other processes write to the file all the time.
    #[error("other processes kept writing to it")]
    Disturbed,
    /// SQLite failed; the text is its.
    #[error("{0}")]
    Failed(String),
}

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many pages are copied.
    pub done: u64,
    /// How many pages there are.
    pub total: u64,
    /// Whether the copy is complete.
    pub is_complete: bool,
    /// Whether the last step copied something: not if another process was in its way.
    moved: bool,
    /// How long the last step took.
    pub took: Duration,
}

/// A copy that is being made. Dropping it ends the copy, which is then of no use.
pub struct Copying {
    asks: mpsc::Sender<Ask>,
    wake: Box<dyn Fn() + Send + Sync>,
    pages: i32,
    done: u64,
    restarts: u32,
}

impl std::fmt::Debug for Copying {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Copying").field("done", &self.done).finish_non_exhaustive()
    }
}

impl Copying {
    pub(crate) fn new(asks: mpsc::Sender<Ask>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { asks, wake: Box::new(wake), pages: FEWEST, done: 0, restarts: 0 }
    }

    /// Has the writer copy the next few pages, once it has committed what waits.
    ///
    /// # Errors
    /// Fails with a [`CopyError`]; then the copy is of no use.
    pub async fn step(&mut self) -> Result<Progress, CopyError> {
        let (reply, answer) = oneshot::channel();
        let ask = Ask { pages: self.pages, reply };
        self.asks.send(ask).await.map_err(|_| CopyError::Closed)?;
        (self.wake)();
        let progress = answer.await.map_err(|_| CopyError::Closed)??;
        let expected = self.done + u64::try_from(self.pages).unwrap_or(0);
        self.restarts += u32::from(progress.moved && !progress.is_complete && progress.done < expected);
        self.done = progress.done;
        self.pages = if progress.took > STEP { self.pages / 2 } else { self.pages * 2 }.clamp(FEWEST, MOST);
        if self.restarts > RESTARTS { Err(CopyError::Disturbed) } else { Ok(progress) }
    }
}

impl Drop for Copying {
    fn drop(&mut self) {
        self.asks = mpsc::channel(1).0; // closes the channel, which the writer sees once it is awake
        (self.wake)();
    }
}

/// Asks for a step of at most so many pages.
pub(crate) struct Ask {
    pages: i32,
    reply: oneshot::Sender<Result<Progress, CopyError>>,
}

/// The copy that was ordered last and has not begun.
#[derive(Default)]
pub(crate) struct Orders(Mutex<Option<Order>>);

/// An ordered copy.
pub(crate) struct Order {
    to: Connection,
    asks: Option<mpsc::Receiver<Ask>>,
}

impl Orders {
    pub(crate) fn place(&self, to: Connection) -> mpsc::Sender<Ask> {
        let (sender, asks) = mpsc::channel(1);
        let order = Order { to, asks: Some(asks) };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(order);
        sender
    }

    pub(crate) fn take(&self) -> Option<Order> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The writer's side of a copy.
pub(crate) struct Run<'from, 'to> {
    backup: Result<Backup<'from, 'to>, CopyError>,
    asks: Option<mpsc::Receiver<Ask>>,
}

impl Order {
    pub(crate) fn begin<'from, 'to>(&'to mut self, from: &'from Connection) -> Run<'from, 'to> {
        let asks = self.asks.take();
        let backup = Backup::new(from, &mut self.to).map_err(|why| CopyError::Failed(why.to_string()));
        Run { backup, asks }
    }
}

impl Run<'_, '_> {
    /// Takes a step if one is asked for. Returns whether more may follow.
    pub(crate) fn step(&mut self) -> bool {
        let Some(asks) = &mut self.asks else { return false };
        let Ask { pages, reply } = match asks.try_recv() {
            Ok(ask) => ask,
            Err(mpsc::error::TryRecvError::Empty) => return true,
            Err(mpsc::error::TryRecvError::Disconnected) => return false,
        };
        let stepped = match &self.backup {
            Ok(backup) => step(backup, pages),
            Err(why) => Err(why.clone()),
        };
        let goes_on = stepped.as_ref().is_ok_and(|progress| !progress.is_complete);
        if !goes_on {
            // The copy is closed before anybody learns that it is complete.
            self.backup = Err(CopyError::Closed);
        }
        let _gone = reply.send(stepped);
        goes_on
    }
}

fn step(backup: &Backup<'_, '_>, pages: i32) -> Result<Progress, CopyError> {
    let begun = Instant::now();
    let stepped = backup.step(pages).map_err(|why| CopyError::Failed(why.to_string()))?;
    let count = |pages: i32| u64::try_from(pages).unwrap_or(0);
    let known = backup.progress();
    let total = count(known.pagecount);
    Ok(Progress {
        done: total.saturating_sub(count(known.remaining)),
        total,
        is_complete: stepped == StepResult::Done,
        moved: matches!(stepped, StepResult::More | StepResult::Done),
        took: begun.elapsed(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Writer, file, plain::Plain};

    fn store(folder: &Path) -> crate::Jobs<Plain> {
        let path = folder.join("a.db");
        let sql = "CREATE TABLE a (n INTEGER, b BLOB); PRAGMA user_version = 1";
        file::prepare(&path, &folder.join("lock"), &[sql]).unwrap();
        let db = file::durable(&path).unwrap();
        let fill = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 2000)
            INSERT INTO a SELECT 0, randomblob(3000) FROM n";
        db.execute(fill, []).unwrap();
        drop(db);
        Writer::open(&path, Plain::default()).unwrap().start("writer").unwrap()
    }

    fn target(folder: &Path) -> Connection {
        Connection::open(folder.join("copy.db")).unwrap()
    }

    #[tokio::test]
    async fn what_is_committed_meanwhile_is_in_the_copy_which_does_not_begin_again() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = store(folder.path());
        let mut copy = jobs.copy_into(target(folder.path())).await.unwrap();
        let (mut before, mut steps) = (0, 0);
        loop {
            let progress = copy.step().await.unwrap();
            assert!(progress.done >= before, "{progress:?} after {before}");
            (before, steps) = (progress.done, steps + 1);
            if progress.is_complete {
                break;
            }
            let add = "INSERT INTO a VALUES (?1, zeroblob(10))";
            let added = jobs.write(move |db, _| Ok(db.execute(add, [steps]).map(drop)?)).await;
            added.unwrap();
        }
        assert!(steps > 3, "{steps} steps");
        let copied = target(folder.path());
        let count = |sql: &str| copied.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM a WHERE n = 0"), 2_000);
        assert_eq!(count("SELECT count(*) FROM a WHERE n > 0"), steps - 1);
        let whole: String = copied.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(whole, "ok");
    }

    #[tokio::test]
    async fn a_copy_that_begins_again_with_each_step_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = store(folder.path());
        let other = Connection::open(folder.path().join("a.db")).unwrap();
        let mut copy = jobs.copy_into(target(folder.path())).await.unwrap();
        let mut steps = 0;
        let ended = loop {
            match copy.step().await {
                Ok(progress) => assert!(!progress.is_complete && steps < 100, "{progress:?} after {steps}"),
                Err(why) => break why,
            }
            other.execute("UPDATE a SET n = n - 1 WHERE rowid = 1", []).unwrap();
            steps += 1;
        };
        assert_eq!(ended, CopyError::Disturbed);
    }

    #[tokio::test]
    async fn a_copy_that_nobody_wants_any_more_is_ended_and_the_next_begins() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = store(folder.path());
        let mut first = jobs.copy_into(target(folder.path())).await.unwrap();
        assert!(!first.step().await.unwrap().is_complete);
        drop(first);
        let second = Connection::open(folder.path().join("second.db")).unwrap();
        let mut second = jobs.copy_into(second).await.unwrap();
        while !second.step().await.unwrap().is_complete {}
        assert_eq!(second.step().await, Err(CopyError::Closed), "it is complete");
    }

    #[tokio::test]
    async fn a_copy_that_waits_for_another_ends_with_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = store(folder.path());
        let mut first = jobs.copy_into(target(folder.path())).await.unwrap();
        assert!(!first.step().await.unwrap().is_complete);
        let second = Connection::open(folder.path().join("second.db")).unwrap();
        let mut second = jobs.copy_into(second).await.unwrap();
        let both = async { tokio::join!(second.step(), jobs.close(|_, _| Ok(()))) };
        let (ended, ()) = tokio::time::timeout(Duration::from_secs(10), both).await.expect("it doesn't wait");
        assert_eq!(ended, Err(CopyError::Closed));
        assert_eq!(first.step().await, Err(CopyError::Closed));
    }
}
