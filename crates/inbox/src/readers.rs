//! Connections that read beside the writer.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::{InboxError, schema};

/// How many may read at once. More would only wait for the same disk and cores.
const READERS: usize = 4;

/// A few reading connections, opened when first needed.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, turns: Arc::new(Semaphore::new(READERS)), idle: Arc::default() }
    }

    /// Runs `read` on a blocking thread, in one snapshot of the file. Keep it short: while it runs, the WAL can't
    /// start over.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, InboxError> + Send + 'static,
    ) -> Result<T, InboxError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| InboxError::Closed)?;
        let readers = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let db = readers.take()?;
            let snapshot = db.unchecked_transaction()?;
            let answer = read(&snapshot);
            drop(snapshot);
            readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
            answer
        });
        task.await.map_err(|_| InboxError::Closed)?
    }

    fn take(&self) -> Result<Connection, InboxError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| schema::reader(&self.path), Ok)
    }
}
