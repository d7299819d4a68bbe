//! Connections that read beside the writer.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::schema;
use crate::MailboxError;

/// How many may read at once. More would only wait for the same disk and cores.
const READERS: u32 = 4;

/// A few reading connections, opened when first needed.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    path: Arc<Path>,
    turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    pub(super) fn new(path: Arc<Path>) -> Self {
        Self { path, turns: Arc::new(Semaphore::new(READERS as usize)), idle: Arc::default() }
    }

    /// Runs `read` on a blocking thread, in one snapshot of the file. Keep it short: while it runs, the log can't start
    /// over.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, MailboxError> + Send + 'static,
    ) -> Result<T, MailboxError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| MailboxError::Closed)?;
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
        task.await.map_err(|_| MailboxError::Closed)?
    }

    /// Lets go of the file once those that read are done; whoever comes later is told that the store is closed.
    pub(super) async fn close(&self) {
        drop(self.turns.acquire_many(READERS).await); // an error: it is closed already
        self.turns.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn take(&self) -> Result<Connection, MailboxError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Ok(idle.map_or_else(|| schema::reader(&self.path), Ok)?)
    }
}
