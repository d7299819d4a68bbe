//! One thread writes. What waits together is committed together, and so shares one sync to the disk.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use hookmitt_clock::{Clock, StoreClock};
use hookmitt_sqlite::{Pressure, Readers};
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    InboxError,
    arrival::Arriving,
    clock::{self, Now},
    others, schema,
    targets::Routes,
};

/// How much work may wait for the writer. Above it, capture answers 503.
const QUEUE: usize = 4_096;

/// How many jobs share a commit at most: enough to hide the sync, few enough to answer soon.
const GROUP: usize = 256;

/// How many bytes of bodies share a commit before no other job joins it: with the largest body still to come, a group
/// stays well below the log's bound.
const GROUP_BYTES: usize = 16 * 1024 * 1024;

/// A handle on the inbox of one data directory; clones share it.
#[derive(Clone, Debug)]
pub struct Inbox {
    jobs: mpsc::Sender<Box<dyn Job>>,
    pub(crate) readers: Readers<InboxError>,
    commits: watch::Receiver<u64>,
    others: watch::Receiver<i64>,
    path: Arc<Path>,
    pub(crate) clock: StoreClock,
}

impl Inbox {
    /// Opens the inbox of a data directory, made (0700) and migrated where need be. What waits and what ages in it goes
    /// by a clock of its own, which runs by `clock`.
    ///
    /// # Errors
    /// [`InboxError::Newer`] and [`InboxError::Open`].
    pub fn open(directory: &Path, clock: Arc<dyn Clock>) -> Result<Self, InboxError> {
        let path = schema::prepare(directory)?;
        let db = hookmitt_sqlite::writer(&path)?;
        let clock = StoreClock::resume(clock::kept(&db)?, clock);
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (committed, commits) = watch::channel(0);
        let open_failed = |why: std::io::Error| InboxError::Open { path: path.clone(), why: why.to_string() };
        let pressure = Pressure::start(&path, wake(jobs.downgrade())).map_err(open_failed)?;
        let writer = Writer { db, clock: clock.clone(), routes: Routes::default(), committed, pressure };
        thread::Builder::new()
            .name("inbox-writer".to_owned())
            .spawn(move || writer.run(queue))
            .map_err(open_failed)?;
        let others = others::watch(&path, jobs.downgrade())?;
        let path: Arc<Path> = path.into();
        let readers = Readers::new(Arc::clone(&path));
        Ok(Self { jobs, readers, commits, others, path, clock })
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

    /// Has the writer do `work`, waiting for a place in the queue. `work` runs again, alone, where a neighbour in
    /// its group failed.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
    ) -> Result<T, InboxError> {
        let (job, answer) = task(0, work);
        self.hand_in(job).await?;
        answer.await.map_err(|_| InboxError::Closed)?
    }

    /// Waits for a place in the writer's queue. Whoever has one before another call begins is written first.
    pub(crate) async fn hand_in(&self, job: impl Job + 'static) -> Result<(), InboxError> {
        self.jobs.send(Box::new(job)).await.map_err(|_| InboxError::Closed)
    }

    /// As [`write`](Self::write), but refuses where the queue is full: capture would rather answer 503 at once.
    /// `weight` is about how many bytes it writes.
    pub(crate) async fn write_now<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl FnMut(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
    ) -> Result<T, InboxError> {
        let (job, answer) = task(weight, work);
        self.jobs.try_send(Box::new(job)).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => InboxError::Overloaded,
            mpsc::error::TrySendError::Closed(_) => InboxError::Closed,
        })?;
        answer.await.map_err(|_| InboxError::Closed)?
    }
}

/// What a job works with: the open transaction and what the writer knows.
pub(crate) struct Batch<'a> {
    pub(crate) db: &'a Connection,
    pub(crate) routes: &'a Routes,
    pub(crate) arriving: Arriving,
    pub(crate) now: Now,
}

