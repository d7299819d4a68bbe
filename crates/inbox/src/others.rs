//! Notices what other processes commit to the same file.

use std::{
    convert::Infallible,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::sync::watch;

use crate::InboxError;

/// How often we look. SQLite keeps the file's version number in shared memory, so that a look costs microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The thread that looks for commits. It ends when the last clone is dropped. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Others {
    changes: watch::Receiver<i64>,
    thread: Arc<Mutex<Option<Looking>>>,
}

#[derive(Debug)]
struct Looking {
    /// The thread ends once this is dropped.
    wanted: mpsc::Sender<Infallible>,
    thread: JoinHandle<()>,
}

impl Others {
    /// Starts the thread.
    pub(crate) fn watch(path: &Path) -> Result<Self, InboxError> {
        let db = hookmitt_sqlite::reader(path)?;
        let look = move || db.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0));
        let (seen, changes) = watch::channel(look()?);
        let (wanted, end) = mpsc::channel();
        let failed = |why: std::io::Error| InboxError::Open { path: path.to_owned(), why: why.to_string() };
        let looking = move || {
            while matches!(end.recv_timeout(LOOK_EVERY), Err(RecvTimeoutError::Timeout)) {
                if let Ok(version) = look() {
                    seen.send_if_modified(|last| std::mem::replace(last, version) != version);
                }
            }
        };
        let thread = thread::Builder::new().name("inbox-others".to_owned()).spawn(looking).map_err(failed)?;
        Ok(Self { changes, thread: Arc::new(Mutex::new(Some(Looking { wanted, thread }))) })
    }

    /// Returns a number that changes soon after each commit.
    pub(crate) fn changes(&self) -> watch::Receiver<i64> {
        self.changes.clone()
    }

    /// Ends the thread, and waits until it has closed its connection.
    pub(crate) async fn close(&self) {
        let running = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Looking { wanted, thread }) = running else { return };
        drop(wanted);
        // It fails only if the thread panicked, or if the runtime ends.
        let _ended = tokio::task::spawn_blocking(|| thread.join()).await;
    }
}
