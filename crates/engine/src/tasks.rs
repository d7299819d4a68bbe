//! Tasks that run in the background until the engine stops.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use tokio::{runtime::Handle, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long after a panic a task is started again.
const AGAIN: Duration = Duration::from_secs(1);

/// The background tasks of an engine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    /// Cancelled when the engine stops.
    pub(crate) stop: CancellationToken,
    faults: Arc<Faults>,
}

/// The tasks that panicked, each named once.
#[derive(Debug, Default)]
struct Faults(Mutex<Vec<&'static str>>);

impl Tasks {
    /// Runs a task. The engine's stop waits until the task ends.
    pub(crate) fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.tracker.spawn(task)
    }

    /// Like [`spawn`](Self::spawn), for callers outside the runtime.
    pub(crate) fn spawn_on<F>(&self, task: F, runtime: &Handle)
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.tracker.spawn_on(task, runtime);
    }

    /// Runs a task until it ends or the engine stops. Logs an error with `failed` as the message.
    pub(crate) fn spawn_until_stop<F, E>(&self, failed: &'static str, task: F)
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: std::fmt::Display + Send + 'static,
    {
        let stop = self.stop.clone();
        self.tracker.spawn(async move {
            if let Some(Err(error)) = stop.run_until_cancelled(task).await {
                tracing::warn!(%error, "{failed}");
            }
        });
    }

    /// Runs a task until it ends. If it panics, that is reported, and `begin` starts it again.
    pub(crate) fn keep_going<F>(&self, what: &'static str, mut begin: impl FnMut() -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let tasks = self.clone();
        self.tracker.spawn(async move {
            while let Err(error) = tasks.tracker.spawn(begin()).await {
                tracing::error!(%error, "{what} failed and is being restarted");
                tasks.note_fault(what);
                if tasks.stop.run_until_cancelled(tokio::time::sleep(AGAIN)).await.is_none() {
                    return;
                }
            }
        });
    }

    /// Makes sure that a future runs to its end: if it is dropped before, it goes on as a task.
    pub(crate) fn see_through<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> SeenThrough<T> {
        SeenThrough { future: Some(Box::pin(future)), tasks: self.clone() }
    }

    /// Remembers that something failed by a fault of ours.
    pub(crate) fn note_fault(&self, what: &'static str) {
        let mut noted = self.faults.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !noted.contains(&what) {
            noted.push(what);
        }
    }

    /// Returns a sentence for each thing that failed by a fault of ours.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let noted = self.faults.0.lock().unwrap_or_else(PoisonError::into_inner);
        let says =
            |what| format!("{what} failed because of an error in hookmitt and was restarted; see its log");
        noted.iter().map(says).collect()
    }

    /// Tells every task to stop, and waits until all have ended.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// The future that [`Tasks::see_through`] returns.
pub(crate) struct SeenThrough<T: Send + 'static> {
    /// `None` once it has ended.
    future: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    tasks: Tasks,
}

impl<T: Send + 'static> Future for SeenThrough<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(future) = &mut self.future else { return Poll::Pending };
        let polled = future.as_mut().poll(context);
        if polled.is_ready() {
            self.future = None;
        }
        polled
    }
}

impl<T: Send + 'static> Drop for SeenThrough<T> {
    fn drop(&mut self) {
        // Without a runtime the process is ending, and the future is dropped.
        if let (Some(future), Ok(runtime)) = (self.future.take(), Handle::try_current()) {
            self.tasks.spawn_on(future, &runtime);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_is_started_again_and_said() {
        let tasks = Tasks::default();
        let (begun, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Notify::new()));
        let (count, tell) = (Arc::clone(&begun), Arc::clone(&done));
        tasks.keep_going("the deliveries", move || {
            let (number, tell) = (count.fetch_add(1, Ordering::SeqCst), Arc::clone(&tell));
            async move {
                assert!(number > 0, "the first time it fails");
                tell.notify_one();
            }
        });
        done.notified().await;
        assert_eq!(begun.load(Ordering::SeqCst), 2);
        assert!(tasks.warnings().iter().any(|said| said.starts_with("the deliveries failed")));
        tasks.end().await;
        assert_eq!(begun.load(Ordering::SeqCst), 2, "one that has ended is not");
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_is_seen_through() {
        let tasks = Tasks::default();
        let (begin, begun) = tokio::sync::oneshot::channel::<()>();
        let (end, ended) = tokio::sync::oneshot::channel();
        let mut seen_through = tasks.see_through(async move {
            begun.await.unwrap();
            end.send(7).unwrap();
        });
        let pending = std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut seen_through).poll(context)));
        assert!(pending.await.is_pending());
        drop(seen_through); // as when a sender hangs up
        begin.send(()).unwrap();
        assert_eq!(ended.await, Ok(7));
        assert_eq!(tasks.see_through(async { 8 }).await, 8);
    }
}
