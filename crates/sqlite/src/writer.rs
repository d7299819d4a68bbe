//! The one thread that writes. Jobs that wait at the same time are committed together, and so share one sync to the
//! disk.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, watch};

use crate::{
    State, Upkeep,
    copying::{Order, Orders, Run},
    file,
    gate::Gate,
    job::{Cut, Job, Jobs, Queued, Wake, caught},
    log::Pressure,
    room::{self, Room},
};

/// How many jobs may wait for the writer.
const QUEUE: usize = 4_096;

/// How many jobs share a commit at most: enough to hide the cost of the sync, few enough to answer soon.
const GROUP: usize = 256;

/// Once a group has this many bytes, no other job joins it. Even if the last job is as large as a job can be, the group
/// stays well below the log's limit.
const GROUP_BYTES: usize = 16 * 1024 * 1024;

/// How long the writer waits before it tries again to truncate a log that somebody reads.
const CUT_AGAIN: Duration = Duration::from_secs(1);

/// About how many bytes each inserted, changed or deleted row adds to the log: its share of its page and of its
/// indexes' pages.
const ROW: u64 = 512;

/// The writer of a file, before its thread starts.
pub struct Writer<S: State> {
    db: Connection,
    desk: Desk<S>,
    queue: mpsc::Receiver<Queued<S>>,
    jobs: Jobs<S>,
    end: watch::Sender<bool>,
}

impl<S: State> Writer<S> {
    /// Opens a file that was prepared, and starts the thread that copies its log.
    ///
    /// # Errors
    /// Fails if the system or SQLite does.
    pub fn open(path: &Path, state: S) -> io::Result<Self> {
        let db = file::durable(path).map_err(io::Error::other)?;
        let (sender, queue) = mpsc::channel(QUEUE);
        let (end, ended) = watch::channel(false);
        let gate = Gate::default();
        let pressure = Pressure::start(path, gate.clone(), wake(sender.downgrade()))?;
        let (closing, cut, orders) = (Arc::default(), Arc::default(), Arc::default());
        let jobs = Jobs { queue: sender, closing, cut, orders, gate, ended };
        let desk = Desk { state, pressure, room: Room::of(path), uncut: None };
        Ok(Self { db, desk, queue, jobs, end })
    }

    /// Runs and commits a transaction without a job, so that the state reads what it needs from the file.
    ///
    /// # Errors
    /// Fails if the state or SQLite does.
    pub fn look(&mut self) -> Result<(), S::Error> {
        self.desk.commit(&self.db, &mut Vec::new(), None)
    }

    /// From now on, overwrites with zeros whatever is deleted or replaced.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub fn leave_no_traces(&self) -> rusqlite::Result<()> {
        // Not FAST, which leaves the contents of whole pages in the file.
        self.db.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))
    }

    /// Starts the thread. It ends when it is closed, or when every [`Jobs`] has been dropped.
    ///
    /// # Errors
    /// Fails if the system can't start a thread.
    pub fn start(self, name: &str) -> io::Result<Jobs<S>> {
        let Self { db, mut desk, queue, jobs, end } = self;
        let (closing, cut, orders) =
            (Arc::clone(&jobs.closing), Arc::clone(&jobs.cut), Arc::clone(&jobs.orders));
        let mut inlet = Inlet { queue, closing, cut, orders };
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            desk.run(&db, &mut inlet);
            let (cut, orders) = (inlet.cut.take(), Arc::clone(&inlet.orders));
            drop((desk, inlet, cut, db)); // callers that wait for the end may open the file anew or delete it
            drop(orders.take()); // whoever ordered a copy while the queue was open learns that it doesn't begin
            end.send_replace(true);
        })?;
        Ok(jobs)
    }
}

/// Returns a function that wakes an idle writer. If the queue is full, the writer is awake anyway.
fn wake<S: State>(queue: mpsc::WeakSender<Queued<S>>) -> impl Fn() + Send + 'static {
    move || {
        if let Some(queue) = queue.upgrade() {
            let _awake = queue.try_send(Box::new(Wake));
        }
    }
}

/// A job of a group, and its own outcome.
struct Turn<S: State> {
    job: Queued<S>,
    has_run: bool,
    own: Result<(), S::Error>,
}