/// Something for the writer to do.
pub(crate) trait Job: Send {
    /// Works inside the group's transaction; keeps what it found.
    fn run(&mut self, batch: &mut Batch<'_>) -> Result<(), InboxError>;
    /// Tells the caller, once it is known whether the transaction holds.
    fn tell(self: Box<Self>, committed: Result<(), InboxError>);
    /// About how many bytes it writes, where they are many.
    fn weight(&self) -> usize {
        0
    }
}

/// A job that only makes the writer look up.
struct Wake;

impl Job for Wake {
    fn run(&mut self, _: &mut Batch<'_>) -> Result<(), InboxError> {
        Ok(())
    }

    fn tell(self: Box<Self>, _: Result<(), InboxError>) {}
}

/// Wakes a writer that has nothing to do. A full queue means that it is awake.
fn wake(jobs: mpsc::WeakSender<Box<dyn Job>>) -> impl Fn() + Send + 'static {
    move || {
        if let Some(jobs) = jobs.upgrade() {
            let _awake = jobs.try_send(Box::new(Wake));
        }
    }
}

/// A job of `work`, and what comes of it. `weight` is about how many bytes it writes.
pub(crate) fn task<T: Send + 'static>(
    weight: usize,
    work: impl FnMut(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
) -> (impl Job + 'static, oneshot::Receiver<Result<T, InboxError>>) {
    let (reply, answer) = oneshot::channel();
    (Task { work, weight, outcome: None, reply }, answer)
}

struct Task<T, F> {
    work: F,
    weight: usize,
    outcome: Option<T>,
    reply: oneshot::Sender<Result<T, InboxError>>,
}

impl<T: Send, F: FnMut(&mut Batch<'_>) -> Result<T, InboxError> + Send> Job for Task<T, F> {
    fn run(&mut self, batch: &mut Batch<'_>) -> Result<(), InboxError> {
        self.outcome = Some((self.work)(batch)?);
        Ok(())
    }

    fn tell(self: Box<Self>, committed: Result<(), InboxError>) {
        let Self { outcome, reply, .. } = *self;
        // A caller that gave up waiting is no error: the work is done all the same.
        let _gone = reply.send(committed.and_then(|()| outcome.ok_or(InboxError::Closed)));
    }

    fn weight(&self) -> usize {
        self.weight
    }
}

struct Writer {
    db: Connection,
    clock: StoreClock,
    routes: Routes,
    committed: watch::Sender<u64>,
    pressure: Pressure,
}

impl Writer {
    fn run(mut self, mut queue: mpsc::Receiver<Box<dyn Job>>) {
        while let Some(first) = queue.blocking_recv() {
            let mut weight = first.weight();
            let mut group = vec![first];
            while group.len() < GROUP
                && weight < GROUP_BYTES
                && let Ok(next) = queue.try_recv()
            {
                weight += next.weight();
                group.push(next);
            }
            self.commit(group);
            self.pressure.relieve(&self.db);
        }
    }

    /// Commits a group as one. Where one job fails, the rest must not: each is then done alone.
    fn commit(&mut self, mut group: Vec<Box<dyn Job>>) {
        let outcome = self.attempt(&mut group);
        if outcome.is_ok() || group.len() == 1 || matches!(outcome, Err(InboxError::Full)) {
            for job in group {
                job.tell(outcome.clone());
            }
            return;
        }
        for job in group {
            let mut alone = [job];
            let outcome = self.attempt(&mut alone);
            let [job] = alone;
            job.tell(outcome);
        }
    }

    fn attempt(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), InboxError> {
        let transaction = rusqlite::Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        self.routes.refresh(&transaction)?;
        let now = Now::from(&self.clock);
        let mut batch = Batch { db: &transaction, routes: &self.routes, arriving: Arriving::new(), now };
        for job in group {
            job.run(&mut batch)?;
        }
        batch.arriving.tally.write(&transaction)?;
        let written = batch.arriving.bytes;
        transaction.commit()?;
        self.pressure.add(written);
        self.committed.send_modify(|count| *count += 1);
        Ok(())
    }
}
