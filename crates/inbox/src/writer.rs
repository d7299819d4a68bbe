//! The inbox as its callers see it, and the state of its writer.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicI64},
    time::Duration,
};

use hookmitt_clock::{Clock, StoreClock};
use hookmitt_event::Actor;
use hookmitt_sqlite::{Background, Copying, Job, Jobs, Readers, State, Writer};
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use crate::{
    InboxError,
    acting::actor,
    batch::{Arriving, Batch},
    damage::Damage,
    hours::{Latencies, Meter},
    now::{self, Now},
    others::Others,
    recovery,
    routes::Routes,
    schema,
};

/// About how many bytes a commit adds to the log beside its events.
const COMMIT: u64 = 1_024;

/// A handle to the inbox of one data directory. Clones share it.
#[derive(Clone, Debug)]
pub struct Inbox {
    jobs: Jobs<Desk>,
    pub(crate) readers: Readers<InboxError>,
    /// Where what is read at length is read.
    pub(crate) background: Background,
    commits: watch::Receiver<u64>,
    others: Others,
    path: Arc<Path>,
    pub(crate) clock: StoreClock,
    /// The token that this process stored when it became the one that delivers; 0 if it never did, -1 once it has
    /// stopped.
    pub(crate) owner: Arc<AtomicI64>,
    meter: Arc<Mutex<Meter>>,
    /// What damage was found in the file.
    damage: Damage,
}

impl Inbox {
    /// Opens the inbox of a data directory, which is created (0700) and migrated if need be. The inbox measures waiting
    /// and ageing by a clock of its own, which is driven by `clock`.
    ///
    /// # Errors
    /// Fails with [`InboxError::Newer`] or [`InboxError::Open`].
    pub fn open(directory: &Path, clock: Arc<dyn Clock>) -> Result<Self, InboxError> {
        recovery::recover_if_damaged(directory, &clock)?;
        let damage = Damage::of(directory);
        Self::open_whole(directory, clock, damage.clone()).inspect_err(|why| damage.note(why))
    }

    fn open_whole(directory: &Path, clock: Arc<dyn Clock>, damage: Damage) -> Result<Self, InboxError> {
        let path = schema::prepare(directory)?;
        let clock = StoreClock::resume(now::kept(&hookmitt_sqlite::reader(&path)?)?, clock);
        let (committed, commits) = watch::channel(0);
        let open_failed = |why: std::io::Error| InboxError::Open { path: path.clone(), why: why.to_string() };
        let meter = Arc::<Mutex<Meter>>::default();
        let desk = Desk::new(committed, clock.clone(), Arc::clone(&meter));
        let writer = Writer::open(&path, desk).map_err(open_failed)?;
        writer.leave_no_traces()?;
        let jobs = writer.start("inbox-writer").map_err(open_failed)?;
        let others = Others::watch(&path)?;
        let background = Background::start("inbox-reading").map_err(open_failed)?;
        let path: Arc<Path> = path.into();
        let noted = damage.clone();
        let readers = Readers::watched(Arc::clone(&path), jobs.gate(), move |why| noted.note(why));
        Ok(Self {
            jobs,
            readers,
            background,
            commits,
            others,
            path,
            clock,
            owner: Arc::default(),
            meter,
            damage,
        })
    }

    /// Returns the path of the inbox file.
    pub fn path(&self) -> PathBuf {
        self.path.to_path_buf()
    }

    /// Returns the count of this process's commits, which changes with each of them.
    pub fn commits(&self) -> watch::Receiver<u64> {
        self.commits.clone()
    }

    /// Returns a number that changes within half a second after a commit of any process, this one included.
    pub fn others(&self) -> watch::Receiver<i64> {
        self.others.changes()
    }

    /// Has the writer finish what it was asked for, and closes all connections: the last one takes the log into the
    /// file, unless another process has it open. Everything fails with [`InboxError::Closed`] from then on.
    pub async fn close(&self) {
        self.readers.close().await;
        self.jobs.close(|_, _| Ok(())).await;
        self.others.close().await;
    }

    /// Returns what this process has counted so far.
    pub(crate) fn meter(&self) -> Meter {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for a place in the writer's queue, has the writer run `work`, and returns after the commit.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
    ) -> Result<T, InboxError> {
        self.add(0, work).await
    }

    /// Like [`write`](Self::write), for work that adds about `weight` bytes.
    pub(crate) async fn add<T: Send + 'static>(
        &self,
        weight: usize,
        mut work: impl FnMut(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
    ) -> Result<T, InboxError> {
        self.ensure_whole()?;
        let by = actor();
        let stored = self.jobs.add(weight, move |db, desk| work(&mut desk.batch(db, by))).await;
        stored.inspect_err(|why| self.damage.note(why))
    }