impl<S: State> From<Queued<S>> for Turn<S> {
    fn from(job: Queued<S>) -> Self {
        Self { job, has_run: false, own: Ok(()) }
    }
}

/// What the writing thread is asked for.
struct Inlet<S: State> {
    queue: mpsc::Receiver<Queued<S>>,
    closing: Arc<AtomicBool>,
    cut: Arc<Cut>,
    orders: Arc<Orders>,
}

/// Why the writing thread stopped taking jobs for the moment.
enum Pause {
    /// A copy of the file was ordered.
    Ordered(Order),
    /// The copy is done, or nobody wants it any more.
    Copied,
    /// The writer was closed.
    End,
}

/// The writing thread's side beside its connection.
struct Desk<S> {
    state: S,
    pressure: Pressure,
    room: Room,
    /// When truncating the log last failed; `None` if the last try succeeded.
    uncut: Option<Instant>,
}

impl<S: State> Desk<S> {
    fn run(&mut self, db: &Connection, inlet: &mut Inlet<S>) {
        loop {
            match self.serve(db, inlet, None) {
                Pause::Ordered(mut order) => {
                    let run = order.begin(db);
                    if matches!(self.serve(db, inlet, Some(run)), Pause::End) {
                        return;
                    }
                }
                Pause::Copied => {}
                Pause::End => return,
            }
        }
    }

    /// Commits what waits, and takes a step of a copy after each commit, if one is asked for.
    fn serve(&mut self, db: &Connection, inlet: &mut Inlet<S>, mut copy: Option<Run<'_, '_>>) -> Pause {
        loop {
            if let Some(copy) = &mut copy {
                if !copy.step() {
                    return Pause::Copied;
                }
            } else if let Some(order) = inlet.orders.take() {
                return Pause::Ordered(order);
            }
            let upkeep = if inlet.queue.is_closed() { Upkeep::None } else { self.state.upkeep() };
            let mut group: Vec<Turn<S>> = Vec::new();
            if upkeep == Upkeep::None {
                let Some(first) = inlet.queue.blocking_recv() else { return Pause::End };
                group.push(first.into());
            }
            if !is_idle(&group) || !inlet.queue.is_empty() {
                self.make_room(db);
                self.settle(db, group, (upkeep != Upkeep::Alone).then_some(&mut inlet.queue));
            }
            self.pressure.relieve(db);
            self.pressure.cut_for(db, &inlet.cut);
            if inlet.closing.load(Ordering::Acquire) {
                inlet.queue.close(); // the jobs that are in the queue still run
            }
        }
    }

    /// Commits a group, and tells each of its jobs how it went.
    fn settle(
        &mut self,
        db: &Connection,
        mut group: Vec<Turn<S>>,
        queue: Option<&mut mpsc::Receiver<Queued<S>>>,
    ) {
        let outcome = self.commit(db, &mut group, queue);
        for Turn { job, own, .. } in group {
            // The commit's outcome comes first: a job may have failed because of what a neighbour wrote, which counts
            // only if the commit succeeded.
            job.tell(outcome.clone().and(own));
        }
    }

    /// Truncates the log if the disk is nearly full, unless that failed less than a second ago.
    fn make_room(&mut self, db: &Connection) {
        let waits = self.uncut.is_some_and(|since| since.elapsed() < CUT_AGAIN);
        if !waits && self.room.is_log_in_the_way() {
            self.uncut = if self.pressure.cut_off(db) { None } else { Some(Instant::now()) };
        }
    }

    /// Commits a group in one transaction, together with jobs that wait in the queue.
    fn commit(
        &mut self,
        db: &Connection,
        group: &mut Vec<Turn<S>>,
        queue: Option<&mut mpsc::Receiver<Queued<S>>>,
    ) -> Result<(), S::Error> {
        let before = db.total_changes();
        let outcome = caught(|| self.transact(db, group, queue));
        match outcome {
            Ok(()) => {
                let rows = db.total_changes().saturating_sub(before);
                self.pressure.add(self.state.committed() + rows * ROW);
            }
            Err(_) => self.state.rolled_back(),
        }
        outcome
    }

