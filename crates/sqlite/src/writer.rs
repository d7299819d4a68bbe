//! One thread writes. What waits together is committed together, and so shares one sync to the disk.

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
    State, Upkeep, file,
    job::{Job, Jobs, Queued, Wake, caught},
    log::Pressure,
    room::{self, Room},
};

/// How much work may wait for the writer.
const QUEUE: usize = 4_096;

/// How many jobs share a commit at most: enough to hide the sync, few enough to answer soon.
const GROUP: usize = 256;

/// How many bytes share a commit before no other job joins it: with the largest job still to come, a group stays well
/// below the log's bound.
const GROUP_BYTES: usize = 16 * 1024 * 1024;

/// When it is tried again to cut off a log that somebody reads.
const CUT_AGAIN: Duration = Duration::from_secs(1);

/// What a row that is changed or deleted writes into the log, about: its share of its page and of its indexes' pages.
const ROW: u64 = 512;

/// The writer of a file, before its thread starts.
pub struct Writer<S: State> {
    desk: Desk<S>,
    queue: mpsc::Receiver<Queued<S>>,
    jobs: Jobs<S>,
    end: watch::Sender<bool>,
}

impl<S: State> Writer<S> {
    /// Opens a file that was prepared.
    ///
    /// # Errors
    /// What the system or SQLite says.
    pub fn open(path: &Path, state: S) -> io::Result<Self> {
        let db = file::durable(path).map_err(io::Error::other)?;
        let (sender, queue) = mpsc::channel(QUEUE);
        let (end, ended) = watch::channel(false);
        let pressure = Pressure::start(path, wake(sender.downgrade()))?;
        let jobs = Jobs { queue: sender, closing: Arc::default(), ended };
        let desk = Desk { db, state, pressure, room: Room::of(path), uncut: None };
        Ok(Self { desk, queue, jobs, end })
    }

    /// Commits a group without a job, so that the state knows the file.
    ///
    /// # Errors
    /// What the state and SQLite say.
    pub fn look(&mut self) -> Result<(), S::Error> {
        self.desk.commit(&mut Vec::new(), None)
    }

    /// Starts the thread; it ends when it is told to, or when nobody can hand in jobs any more.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(self, name: &str) -> io::Result<Jobs<S>> {
        let Self { mut desk, mut queue, jobs, end } = self;
        let closing = Arc::clone(&jobs.closing);
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            desk.run(&mut queue, &closing);
            drop((desk, queue)); // whoever waits for the end may open the file anew, or delete it
            end.send_replace(true);
        })?;
        Ok(jobs)
    }
}

/// Wakes a writer that has nothing to do. A full queue means that it is awake.
fn wake<S: State>(queue: mpsc::WeakSender<Queued<S>>) -> impl Fn() + Send + 'static {
    move || {
        if let Some(queue) = queue.upgrade() {
            let _awake = queue.try_send(Box::new(Wake));
        }
    }
}

/// A job of a group, and how it went.
struct Turn<S: State> {
    job: Queued<S>,
    own: Result<(), S::Error>,
}

impl<S: State> From<Queued<S>> for Turn<S> {
    fn from(job: Queued<S>) -> Self {
        Self { job, own: Ok(()) }
    }
}

/// What the thread works at.
struct Desk<S> {
    db: Connection,
    state: S,
    pressure: Pressure,
    room: Room,
    /// When cutting the log off failed last.
    uncut: Option<Instant>,
}

impl<S: State> Desk<S> {
    fn run(&mut self, queue: &mut mpsc::Receiver<Queued<S>>, closing: &AtomicBool) {
        loop {
            let upkeep = if queue.is_closed() { Upkeep::None } else { self.state.upkeep() };
            let mut group: Vec<Turn<S>> = Vec::new();
            if upkeep == Upkeep::None {
                let Some(first) = queue.blocking_recv() else { return };
                group.push(first.into());
            }
            self.make_room();
            let outcome = self.commit(&mut group, (upkeep != Upkeep::Alone).then_some(&mut *queue));
            for Turn { job, own } in group {
                // What a job was refused for may be what a neighbour did: that counts only if the commit does.
                job.tell(outcome.clone().and(own));
            }
            self.pressure.relieve(&self.db);
            if closing.load(Ordering::Acquire) {
                queue.close(); // what is in it is still done
            }
        }
    }

    /// Cuts the log off where the disk is nearly full, unless that failed less than a second ago.
    fn make_room(&mut self) {
        let waits = self.uncut.is_some_and(|since| since.elapsed() < CUT_AGAIN);
        if !waits && self.room.is_log_in_the_way() {
            self.uncut = if self.pressure.cut_off(&self.db) { None } else { Some(Instant::now()) };
        }
    }

    /// Commits a group as one, with what waits in the queue.
    fn commit(
        &mut self,
        group: &mut Vec<Turn<S>>,
        queue: Option<&mut mpsc::Receiver<Queued<S>>>,
    ) -> Result<(), S::Error> {
        let before = self.db.total_changes();
        let outcome = caught(|| self.transact(group, queue));
        match outcome {
            Ok(()) => {
                let rows = self.db.total_changes().saturating_sub(before);
                self.pressure.add(self.state.committed() + rows * ROW);
            }
            Err(_) => self.state.rolled_back(),
        }
        outcome
    }

    fn transact(
        &mut self,
        group: &mut Vec<Turn<S>>,
        queue: Option<&mut mpsc::Receiver<Queued<S>>>,
    ) -> Result<(), S::Error> {
        let begun = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate);
        // Only now: what came while another process held the file neither waits for it once more, nor alone.
        if let Some(queue) = queue {
            let bounds = if begun.is_ok() { (GROUP, GROUP_BYTES) } else { (QUEUE, usize::MAX) };
            gather(group, queue, bounds);
        }
        let transaction = begun?;
        self.state.begin(&transaction)?;
        if group.iter().any(|turn| turn.job.weight() > 0) {
            admit(group, self.room.may_add(&transaction));
        }
        if let [turn @ Turn { own: Ok(()), .. }] = &mut group[..] {
            turn.job.run(&transaction, &mut self.state)?;
            self.state.keep();
        } else {
            for turn in group.iter_mut().filter(|turn| turn.own.is_ok()) {
                turn.own = by_itself(&transaction, &mut self.state, &mut *turn.job)?;
            }
        }
        self.state.end(&transaction, group.is_empty())?;
        Ok(transaction.commit()?)
    }
}

/// Takes what waits, up to so many jobs and bytes.
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

/// Refuses what there is no room for, and all that would be added after it: nothing overtakes what was refused.
fn admit<S: State>(group: &mut [Turn<S>], mut left: u64) {
    for turn in group {
        let takes = room::takes(turn.job.weight());
        let is_admitted = takes <= left;
        left = if is_admitted { left - takes } else { 0 };
        turn.own = if is_admitted { Ok(()) } else { Err(room::full().into()) };
    }
}

/// Runs a job in a savepoint, so that its failure costs its neighbours nothing. The outer error is the whole group's.
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
        // Of a full disk, say, SQLite may have ended the transaction by itself.
        Err(why) if db.is_autocommit() => return Err(why.clone()),
        Err(_) => {
            run("ROLLBACK TO job")?;
            run("RELEASE job")?;
            state.undo(db)?;
        }
    }
    Ok(own)
}
