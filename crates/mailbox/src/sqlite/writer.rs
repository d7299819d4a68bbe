//! One thread writes. What waits together is committed together, and so shares one sync to the disk.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use hookmitt_sqlite::Pressure;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    boxes::Boxes, clear, feed::Bells, known::Known, refusals::Refusals, schema::unusable, trouble::Trouble,
};
use crate::MailboxError;

/// How much work may wait for the writer. Above it, a letter is refused with 503.
const QUEUE: usize = 4_096;

/// How many jobs share a commit at most: enough to hide the sync, few enough to answer soon.
const GROUP: usize = 256;

/// How many bytes share a commit before no other job joins it: with the largest letter still to come, a group stays well
/// below the log's bound.
const GROUP_BYTES: usize = 16 * 1024 * 1024;

/// What a commit writes into the log beside letters, about: pages that were there already, and those that lead to them.
const COMMIT: u64 = 8 * 1024;

/// Where jobs are handed in; clones share it.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    queue: mpsc::Sender<Box<dyn Job>>,
    closing: Arc<AtomicBool>,
    ended: watch::Receiver<bool>,
}

impl Jobs {
    /// Has the writer do `work`, waiting for a place in the queue. `work` runs again, alone, where a neighbour in its
    /// group failed.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Batch<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, MailboxError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Task { work, weight: 0, outcome: None, reply });
        self.queue.send(job).await.map_err(|_| MailboxError::Closed)?;
        answer.await.map_err(|_| MailboxError::Closed)?
    }

    /// As [`write`](Self::write), but refuses where the queue is full: the relay would rather answer 503 at once.
    /// `weight` is about how many bytes it writes.
    pub(super) async fn write_now<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl FnMut(&mut Batch<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, MailboxError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Task { work, weight, outcome: None, reply });
        self.queue.try_send(job).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => MailboxError::Overloaded,
            mpsc::error::TrySendError::Closed(_) => MailboxError::Closed,
        })?;
        answer.await.map_err(|_| MailboxError::Closed)?
    }

    /// Has the writer finish what waits, and take no more; answers once it has ended.
    pub(super) async fn close(&self) {
        self.closing.store(true, Ordering::Release);
        let wake = self.write(|batch| {
            batch.news.at_once = true;
            Ok(())
        });
        drop(wake.await); // an error: it is closed already, or could not write what was refused; it ends all the same
        let mut ended = self.ended.clone();
        drop(ended.wait_for(|ended| *ended).await);
    }
}

/// What a job works with: the open transaction, what the writer knows, and what is told after the commit.
pub(super) struct Batch<'a> {
    pub(super) db: &'a Connection,
    pub(super) boxes: &'a mut Boxes,
    pub(super) news: &'a mut News,
}

/// What others are told once a group is committed.
#[derive(Default)]
pub(super) struct News {
    /// Tunnels with new letters, or new troubles, by id, and their newest position.
    pub(super) rung: HashMap<i64, u64>,
    /// Tunnels whose settings changed.
    pub(super) changed: Vec<String>,
    /// Bytes of letters.
    pub(super) bytes: u64,
    /// What was refused is to be written now.
    pub(super) at_once: bool,
}