    fn transact(
        &mut self,
        db: &Connection,
        group: &mut Vec<Turn<S>>,
        queue: Option<&mut mpsc::Receiver<Queued<S>>>,
    ) -> Result<(), S::Error> {
        let begun = Transaction::new_unchecked(db, TransactionBehavior::Immediate);
        // The queue is read only now, after another process may have held the file. So the jobs that came meanwhile
        // don't wait for that process once more, and don't each wait separately.
        if let Some(queue) = queue {
            let bounds = if begun.is_ok() { (GROUP, GROUP_BYTES) } else { (QUEUE, usize::MAX) };
            gather(group, queue, bounds);
        }
        let transaction = begun?;
        self.state.begin(&transaction)?;
        if group.iter().any(|turn| turn.job.weight() > 0) {
            admit(group, self.room.may_add(&transaction));
        }
        if !all_at_once(&transaction, &mut self.state, group)? {
            transaction.execute_batch("ROLLBACK; BEGIN IMMEDIATE")?;
            self.state.rolled_back();
            self.state.begin(&transaction)?;
            each_by_itself(&transaction, &mut self.state, group)?;
        }
        self.state.end(&transaction, group.is_empty())?;
        Ok(transaction.commit()?)
    }
}

/// Whether a group holds nothing that needs a transaction.
fn is_idle<S: State>(group: &[Turn<S>]) -> bool {
    !group.is_empty() && group.iter().all(|turn| turn.job.only_wakes())
}

/// Moves waiting jobs into the group, up to so many jobs and bytes.
fn gather<S: State>(
    group: &mut Vec<Turn<S>>,
    queue: &mut mpsc::Receiver<Queued<S>>,
    (jobs, bytes): (usize, usize),
) {
    let mut weight: usize = group.iter().map(|turn| turn.job.weight()).sum();
    while group.len() < jobs
        && weight < bytes
        && let Ok(next) = queue.try_recv()
    {
        weight += next.weight();
        group.push(next.into());
    }
}

/// Refuses the jobs for which there is no room. After a refused job, every job that adds something is refused, so that
/// none overtakes it.
fn admit<S: State>(group: &mut [Turn<S>], mut left: u64) {
    for turn in group {
        let takes = room::takes(turn.job.weight());
        let is_admitted = takes <= left;
        left = if is_admitted { left - takes } else { 0 };
        turn.own = if is_admitted { Ok(()) } else { Err(room::full().into()) };
    }
}

/// Runs the jobs of a group without savepoints, because a savepoint copies every page that changes after it. Returns
/// `false` if a job failed after it had written something: then nothing that the group wrote may stay.
fn all_at_once<S: State>(db: &Connection, state: &mut S, group: &mut [Turn<S>]) -> Result<bool, S::Error> {
    for turn in group.iter_mut().filter(|turn| turn.own.is_ok()) {
        let before = db.total_changes();
        (turn.has_run, turn.own) = (true, turn.job.run(db, state));
        match &turn.own {
            Ok(()) => state.keep(),
            Err(why) if db.is_autocommit() => return Err(why.clone()),
            Err(_) if db.total_changes() != before => return Ok(false),
            Err(_) => state.undo(db)?,
        }
    }
    Ok(true)
}

/// Runs the jobs of a group once more, each in a savepoint, so that a job that fails leaves the others as they are.
fn each_by_itself<S: State>(db: &Connection, state: &mut S, group: &mut [Turn<S>]) -> Result<(), S::Error> {
    for turn in group.iter_mut() {
        turn.job.start_over();
    }
    for turn in group.iter_mut().filter(|turn| turn.has_run || turn.own.is_ok()) {
        turn.own = by_itself(db, state, &mut *turn.job)?;
    }
    Ok(())
}

/// Runs a job in a savepoint, so that its failure doesn't affect the others. The outer error is the whole group's.
fn by_itself<S: State>(
    db: &Connection,
    state: &mut S,
    job: &mut dyn Job<S>,
) -> Result<Result<(), S::Error>, S::Error> {
    let run = |sql| db.prepare_cached(sql)?.execute([]).map(drop);
    run("SAVEPOINT job")?;
    let own = job.run(db, state);
    match &own {
        Ok(()) => {
            run("RELEASE job")?;
            state.keep();
        }
        // SQLite may have ended the transaction itself, for example on a full disk.
        Err(why) if db.is_autocommit() => return Err(why.clone()),
        Err(_) => {
            run("ROLLBACK TO job")?;
            run("RELEASE job")?;
            state.undo(db)?;
        }
    }
    Ok(own)
}
