//! The index as the rest of the program sees it.

use std::{
    ops::Range,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicI64, Ordering},
    },
};

use hookmitt_search::{Query, WordKey};
use hookmitt_sqlite::Readers;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{
    entry::Entry,
    error::IndexError,
    schema,
    search::{self, Candidates, Count},
    state::{self, State},
    tidy::{self, Log},
    words::Next,
    write,
};

/// The search index of an inbox. Clones share it.
///
/// One process has it open at a time, and one thread at a time writes. Searches go on meanwhile. What the index can't
/// tell of an event counts as found, so a search finds at least what it should, and its caller verifies each candidate.
#[derive(Clone)]
pub struct Index {
    shared: Arc<Shared>,
}

struct Shared {
    path: Arc<Path>,
    inbox: String,
    writer: Mutex<Option<Writer>>,
    readers: RwLock<Readers<IndexError>>,
    /// Held while the file is replaced.
    replacing: tokio::sync::Mutex<()>,
    done: AtomicI64,
}

struct Writer {
    db: Connection,
    next: Next,
    log: Log,
}

impl From<Connection> for Writer {
    fn from(db: Connection) -> Self {
        Self { db, next: Next::new(), log: Log::default() }
    }
}

impl Index {
    /// Opens the index `search.db` in a folder, and makes it if it is missing. A file that belongs to another inbox, has
    /// another format or is damaged is thrown away. `inbox` is what tells inboxes apart.
    ///
    /// # Errors
    /// Fails if the system refuses to make or open the file.
    pub fn open(directory: &Path, inbox: &str) -> Result<Self, IndexError> {
        let path: Arc<Path> = directory.join("search.db").into();
        let db = schema::open(&path, inbox)?;
        let shared = Shared {
            done: schema::done(&db)?.into(),
            inbox: inbox.to_owned(),
            writer: Mutex::new(Some(db.into())),
            readers: RwLock::new(Readers::new(Arc::clone(&path))),
            replacing: tokio::sync::Mutex::default(),
            path,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the sequence number up to which all events are in the index.
    pub fn done(&self) -> i64 {
        self.shared.done.load(Ordering::Acquire)
    }

    /// Adds or replaces entries, all or none of them. Blocks the thread, which may be one of low priority.
    ///
    /// `whole` names sequence numbers of which the index has every event from now on. If it follows what is
    /// [done](Self::done), that grows. It doesn't if the index was rebuilt since the entries were read. Returns what is
    /// done then.
    ///
    /// # Errors
    /// Fails if SQLite does, or if the index was closed.
    pub fn write(&self, entries: Vec<Entry>, whole: Option<Range<i64>>) -> Result<i64, IndexError> {
        let mut writer = self.writer();
        let Writer { db, next, .. } = writer.as_mut().ok_or(IndexError::Closed)?;
        let mut done = self.done();
        if let Some(whole) = whole.filter(|whole| whole.start <= done + 1) {
            done = done.max(whole.end - 1);
        }
        transact(db, |db| {
            write::write(db, next, entries)?;
            schema::set_done(db, done)
        })?;
        self.shared.done.store(done, Ordering::Release); // while the writer is held, so that a rebuild comes after it
        Ok(done)
    }

    /// Removes events. What was stored of their texts leaves the file in the following [`tidy`](Self::tidy) steps.
    /// Blocks the thread.
    ///
    /// # Errors
    /// Fails if SQLite does, or if the index was closed.
    pub fn remove(&self, seqs: &[i64]) -> Result<(), IndexError> {
        let mut writer = self.writer();
        let Writer { db, next, log } = writer.as_mut().ok_or(IndexError::Closed)?;
        log.is_to_be_cut();
        transact(db, |db| write::remove(db, next, seqs))
    }

    /// Does one step of upkeep, which takes a moment. Returns whether there is more to do. Blocks the thread.
    ///
    /// # Errors
    /// Fails if SQLite does, or if the index was closed.
    pub fn tidy(&self) -> Result<bool, IndexError> {
        let mut writer = self.writer();
        let Writer { db, log, .. } = writer.as_mut().ok_or(IndexError::Closed)?;
        tidy::step(db, log)
    }

    /// Throws everything away and begins with an empty file. Searches that run end as if nothing had happened; later
    /// ones find what has been written since.
    ///
    /// # Errors
    /// Fails if the system refuses to delete or make the file. Then the index stays closed until this succeeds.
    pub async fn rebuild(&self) -> Result<(), IndexError> {
        let _replacing = self.shared.replacing.lock().await;
        self.readers().close().await;
        let index = self.clone();
        blocking(move || {
            let Shared { path, inbox, .. } = &*index.shared;
            let mut writer = index.writer();
            *writer = None;
            *writer = Some(schema::begin_anew(path, inbox)?.into());
            index.shared.done.store(0, Ordering::Release);
            let fresh = Readers::new(Arc::clone(path));
            *index.shared.readers.write().unwrap_or_else(PoisonError::into_inner) = fresh;
            Ok(())
        })
        .await
    }

    /// Finds events that may be what a query looks for, in a range of sequence numbers, newest first. Stops after
    /// `limit` of them, or after 100 ms.
    ///
    /// # Errors
    /// Fails if SQLite does, or if the file is damaged.
    pub async fn candidates(
        &self,
        query: &Query,
        range: Range<i64>,
        limit: usize,
    ) -> Result<Candidates, IndexError> {
        let query = query.clone();
        self.read(move |db| search::candidates(db, &query, &range, limit)).await
    }

    /// Counts the events that a query finds. Stops after 200 ms.
    ///
    /// # Errors
    /// Fails if SQLite does, or if the file is damaged.
    pub async fn count(&self, query: &Query) -> Result<Count, IndexError> {
        let query = query.clone();
        self.read(move |db| search::count(db, &query)).await
    }

    /// Returns words of a key that contain a text, compared without case, with the number of events that have each. The
    /// most frequent come first.
    ///
    /// # Errors
    /// Fails if SQLite does, or if the file is damaged.
    pub async fn words(
        &self,
        key: WordKey,
        part: &str,
        limit: usize,
    ) -> Result<Vec<(String, u64)>, IndexError> {
        let part = part.to_owned();
        self.read(move |db| search::words(db, key, &part, limit)).await
    }

    /// Returns how much the index holds.
    ///
    /// # Errors
    /// Fails if SQLite does, or if the file is damaged.
    pub async fn state(&self) -> Result<State, IndexError> {
        let path = Arc::clone(&self.shared.path);
        self.read(move |db| state::read(db, &path)).await
    }

    /// Waits for running searches and closes the file. Everything fails with [`IndexError::Closed`] from then on.
    pub async fn close(&self) {
        self.readers().close().await;
        let index = self.clone();
        let close = move || {
            *index.writer() = None;
            Ok(())
        };
        let _closed = blocking(close).await; // fails only if the runtime ends
    }

    /// Reads in one snapshot. If the file was replaced just now, reads the new one.
    async fn read<T: Send + 'static>(
        &self,
        read: impl Fn(&Connection) -> Result<T, IndexError> + Clone + Send + 'static,
    ) -> Result<T, IndexError> {
        let answer = self.readers().read(read.clone()).await;
        match answer {
            Err(IndexError::Closed) => {
                drop(self.shared.replacing.lock().await); // waits for the new file
                self.readers().read(read).await
            }
            answer => answer,
        }
    }

    fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.shared.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn readers(&self) -> Readers<IndexError> {
        self.shared.readers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Runs work in a transaction that is committed if it succeeds.
fn transact(
    db: &Connection,
    work: impl FnOnce(&Connection) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    work(&transaction)?;
    Ok(transaction.commit()?)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
) -> Result<T, IndexError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| IndexError::Closed)?
}
