//! Connections that read beside the writer.

use std::{
    marker::PhantomData,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::file;

/// How many may read at once. More would only wait for the same disk and cores.
const READERS: u32 = 4;

/// The file was let go of.
#[derive(Clone, Copy, Debug)]
pub struct Closed;

/// A few reading connections, opened when first needed; clones share them. `E` is what its owner calls errors.
#[derive(Debug)]
pub struct Readers<E> {
    path: Arc<Path>,
    turns: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Connection>>>,
    error: PhantomData<fn() -> E>,
}

impl<E> Clone for Readers<E> {
    fn clone(&self) -> Self {
        let Self { path, turns, idle, error } = self;
        Self { path: Arc::clone(path), turns: Arc::clone(turns), idle: Arc::clone(idle), error: *error }
    }
}

impl<E: From<rusqlite::Error> + From<Closed> + Send + 'static> Readers<E> {
    /// Readers of a file that was prepared.
    pub fn new(path: Arc<Path>) -> Self {
        let turns = Arc::new(Semaphore::new(READERS as usize));
        Self { path, turns, idle: Arc::default(), error: PhantomData }
    }

    /// Runs `read` on a blocking thread, in one snapshot of the file. Keep it short: while it runs, the log can't start
    /// over.
    ///
    /// # Errors
    /// What `read` and SQLite say; [`Closed`].
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| Closed)?;
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
        task.await.map_err(|_| Closed)?
    }

    /// Lets go of the file once those that read are done; whoever comes later is told [`Closed`].
    pub async fn close(&self) {
        drop(self.turns.acquire_many(READERS).await); // an error: it is closed already
        self.turns.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| file::reader(&self.path), Ok)
    }
}
