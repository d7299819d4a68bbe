//! Keeps the write-ahead log small without stopping the writer for long.
//!
//! A thread copies the log into the file while the writer goes on (PASSIVE). The little that came in meanwhile the
//! writer copies between two commits, after which the log starts over.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rusqlite::Connection;

use crate::file::{self, BUSY, LOG_LIMIT};

/// Bytes written between two copies of the log. A page that changes again and again in between, such as one of the
/// keys' index, is copied once.
const COPY_EVERY: u64 = 32 * 1024 * 1024;

/// The log's size, in bytes, from which it is made to start over.
const RESTART_AT: u64 = COPY_EVERY / 2;

/// So little the copying thread leaves for the writer to copy, if it can keep up.
const LEFT_OVER: u64 = 2 * 1024 * 1024;

/// How often it tries.
const PASSES: usize = 4;

/// From here the writer waits for readers to let go, rather than let the log grow to its limit.
const INSIST_AT: u64 = LOG_LIMIT / 2;

/// How long the writer waits for them.
const INSIST_FOR: Duration = Duration::from_secs(2);

/// How long the writer waits for them to cut off the log.
const CUT_OFF_FOR: Duration = Duration::from_millis(200);

/// How often it looks meanwhile whether another copies: SQLite doesn't wait for that by itself.
const INSIST_EVERY: Duration = Duration::from_millis(2);

/// What the writer and the copying thread tell each other.
#[derive(Debug)]
pub(crate) struct Pressure {
    since_copy: u64,
    /// Asks for a copy; none once it ends.
    copy: Option<SyncSender<()>>,
    copier: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// How large the log is, about: what the last look found, and what was handed to SQLite since.
    log: AtomicU64,
    /// Nearly all of it is copied.
    nearly: AtomicBool,
}

impl Pressure {
    /// Starts the copying thread; it ends when this is dropped. `wake` makes a writer that has nothing to do look up,
    /// and mustn't block.
    pub(crate) fn start(path: &Path, wake: impl Fn() + Send + 'static) -> io::Result<Self> {
        let db = file::durable(path).map_err(io::Error::other)?;
        let (copy, asked) = sync_channel(1);
        let shared = Arc::new(Shared::default());
        let copier = Copier { db, shared: Arc::clone(&shared), wake };
        let copier =
            thread::Builder::new().name("sqlite-log".to_owned()).spawn(move || copier.run(&asked))?;
        Ok(Self { since_copy: 0, copy: Some(copy), copier: Some(copier), shared })
    }

    /// Counts bytes handed to SQLite, and asks for a copy when they are many.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.shared.log.fetch_add(bytes, Ordering::Relaxed);
        self.since_copy += bytes;
        if self.since_copy >= COPY_EVERY {
            self.since_copy = 0;
            if let Some(copy) = &self.copy
                && matches!(copy.try_send(()), Err(TrySendError::Disconnected(())))
            {
                tracing::warn!("the write-ahead log is not copied any more");
            }
        }
    }

    /// Between two commits: copies the rest of a large log, so that the next commit starts it over.
    pub(crate) fn relieve(&self, db: &Connection) {
        let size = self.shared.log.load(Ordering::Relaxed);
        let nearly = self.shared.nearly.swap(false, Ordering::Relaxed);
        if size < RESTART_AT || !nearly && size < INSIST_AT {
            return;
        }
        match if size < INSIST_AT { checkpoint(db, "PASSIVE", Duration::ZERO) } else { insist(db) } {
            Ok(Some(log)) => {
                self.shared.log.store(log.left(), Ordering::Relaxed);
            }
            Ok(None) => {} // the copying thread is at it
            Err(error) => tracing::warn!(%error, "the write-ahead log could not be copied"),
        }
    }

    /// Between two commits, on a disk that is nearly full: copies the log and cuts it off. Answers whether it is.
    pub(crate) fn cut_off(&self, db: &Connection) -> bool {
        match checkpoint(db, "TRUNCATE", CUT_OFF_FOR) {
            Ok(Some(log)) => {
                self.shared.log.store(log.left(), Ordering::Relaxed);
                log.left() == 0
            }
            Ok(None) => false, // the copying thread is at it
            Err(error) => {
                tracing::debug!(%error, "the write-ahead log could not be cut off");
                false
            }
        }
    }
}

impl Drop for Pressure {
    /// Waits until the copying thread has let go of the file.
    fn drop(&mut self) {
        self.copy = None;
        if let Some(Err(_)) = self.copier.take().map(JoinHandle::join) {
            tracing::warn!("the thread that copies the write-ahead log panicked");
        }
    }
}

/// Waits until the whole log is copied and nobody reads from it, but not for ever.
fn insist(db: &Connection) -> rusqlite::Result<Option<Log>> {
    let started = Instant::now();
    loop {
        let left = INSIST_FOR.saturating_sub(started.elapsed());
        match checkpoint(db, "RESTART", left)? {
            None if !left.is_zero() => thread::sleep(INSIST_EVERY),
            log => return Ok(log),
        }
    }
}

struct Copier<W> {
    db: Connection,
    shared: Arc<Shared>,
    wake: W,
}

impl<W: Fn()> Copier<W> {
    fn run(self, asked: &Receiver<()>) {
        while asked.recv().is_ok() {
            if let Err(error) = self.copy() {
                tracing::warn!(%error, "the write-ahead log could not be copied");
            }
            (self.wake)();
        }
    }

    /// Copies until so little is left that the writer can copy that between two commits.
    fn copy(&self) -> rusqlite::Result<()> {
        for pass in 1..=PASSES {
            let before = self.shared.log.load(Ordering::Relaxed);
            // Otherwise the writer is at it, or another process.
            let Some(log) = checkpoint(&self.db, "PASSIVE", Duration::ZERO)? else { return Ok(()) };
            // What was written while we copied is not in `log`.
            let since = |now: u64| now.saturating_sub(before);
            let update = |now| Some(log.size + since(now));
            let now =
                self.shared.log.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update).unwrap_or(before);
            if since(now) < LEFT_OVER || pass == PASSES {
                self.shared.nearly.store(true, Ordering::Relaxed);
                break;
            }
        }
        Ok(())
    }
}

/// The log after a checkpoint, in bytes.
struct Log {
    size: u64,
    /// Somebody reads from it, or it isn't copied whole: it goes on where it is.
    goes_on: bool,
}

impl Log {
    /// What the next commit finds before it.
    fn left(&self) -> u64 {
        if self.goes_on { self.size } else { 0 }
    }
}

/// Copies what it may. `None`: another connection is at it.
fn checkpoint(db: &Connection, mode: &str, wait: Duration) -> rusqlite::Result<Option<Log>> {
    const PAGE: u64 = 4_096;
    db.busy_timeout(wait)?;
    let answer = db.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        let (is_busy, frames, copied): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let size = u64::try_from(frames).unwrap_or(0) * PAGE;
        Ok((frames >= 0).then_some(Log { size, goes_on: is_busy || copied < frames }))
    });
    db.busy_timeout(BUSY)?;
    answer
}
