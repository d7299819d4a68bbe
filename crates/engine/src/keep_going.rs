//! Tasks that must not end while the process runs.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::Engine;

/// How long after a fault a task is started again.
const AGAIN: Duration = Duration::from_secs(1);

/// What broke off by a fault of ours, each once.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<Vec<&'static str>>);

impl Faults {
    pub(crate) fn note(&self, what: &'static str) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !noted.contains(&what) {
            noted.push(what);
        }
    }

    /// In words.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let says =
            |what| format!("{what} failed by a fault of hookmitt's and went on again; its log says more");
        noted.iter().map(says).collect()
    }
}

impl Engine {
    /// Runs a task until it ends. Where it panics, that is said and it is begun anew.
    pub(crate) fn keep_going<F>(&self, what: &'static str, mut begin: impl FnMut() -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (engine, tasks, stop) = (self.this.clone(), self.tasks.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            while let Err(error) = tasks.spawn(begin()).await {
                tracing::error!(%error, "{what} failed and is started again");
                if let Some(engine) = engine.upgrade() {
                    engine.faults.note(what);
                }
                if stop.run_until_cancelled(tokio::time::sleep(AGAIN)).await.is_none() {
                    return;
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use crate::begun::engine;

    #[tokio::test]
    async fn a_task_that_panics_is_started_again_and_said() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let (begun, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Notify::new()));
        let (count, tell) = (Arc::clone(&begun), Arc::clone(&done));
        engine.keep_going("the deliveries", move || {
            let (number, tell) = (count.fetch_add(1, Ordering::SeqCst), Arc::clone(&tell));
            async move {
                assert!(number > 0, "the first time it fails");
                tell.notify_one();
            }
        });
        done.notified().await;
        assert_eq!(begun.load(Ordering::SeqCst), 2);
        assert!(engine.warnings().iter().any(|said| said.starts_with("the deliveries failed")));
        engine.stop().await;
        assert_eq!(begun.load(Ordering::SeqCst), 2, "one that has ended is not");
    }
}
