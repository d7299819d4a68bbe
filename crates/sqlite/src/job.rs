//! Jobs for a writer, and the queue that they wait in.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    State, Unwritten,
    copying::{Copying, Orders},
    gate::Gate,
};

/// A piece of work for a writer.
pub trait Job<S: State>: Send {
    /// Works inside the group's transaction and keeps its result for [`tell`](Self::tell). If it fails, its writes are
    /// undone.
    ///
    /// A job runs a second time if another job of its group failed: then nothing of the first run is left.
    ///
    /// # Errors
    /// Returns the job's own error, which doesn't affect the other jobs of the group.
    fn run(&mut self, db: &Connection, state: &mut S) -> Result<(), S::Error>;
    /// Forgets the first run, before the second.
    fn start_over(&mut self) {}
    /// Tells the caller how the job went, once it is known whether the transaction was committed.
    fn tell(self: Box<Self>, outcome: Result<(), S::Error>);
    /// Returns about how many bytes the job adds to the store. Zero means that it only settles or frees something; such
    /// a job is admitted even on a full disk.
    fn weight(&self) -> usize {
        0
    }
    /// Whether the job does nothing but wake the writer, so that it needs no transaction.
    fn only_wakes(&self) -> bool {
        false
    }
}

/// A job in the queue.
pub(crate) type Queued<S> = Box<dyn Job<S>>;

/// The queue through which jobs are handed to a writer. Clones share it.
pub struct Jobs<S: State> {
    pub(crate) queue: mpsc::Sender<Queued<S>>,
    pub(crate) closing: Arc<AtomicBool>,
    pub(crate) cut: Arc<Cut>,
    pub(crate) orders: Arc<Orders>,
    pub(crate) gate: Gate,
    pub(crate) ended: watch::Receiver<bool>,
}

impl<S: State> Clone for Jobs<S> {
    fn clone(&self) -> Self {
        let Self { queue, closing, cut, orders, gate, ended } = self;
        let (closing, cut, orders) = (Arc::clone(closing), Arc::clone(cut), Arc::clone(orders));
        Self { queue: queue.clone(), closing, cut, orders, gate: gate.clone(), ended: ended.clone() }
    }
}

impl<S: State> fmt::Debug for Jobs<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").finish_non_exhaustive()
    }
}

impl<S: State> Jobs<S> {
    /// Returns the gate that keeps readers away while the writer waits for the log.
    pub fn gate(&self) -> Gate {
        self.gate.clone()
    }

    /// Waits for a place in the queue, has the writer run `work`, and returns after the commit that holds it. The
    /// weight is zero: use this for work that settles or frees something, and for small settings.
    ///
    /// # Errors
    /// Fails if `work` or SQLite does, or with an [`Unwritten`].
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection, &mut S) -> Result<T, S::Error> + Send + 'static,
    ) -> Result<T, S::Error> {
        self.add(0, work).await
    }

    /// Like [`write`](Self::write), for work that adds about `weight` bytes.
    ///
    /// # Errors
    /// Fails if `work` or SQLite does, if the disk is full, or with an [`Unwritten`].
    pub async fn add<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl FnMut(&Connection, &mut S) -> Result<T, S::Error> + Send + 'static,
    ) -> Result<T, S::Error> {
        let (job, answer) = task(weight, work);
        self.hand_in(job).await?;
        answer.await.map_err(|_| Unwritten::Closed)?
    }

    /// Like [`write`](Self::write), but fails at once if the queue is full, so that a sender can be told to try again.
    /// `weight` is about how many bytes `work` adds.
    ///
    /// # Errors
    /// Fails if `work` or SQLite does, if the disk is full, or with an [`Unwritten`].
    pub async fn write_now<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl FnMut(&Connection, &mut S) -> Result<T, S::Error> + Send + 'static,
    ) -> Result<T, S::Error> {
        let (job, answer) = task(weight, work);
        self.queue.try_send(Box::new(job)).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => Unwritten::Overloaded,
            mpsc::error::TrySendError::Closed(_) => Unwritten::Closed,
        })?;
        answer.await.map_err(|_| Unwritten::Closed)?
    }

    /// Returns how many jobs wait in the queue.
    pub fn waiting(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Has the log copied into the file while the writer goes on, and then truncated to nothing between two commits.
    /// Callers who ask meanwhile share one cut. Returns `false` if somebody reads the log at that moment.
    ///
    /// # Errors
    /// Fails with [`Unwritten::Closed`] if the writer has ended.
    pub async fn cut_log(&self) -> Result<bool, S::Error> {
        let (asks, answer) = oneshot::channel();
        self.hand_in(CutAsked { asks, cut: Arc::clone(&self.cut) }).await?;
        Ok(answer.await.unwrap_or(false))
    }

    /// Begins to copy the file into another database, whose connection is `to`. It goes on with each
    /// [`step`](Copying::step), between two commits. While another copy is under way, this one waits.
    ///
    /// # Errors
    /// Fails with [`Unwritten::Closed`] if the writer has ended.
    pub async fn copy_into(&self, to: Connection) -> Result<Copying, S::Error> {
        let asks = self.orders.place(to);
        self.hand_in(Wake).await?;
        let queue = self.queue.clone();
        // If the queue is full, the writer is awake anyway.
        Ok(Copying::new(asks, move || drop(queue.try_send(Box::new(Wake)))))
    }

    /// Puts a job into the queue, after waiting for a place. Jobs are written in the order in which they got a place in
    /// the queue.
    ///
    /// # Errors
    /// Fails with [`Unwritten::Closed`] if the writer has ended.
    pub async fn hand_in(&self, job: impl Job<S> + 'static) -> Result<(), S::Error> {
        Ok(self.queue.send(Box::new(job)).await.map_err(|_| Unwritten::Closed)?)
    }

    /// Has the writer finish the jobs in the queue, run `last` and take no more jobs. Returns once the writer has
    /// ended.
    pub async fn close(
        &self,
        last: impl FnMut(&Connection, &mut S) -> Result<(), S::Error> + Send + 'static,
    ) {
        self.closing.store(true, Ordering::Release);
        drop(self.write(last).await); // on an error it is closed already or could not write, and ends anyway
        let mut ended = self.ended.clone();
        drop(ended.wait_for(|ended| *ended).await);
    }
}