    /// Has the writer copy the log into the file and truncate it. Returns `false` if somebody reads it at the moment.
    pub(crate) async fn cut_log(&self) -> Result<bool, InboxError> {
        self.jobs.cut_log().await
    }

    /// Begins to copy the file into another database.
    pub(crate) async fn copy_to(&self, to: Connection) -> Result<Copying, InboxError> {
        self.jobs.copy_into(to).await
    }

    /// Puts a job into the writer's queue, after waiting for a place. Jobs are written in the order in which they got a
    /// place in the queue.
    pub(crate) async fn hand_in(&self, job: impl Job<Desk> + 'static) -> Result<(), InboxError> {
        self.jobs.hand_in(job).await
    }

    /// Like [`write`](Self::write), but fails at once if the queue is full, so that capture can answer 503. `weight` is
    /// about how many bytes `work` adds.
    pub(crate) async fn write_now<T: Send + 'static>(
        &self,
        weight: usize,
        mut work: impl FnMut(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
    ) -> Result<T, InboxError> {
        self.ensure_whole()?;
        let by = actor();
        let stored = self.jobs.write_now(weight, move |db, desk| work(&mut desk.batch(db, by))).await;
        stored.inspect_err(|why| self.damage.note(why))
    }

    /// Fails if the file was found damaged: what is stored in it now may be lost.
    fn ensure_whole(&self) -> Result<(), InboxError> {
        self.damage.why().map_or(Ok(()), |why| Err(InboxError::Damaged(why.to_owned())))
    }

    /// Returns what damage was found in the file while it was open. From then on nothing is stored.
    pub fn damage(&self) -> Option<&str> {
        self.damage.why()
    }
}

impl Inbox {
    /// Waits until no job waits for the writer, at most for `patience`.
    pub(crate) async fn rests(&self, patience: Duration, look_every: Duration) {
        let rests = async {
            while self.jobs.waiting() > 0 {
                tokio::time::sleep(look_every).await;
            }
        };
        let _rested = tokio::time::timeout(patience, rests).await;
    }
}

/// Makes a job of `work`, and returns it with the receiver of its result. `weight` is about how many bytes it adds.
pub(crate) fn task<T: Send + 'static>(
    weight: usize,
    mut work: impl FnMut(&mut Batch<'_>) -> Result<T, InboxError> + Send + 'static,
) -> (impl Job<Desk> + 'static, oneshot::Receiver<Result<T, InboxError>>) {
    let by = actor();
    hookmitt_sqlite::task(weight, move |db, desk: &mut Desk| work(&mut desk.batch(db, by)))
}

/// The writer's state beside the file.
pub(crate) struct Desk {
    routes: Routes,
    /// What the running job has added so far.
    arriving: Arriving,
    /// What the jobs of the group that succeeded have added.
    arrived: Arriving,
    latencies: Latencies,
    meter: Arc<Mutex<Meter>>,
    committed: watch::Sender<u64>,
    clock: StoreClock,
    now: Now,
}

impl Desk {
    fn new(committed: watch::Sender<u64>, clock: StoreClock, meter: Arc<Mutex<Meter>>) -> Self {
        let (routes, now) = (Routes::default(), Now::from(&clock));
        let (arriving, arrived) = Default::default();
        Self { routes, arriving, arrived, latencies: Latencies::default(), meter, committed, clock, now }
    }

    fn batch<'a>(&'a mut self, db: &'a Connection, by: Option<Actor>) -> Batch<'a> {
        Batch { db, routes: &self.routes, arriving: &mut self.arriving, now: self.now, by }
    }
}

impl State for Desk {
    type Error = InboxError;

    fn begin(&mut self, db: &Connection) -> Result<(), InboxError> {
        (self.arriving, self.arrived) = Default::default();
        self.arrived.bytes = COMMIT;
        self.now = Now::from(&self.clock);
        self.routes.refresh(db)
    }

    fn keep(&mut self) {
        let job = self.arriving.take();
        self.arrived.merge(job);
    }

    fn undo(&mut self, _: &Connection) -> Result<(), InboxError> {
        self.arriving = Arriving::default();
        Ok(())
    }

    fn end(&mut self, db: &Connection, _: bool) -> Result<(), InboxError> {
        self.arrived.tally.write(db)?;
        self.arrived.hours.write(db, self.now)?;
        self.latencies.write(db, self.now, self.arrived.hurries)
    }

    fn committed(&mut self) -> u64 {
        let happened = std::mem::take(&mut self.arrived.happened);
        self.meter.lock().unwrap_or_else(PoisonError::into_inner).add(&happened);
        self.latencies.committed(happened.took);
        self.committed.send_modify(|count| *count += 1);
        self.arrived.bytes
    }

    fn rolled_back(&mut self) {}
}