/// Something for the writer to do.
pub(super) trait Job: Send {
    /// Works inside the group's transaction; keeps what it found. An error: the transaction can't be trusted.
    fn run(&mut self, batch: &mut Batch<'_>) -> rusqlite::Result<()>;
    /// Tells the caller, once it is known whether the transaction holds.
    fn tell(self: Box<Self>, committed: Result<(), MailboxError>);
    /// About how many bytes it writes, where they are many.
    fn weight(&self) -> usize;
}

struct Task<T, F> {
    work: F,
    weight: usize,
    outcome: Option<Result<T, MailboxError>>,
    reply: oneshot::Sender<Result<T, MailboxError>>,
}

impl<T: Send, F: FnMut(&mut Batch<'_>) -> Result<T, Trouble> + Send> Job for Task<T, F> {
    fn run(&mut self, batch: &mut Batch<'_>) -> rusqlite::Result<()> {
        self.outcome = Some(match (self.work)(batch) {
            Ok(found) => Ok(found),
            Err(Trouble::Refused(refused)) => Err(refused),
            Err(Trouble::Sql(error)) => return Err(error),
        });
        Ok(())
    }

    fn tell(self: Box<Self>, committed: Result<(), MailboxError>) {
        let Self { outcome, reply, .. } = *self;
        // A caller that gave up waiting is no error: the work is done all the same.
        drop(reply.send(committed.and_then(|()| outcome.unwrap_or(Err(MailboxError::Closed)))));
    }

    fn weight(&self) -> usize {
        self.weight
    }
}

/// Starts the writer's thread; it ends when it is told to, or when nobody can hand in jobs any more.
pub(super) fn start(
    path: &Path,
    known: Arc<Known>,
    bells: Bells,
    refusals: Arc<Refusals>,
) -> Result<Jobs, MailboxError> {
    let db = hookmitt_sqlite::writer(path).map_err(|why| unusable(path, &why))?;
    let pressure = Pressure::start(path, || {}).map_err(|why| unusable(path, &why))?;
    let (queue, waiting) = mpsc::channel(QUEUE);
    let (end, ended) = watch::channel(false);
    let (boxes, closing) = (Boxes::default(), Arc::new(AtomicBool::new(false)));
    let is_closing = Arc::clone(&closing);
    let mut writer = Writer { db, boxes, refusals, pressure, known, bells, is_closing, resting: false };
    writer.attempt(&mut [], false).map_err(|why| unusable(path, &why))?;
    thread::Builder::new()
        .name("mailbox-writer".to_owned())
        .spawn(move || {
            writer.run(waiting);
            drop(writer);
            end.send_replace(true);
        })
        .map_err(|why| unusable(path, &why))?;
    Ok(Jobs { queue, closing, ended })
}

struct Writer {
    db: Connection,
    boxes: Boxes,
    refusals: Arc<Refusals>,
    pressure: Pressure,
    known: Arc<Known>,
    bells: Bells,
    is_closing: Arc<AtomicBool>,
    /// Deleting failed; it is tried again with the next job.
    resting: bool,
}

impl Writer {
    fn run(&mut self, mut queue: mpsc::Receiver<Box<dyn Job>>) {
        while let Some(group) = self.gather(&mut queue) {
            self.commit(group);
            self.pressure.relieve(&self.db);
            if self.is_closing.load(Ordering::Acquire) {
                queue.close(); // what is in it is still done
            }
        }
    }

    /// What waits, up to a bound; waits for something to do. `None`: there will be nothing more.
    fn gather(&self, queue: &mut mpsc::Receiver<Box<dyn Job>>) -> Option<Vec<Box<dyn Job>>> {
        let mut group = Vec::new();
        if !self.boxes.is_due() || self.resting || queue.is_closed() {
            group.push(queue.blocking_recv()?);
        }
        let mut weight: usize = group.iter().map(|job| job.weight()).sum();
        while group.len() < GROUP
            && weight < GROUP_BYTES
            && let Ok(next) = queue.try_recv()
        {
            weight += next.weight();
            group.push(next);
        }
        Some(group)
    }

    /// Commits a group as one. Where one job fails, the rest must not: each is then done alone. But a full disk, or another
    /// process that keeps the file, is no job's fault.
    fn commit(&mut self, mut group: Vec<Box<dyn Job>>) {
        let mut outcome = self.attempt(&mut group, true);
        self.resting = outcome.is_err() && self.boxes.is_due();
        if self.resting {
            // Deleting may be what failed, on a full disk, say: that is no reason to refuse anything.
            outcome = self.attempt(&mut group, false);
        }
        let is_nobodys = matches!(outcome, Ok(()) | Err(MailboxError::DiskFull | MailboxError::Overloaded));
        if is_nobodys || group.len() == 1 {
            group.into_iter().for_each(|job| job.tell(outcome.clone()));
            return;
        }
        for job in group {
            let mut alone = [job];
            let outcome = self.attempt(&mut alone, false);
            let [job] = alone;
            job.tell(outcome);
        }
    }

    /// Runs a group in one transaction, with a little deleting where there is some to do.
    fn attempt(&mut self, group: &mut [Box<dyn Job>], clear: bool) -> Result<(), MailboxError> {
        let news = self.transact(group, clear).inspect_err(|_| self.boxes.distrust())?;
        self.pressure.add(COMMIT + news.bytes);
        self.known.forget(&news.changed);
        self.bells.ring(&news.rung);
        Ok(())
    }

    fn transact(&mut self, group: &mut [Box<dyn Job>], clear: bool) -> rusqlite::Result<News> {
        let transaction = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        if self.boxes.refresh(&transaction)? {
            self.refusals.load(&transaction)?;
            self.bells.ring_all();
        }
        let mut news = News::default();
        let mut batch = Batch { db: &transaction, boxes: &mut self.boxes, news: &mut news };
        for job in group {
            job.run(&mut batch)?;
        }
        if clear {
            clear::some(&transaction, &mut self.boxes)?;
        }
        self.refusals.write(&transaction, news.at_once)?;
        if !news.changed.is_empty() {
            transaction.execute("UPDATE meta SET value = value + 1 WHERE key = 'config'", [])?;
        }
        transaction.commit()?;
        Ok(news)
    }
}
