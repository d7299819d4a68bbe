//! The inbox as its callers hold it, and what its writer knows.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicI64},
};

use hookmitt_clock::{Clock, StoreClock};
use hookmitt_sqlite::{Job, Jobs, Readers, State, Writer};
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use crate::{
    InboxError,
    batch::{Arriving, Batch},
    now::{self, Now},
    others,
    routes::Routes,
    schema,
    tally::Tally,
};

/// What a commit writes into the log beside events, about.
const COMMIT: u64 = 1_024;

/// A handle on the inbox of one data directory; clones share it.
#[derive(Clone, Debug)]
pub struct Inbox {
    jobs: Jobs<Desk>,
    pub(crate) readers: Readers<InboxError>,
    commits: watch::Receiver<u64>,
    others: watch::Receiver<i64>,
    path: Arc<Path>,
    pub(crate) clock: StoreClock,
    /// What this process wrote down when it became the one that delivers; 0: it never was.
    pub(crate) owner: Arc<AtomicI64>,
}

impl Inbox {
    /// Opens the inbox of a data directory, made (0700) and migrated where need be. What waits and what ages in it goes
    /// by a clock of its own, which runs by `clock`.
    ///
    /// # Errors
    /// [`InboxError::Newer`] and [`InboxError::Open`].
    pub fn open(directory: &Path, clock: Arc<dyn Clock>) -> Result<Self, InboxError> {
        let path = schema::prepare(directory)?;
        let clock = StoreClock::resume(now::kept(&hookmitt_sqlite::reader(&path)?)?, clock);
        let (committed, commits) = watch::channel(0);
        let open_failed = |why: std::io::Error| InboxError::Open { path: path.clone(), why: why.to_string() };
        let writer = Writer::open(&path, Desk::new(committed, clock.clone())).map_err(open_failed)?;
        let jobs = writer.start("inbox-writer").map_err(open_failed)?;
        let others = others::watch(&path, jobs.ended())?;
        let path: Arc<Path> = path.into();
        let readers = Readers::new(Arc::clone(&path));
        Ok(Self { jobs, readers, commits, others, path, clock, owner: Arc::default() })
    }

    /// The inbox file.
    pub fn path(&self) -> PathBuf {
        self.path.to_path_buf()
    }

    /// Counts this process's commits; changes with each.
    pub fn commits(&self) -> watch::Receiver<u64> {
        self.commits.clone()
    }

    /// Changes within half a second of any process's commit, this one's included.
    pub fn others(&self) -> watch::Receiver<i64> {
        self.others.clone()
    }

    /// Has the writer do `work`, waiting for a place in the queue.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
    ) -> Result<T, InboxError> {
        self.add(0, work).await
    }

    /// As [`write`](Self::write), for what adds about so many bytes.
    pub(crate) async fn add<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
    ) -> Result<T, InboxError> {
        self.jobs.add(weight, move |db, desk| work(&mut desk.batch(db))).await
    }

    /// Waits for a place in the writer's queue. Whoever has one before another call begins is written first.
    pub(crate) async fn hand_in(&self, job: impl Job<Desk> + 'static) -> Result<(), InboxError> {
        self.jobs.hand_in(job).await
    }

    /// As [`write`](Self::write), but refuses where the queue is full: capture would rather answer 503 at once.
    /// `weight` is about how many bytes it adds.
    pub(crate) async fn write_now<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl FnOnce(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
    ) -> Result<T, InboxError> {
        self.jobs.write_now(weight, move |db, desk| work(&mut desk.batch(db))).await
    }
}

/// A job of `work`, and what comes of it. `weight` is about how many bytes it adds.
pub(crate) fn task<T: Send + 'static>(
    weight: usize,
    work: impl FnOnce(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
) -> (impl Job<Desk> + 'static, oneshot::Receiver<Result<T, InboxError>>) {
    hookmitt_sqlite::task(weight, move |db, desk: &mut Desk| work(&mut desk.batch(db)))
}

/// What the writer knows beside the file.
pub(crate) struct Desk {
    routes: Routes,
    /// Of the job that runs.
    arriving: Arriving,
    /// Of the jobs before it that hold.
    bytes: u64,
    tally: Tally,
    committed: watch::Sender<u64>,
    clock: StoreClock,
    now: Now,
}

impl Desk {
    fn new(committed: watch::Sender<u64>, clock: StoreClock) -> Self {
        let (routes, arriving, now) = (Routes::default(), Arriving::default(), Now::from(&clock));
        Self { routes, arriving, bytes: 0, tally: Tally::default(), committed, clock, now }
    }

    fn batch<'a>(&'a mut self, db: &'a Connection) -> Batch<'a> {
        Batch { db, routes: &self.routes, arriving: &mut self.arriving, now: self.now }
    }
}

impl State for Desk {
    type Error = InboxError;

    fn begin(&mut self, db: &Connection) -> Result<(), InboxError> {
        (self.arriving, self.bytes, self.tally) = (Arriving::default(), COMMIT, Tally::default());
        self.now = Now::from(&self.clock);
        self.routes.refresh(db)
    }

    fn keep(&mut self) {
        let (bytes, tally) = self.arriving.take();
        self.bytes += bytes;
        self.tally.merge(tally);
    }

    fn undo(&mut self, _: &Connection) -> Result<(), InboxError> {
        self.arriving = Arriving::default();
        Ok(())
    }

    fn end(&mut self, db: &Connection, _: bool) -> Result<(), InboxError> {
        self.tally.write(db)
    }

    fn committed(&mut self) -> u64 {
        self.committed.send_modify(|count| *count += 1);
        self.bytes
    }

    fn rolled_back(&mut self) {}
}