/// Makes a job of `work`, and returns it with the receiver of its result. `weight` is about how many bytes it adds.
pub fn task<S: State, T: Send + 'static>(
    weight: usize,
    work: impl FnMut(&Connection, &mut S) -> Result<T, S::Error> + Send + 'static,
) -> (impl Job<S> + 'static, oneshot::Receiver<Result<T, S::Error>>) {
    let (reply, answer) = oneshot::channel();
    (Task { work, weight, found: None, reply }, answer)
}

struct Task<T, E, F> {
    work: F,
    weight: usize,
    found: Option<T>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<S, T, F> Job<S> for Task<T, S::Error, F>
where
    S: State,
    T: Send,
    F: FnMut(&Connection, &mut S) -> Result<T, S::Error> + Send,
{
    fn run(&mut self, db: &Connection, state: &mut S) -> Result<(), S::Error> {
        self.found = Some(caught(|| (self.work)(db, state))?);
        Ok(())
    }

    fn tell(self: Box<Self>, outcome: Result<(), S::Error>) {
        let Self { found, reply, .. } = *self;
        // It is no error if the caller has stopped waiting: the work is done all the same.
        let _gone = reply.send(outcome.and_then(|()| Ok(found.ok_or(Unwritten::Closed)?)));
    }

    fn weight(&self) -> usize {
        self.weight
    }
}

/// Those who wait until the log is truncated.
#[derive(Debug, Default)]
pub(crate) struct Cut(Mutex<Vec<oneshot::Sender<bool>>>);

impl Cut {
    /// Takes those who wait.
    pub(crate) fn take(&self) -> Vec<oneshot::Sender<bool>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A job that changes nothing. After its commit its caller is among those who wait for the cut; if the writer ends before
/// that, the caller is told so.
struct CutAsked {
    asks: oneshot::Sender<bool>,
    cut: Arc<Cut>,
}

impl<S: State> Job<S> for CutAsked {
    fn run(&mut self, _: &Connection, _: &mut S) -> Result<(), S::Error> {
        Ok(())
    }

    fn tell(self: Box<Self>, _: Result<(), S::Error>) {
        self.cut.0.lock().unwrap_or_else(PoisonError::into_inner).push(self.asks);
    }
}

/// A job that does nothing but wake the writer.
pub(crate) struct Wake;

impl<S: State> Job<S> for Wake {
    fn run(&mut self, _: &Connection, _: &mut S) -> Result<(), S::Error> {
        Ok(())
    }

    fn tell(self: Box<Self>, _: Result<(), S::Error>) {}

    fn only_wakes(&self) -> bool {
        true
    }
}

/// Runs `work` and turns a panic into an error. The caller must undo, or not rely on, what `work` may have left half
/// done.
pub(crate) fn caught<T, E: From<Unwritten>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        tracing::error!("the writer failed; its current change is undone, and it continues");
        Err(Unwritten::Panicked.into())
    })
}
