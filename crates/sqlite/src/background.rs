//! A thread for work that can wait: every other thread goes first.

use std::{
    cell::Cell,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use tokio::sync::{mpsc, oneshot};

use crate::closed::Closed;

type Work = Box<dyn FnOnce() + Send>;

/// A thread of low priority. It ends when this value is dropped.
#[derive(Clone, Debug)]
pub struct Background(mpsc::Sender<Work>);

impl Background {
    /// Starts the thread.
    ///
    /// # Errors
    /// Fails if the system can't start a thread.
    pub fn start(name: &str) -> io::Result<Self> {
        let (orders, mut next) = mpsc::channel::<Work>(1);
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            give_way();
            while let Some(work) = next.blocking_recv() {
                // Who waits for it is told by the answer that doesn't come. Others need the thread.
                let _panicked = catch_unwind(AssertUnwindSafe(work));
            }
        })?;
        Ok(Self(orders))
    }

    /// Has the thread do some work, and waits for what comes of it.
    ///
    /// # Errors
    /// Fails with [`Closed`] if the work panics.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Closed> {
        let (answer, done) = oneshot::channel();
        let work = move || {
            let _unheard = answer.send(work());
        };
        self.0.send(Box::new(work)).await.map_err(|_| Closed)?;
        done.await.map_err(|_| Closed)
    }
}

thread_local! {
    /// Whether this thread lets others go first.
    static GIVES_WAY: Cell<bool> = const { Cell::new(false) };
}

/// Lets threads that wait for this core go first, if this thread gives way. A thread of low priority, too, runs for some
/// milliseconds before it hands over, which captures would wait for. So work that can wait calls this every few hundred
/// microseconds.
pub fn pause() {
    if GIVES_WAY.get() {
        thread::yield_now();
    }
}

/// Lets every other thread go first, from now on.
#[cfg(target_os = "linux")]
pub fn give_way() {
    const LAST: i32 = 19;
    GIVES_WAY.set(true);
    // On Linux a thread has a priority of its own.
    if let Err(why) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), LAST) {
        tracing::debug!(%why, "a background thread runs at the usual priority");
    }
}

/// Lets every other thread go first at each [`pause`], from now on. Only Linux gives each thread a priority that another
/// thread's doesn't touch.
#[cfg(not(target_os = "linux"))]
pub fn give_way() {
    GIVES_WAY.set(true);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_panics_fails_and_what_comes_after_it_is_done() {
        let background = Background::start("test").unwrap();
        assert!(background.run(|| panic!("on purpose")).await.map(|(): ()| ()).is_err());
        assert_eq!(background.run(|| 1).await.unwrap(), 1);
    }
}
