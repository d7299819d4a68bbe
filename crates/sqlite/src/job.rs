//! What a writer is given to do.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use crate::{State, Unwritten};

/// Something for a writer to do.
pub trait Job<S: State>: Send {
    /// Works inside the group's transaction; keeps what it found. Where it fails, what it wrote is undone.
    ///
    /// # Errors
    /// The job's own; its neighbours are none the worse.
    fn run(&mut self, db: &Connection, state: &mut S) -> Result<(), S::Error>;
    /// Tells the caller, once it is known whether the transaction holds.
    fn tell(self: Box<Self>, outcome: Result<(), S::Error>);
    /// About how many bytes it adds to the store. None: it settles or frees, for which there is room on a disk that is full.
    fn weight(&self) -> usize {
        0
    }
}

/// A job as it waits.
pub(crate) type Queued<S> = Box<dyn Job<S>>;

/// Where jobs are handed in; clones share it.
pub struct Jobs<S: State> {
    pub(crate) queue: mpsc::Sender<Queued<S>>,
    pub(crate) closing: Arc<AtomicBool>,
    pub(crate) ended: watch::Receiver<bool>,
}

impl<S: State> Clone for Jobs<S> {
    fn clone(&self) -> Self {
        let Self { queue, closing, ended } = self;
        Self { queue: queue.clone(), closing: Arc::clone(closing), ended: ended.clone() }
    }
}

impl<S: State> fmt::Debug for Jobs<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").finish_non_exhaustive()
    }
}

impl<S: State> Jobs<S> {
    /// Has the writer do `work`, waiting for a place in the queue. Answers after the commit that holds it. It weighs
    /// nothing: for what settles or frees, and for small settings.
    ///
    /// # Errors
    /// What `work` and SQLite say; [`Unwritten`].
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &mut S) -> Result<T, S::Error> + Send + 'static,
    ) -> Result<T, S::Error> {
        self.add(0, work).await
    }

    /// As [`write`](Self::write), for what adds about so many bytes.
    ///
    /// # Errors
    /// What `work` and SQLite say, a full disk among it; [`Unwritten`].
    pub async fn add<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl FnOnce(&Connection, &mut S) -> Result<T, S::Error> + Send + 'static,
    ) -> Result<T, S::Error> {
        let (job, answer) = task(weight, work);
        self.hand_in(job).await?;
        answer.await.map_err(|_| Unwritten::Closed)?
    }

    /// As [`write`](Self::write), but refuses where the queue is full: a sender is rather told to try again at once.
    /// `weight` is about how many bytes it adds.
    ///
    /// # Errors
    /// What `work` and SQLite say; [`Unwritten`].
    pub async fn write_now<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl FnOnce(&Connection, &mut S) -> Result<T, S::Error> + Send + 'static,
    ) -> Result<T, S::Error> {
        let (job, answer) = task(weight, work);
        self.queue.try_send(Box::new(job)).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => Unwritten::Overloaded,
            mpsc::error::TrySendError::Closed(_) => Unwritten::Closed,
        })?;
        answer.await.map_err(|_| Unwritten::Closed)?
    }

    /// Waits for a place in the queue. Whoever has one before another call begins is written first.
    ///
    /// # Errors
    /// [`Unwritten::Closed`].
    pub async fn hand_in(&self, job: impl Job<S> + 'static) -> Result<(), S::Error> {
        Ok(self.queue.send(Box::new(job)).await.map_err(|_| Unwritten::Closed)?)
    }

    /// Has the writer finish what waits and do `last`, and take no more; answers once it has ended.
    pub async fn close(
        &self,
        last: impl FnOnce(&Connection, &mut S) -> Result<(), S::Error> + Send + 'static,
    ) {
        self.closing.store(true, Ordering::Release);
        drop(self.write(last).await); // an error: it is closed already, or could not write; it ends all the same
        let mut ended = self.ended.clone();
        drop(ended.wait_for(|ended| *ended).await);
    }

    /// Turns true when the writer has ended.
    pub fn ended(&self) -> watch::Receiver<bool> {
        self.ended.clone()
    }
}

/// A job of `work`, and what comes of it. `weight` is about how many bytes it adds.
pub fn task<S: State, T: Send + 'static>(
    weight: usize,
    work: impl FnOnce(&Connection, &mut S) -> Result<T, S::Error> + Send + 'static,
) -> (impl Job<S> + 'static, oneshot::Receiver<Result<T, S::Error>>) {
    let (reply, answer) = oneshot::channel();
    (Task { work: Some(work), weight, found: None, reply }, answer)
}

struct Task<T, E, F> {
    /// None once it ran.
    work: Option<F>,
    weight: usize,
    found: Option<T>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<S, T, F> Job<S> for Task<T, S::Error, F>
where
    S: State,
    T: Send,
    F: FnOnce(&Connection, &mut S) -> Result<T, S::Error> + Send,
{
    fn run(&mut self, db: &Connection, state: &mut S) -> Result<(), S::Error> {
        self.found = self.work.take().map(|work| caught(|| work(db, state))).transpose()?;
        Ok(())
    }

    fn tell(self: Box<Self>, outcome: Result<(), S::Error>) {
        let Self { found, reply, .. } = *self;
        // A caller that gave up waiting is no error: the work is done all the same.
        let _gone = reply.send(outcome.and_then(|()| Ok(found.ok_or(Unwritten::Closed)?)));
    }

    fn weight(&self) -> usize {
        self.weight
    }
}

/// A job that only makes the writer look up.
pub(crate) struct Wake;

impl<S: State> Job<S> for Wake {
    fn run(&mut self, _: &Connection, _: &mut S) -> Result<(), S::Error> {
        Ok(())
    }

    fn tell(self: Box<Self>, _: Result<(), S::Error>) {}
}

/// What `work` says; a panic is an error of it. Whoever calls must undo or distrust what `work` may have left half done.
pub(crate) fn caught<T, E: From<Unwritten>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        tracing::error!("the writer panicked: what it was at is undone, and it goes on");
        Err(Unwritten::Panicked.into())
    })
}
