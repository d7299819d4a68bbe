//! The index as the rest of the program sees it.

use std::{
    ops::Range,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use hookmitt_search::{Query, WordKey};
use hookmitt_sqlite::{FileId, Readers};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{
    entry::Step,
    error::IndexError,
    schema,
    search::{self, Candidates, Count},
    state::{self, State},
    syncs::{self, Syncs},
    tidy::{self, Debt},
    words::Next,
    write,
};

/// The search index of an inbox. Clones share it.
///
/// One process [opens](Self::open) it to write; others may [look](Self::look) into it. One thread at a time writes, and
/// searches go on meanwhile. What the index can't tell of an event counts as found, so a search finds at least what it
/// should, and its caller verifies each candidate.
#[derive(Clone)]
pub struct Index {
    shared: Arc<Shared>,
}

struct Shared {
    path: Arc<Path>,
    inbox: String,
    /// `None` if this process only looks, or if the index was closed.
    writer: Mutex<Option<Writer>>,
    readers: Readers<IndexError>,
    /// Taken alone while the index is made anew, and together by those who read.
    anew: tokio::sync::RwLock<()>,
    done: AtomicI64,
}

struct Writer {
    db: Connection,
    file: Option<FileId>,
    /// The last step, as far as this process knows.
    step: Option<i64>,
    next: Next,
    debt: Debt,
    syncs: Syncs,
}

impl Writer {
    fn new(path: &Path, db: Connection) -> Result<Self, IndexError> {
        let (file, step) = (FileId::of(path), schema::step(&db)?);
        Ok(Self { db, file, step, next: Next::new(), debt: Debt::default(), syncs: Syncs::of(path) })
    }
}

impl Index {
    /// Opens the index `search.db` in a folder to write it, and makes it if it is missing. What belongs to another inbox,
    /// has another format or is damaged is thrown away. `inbox` is what tells inboxes apart.
    ///
    /// # Errors
    /// Fails if the system refuses to make or open the file.
    pub fn open(directory: &Path, inbox: &str) -> Result<Self, IndexError> {
        let path = directory.join("search.db");
        let db = schema::open(&path, inbox)?;
        let done = schema::done(&db)?;
        Ok(Self::new(&path, inbox, Some(Writer::new(&path, db)?), done))
    }

    /// Opens the index that another process writes, or will write. It is only read: whatever would change it fails with
    /// [`IndexError::Closed`]. As long as it can't be read, so do searches.
    pub fn look(directory: &Path, inbox: &str) -> Self {
        Self::new(&directory.join("search.db"), inbox, None, 0)
    }

    fn new(path: &Path, inbox: &str, writer: Option<Writer>, done: i64) -> Self {
        let path: Arc<Path> = path.into();
        let shared = Shared {
            inbox: inbox.to_owned(),
            writer: Mutex::new(writer),
            readers: Readers::new(Arc::clone(&path)),
            anew: tokio::sync::RwLock::default(),
            done: done.into(),
            path,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Returns the sequence number up to which all events are in the index, as far as this process has written it.
    pub fn done(&self) -> i64 {
        self.shared.done.load(Ordering::Acquire)
    }

    /// Returns the name of the last [`Step`], as far as this process has written it; `None` if the index is empty or
    /// was closed.
    pub fn step(&self) -> Option<i64> {
        self.writer().as_ref().and_then(|writer| writer.step)
    }

    /// Whether the file that this process writes is still the one that others find.
    pub fn is_in_place(&self) -> bool {
        let writer = self.writer();
        writer.as_ref().is_some_and(|writer| writer.file == FileId::of(&self.shared.path))
    }

    /// Stores a step. Blocks the thread, which may be one of low priority.
    ///
    /// If what is whole since follows what is [done](Self::done), that grows. It doesn't if the index was rebuilt since
    /// the entries were read. What was stored of the texts of events that are removed leaves the file in the following
    /// [`tidy`](Self::tidy) steps, as soon as it is an eighth of a chunk or nothing was removed for ten seconds.
    ///
    /// # Errors
    /// Fails if SQLite does, if the index was closed, or if something else has written it ([`IndexError::Overtaken`]).
    pub fn write(&self, step: Step) -> Result<(), IndexError> {
        let mut writer = self.writer();
        let Writer { db, step: last, next, debt, syncs, .. } = writer.as_mut().ok_or(IndexError::Closed)?;
        syncs.suspend(db)?;
        let Step { name, removed, entries, whole } = step;
        let mut done = 0;
        transact(db, |db| {
            if schema::step(db)? != *last {
                return Err(IndexError::Overtaken);
            }
            done = schema::done(db)?;
            if let Some(whole) = whole.filter(|whole| whole.start <= done + 1) {
                done = done.max(whole.end - 1);
            }
            write::remove(db, next, &removed)?;
            let has_replaced = write::write(db, next, entries)?;
            debt.grows(has_replaced || !removed.is_empty());
            schema::set_step(db, name, done)
        })?;
        *last = Some(name);
        self.shared.done.store(done, Ordering::Release); // while the writer is held, so that a rebuild comes after it
        Ok(())
    }

    /// Does one step of upkeep, which takes a moment. Returns whether there is more to do at once. Blocks the thread.
    ///
    /// # Errors
    /// Fails if SQLite does, or if the index was closed.
    pub fn tidy(&self) -> Result<bool, IndexError> {
        let mut writer = self.writer();
        let Writer { db, debt, syncs, .. } = writer.as_mut().ok_or(IndexError::Closed)?;
        if !debt.is_paid() {
            syncs.suspend(db)?;
            return tidy::step(db, debt);
        }
        if syncs.are_due() {
            syncs.catch_up();
        }
        Ok(false)
    }

    /// Throws everything away and begins anew. Searches wait meanwhile, and then find what has been written since.
    ///
    /// # Errors
    /// Fails if the system refuses to change the file, or if the index was closed. After a failure it is closed.
    pub async fn rebuild(&self) -> Result<(), IndexError> {
        let _alone = self.shared.anew.write().await;
        let index = self.clone();
        blocking(move || {
            let mut writer = index.writer();
            drop(writer.take().ok_or(IndexError::Closed)?);
            let path = &index.shared.path;
            *writer = Some(Writer::new(path, schema::begin_anew(path, &index.shared.inbox)?)?);
            index.shared.done.store(0, Ordering::Release);
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
        self.shared.readers.close().await;
        let index = self.clone();
        let close = move || {
            *index.writer() = None;
            Ok(())
        };
        let _closed = blocking(close).await; // fails only if the runtime ends
    }

    /// Reads in one snapshot of the file.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, IndexError> {
        let _together = self.shared.anew.read().await;
        // A reader would make the file, and let others read it.
        if !self.shared.path.exists() {
            return Err(IndexError::Closed);
        }
        let index = self.clone();
        let checked = move |db: &Connection| {
            // A process that only looks may see a file that is being made anew, or has to be.
            let is_usable =
                syncs::is_whole(&index.shared.path) && schema::is_usable(db, &index.shared.inbox)?;
            if is_usable { read(db) } else { Err(IndexError::Closed) }
        };
        self.shared.readers.read(checked).await
    }

    fn writer(&self) -> MutexGuard<'_, Option<Writer>> {
        self.shared.writer.lock().unwrap_or_else(PoisonError::into_inner)
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
