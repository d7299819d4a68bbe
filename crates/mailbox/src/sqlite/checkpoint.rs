//! Keeps the write-ahead log small without stopping the writer for long.
//!
//! A thread copies the log into the file while the writer goes on (PASSIVE). The little that came in meanwhile the
//! writer copies between two commits, after which the log starts over.

use std::{
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

use super::schema::{self, unusable};
use crate::MailboxError;

/// The most that is kept of the log's file once it is copied; it grows beyond only while a reader holds it.
pub(super) const LOG_LIMIT: u64 = 128 * 1024 * 1024;

/// Bytes written between two copies of the log. A page that changes again and again in between is copied once.
const COPY_EVERY: u64 = 16 * 1024 * 1024;

/// So little the copying thread leaves for the writer to copy, if it can keep up.
const LEFT_OVER: u64 = 2 * 1024 * 1024;

/// How often it tries.
const PASSES: usize = 4;

/// From here the writer waits for readers to let go, rather than let the log grow to its limit.
const INSIST_AT: u64 = LOG_LIMIT / 2;

/// How long the writer waits for them.
const INSIST_FOR: Duration = Duration::from_secs(2);

/// How often it looks meanwhile whether the copying thread is done: SQLite doesn't wait for that by itself.
const INSIST_EVERY: Duration = Duration::from_millis(2);

/// What the writer and the copying thread tell each other.
pub(super) struct Pressure {
    since_copy: u64,
    /// Asks for a copy; none once it ends.
    copy: Option<SyncSender<()>>,
    copier: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// How large the log is, about: what the last look found, and what was handed to SQLite since.
    log: AtomicU64,
    /// Nearly all of it is copied.
    nearly: AtomicBool,
}

/// Starts the copying thread; it ends when the writer does.
pub(super) fn start(path: &Path) -> Result<Pressure, MailboxError> {
    let db = schema::writer(path).map_err(|why| unusable(path, &why))?;
    let (copy, asked) = sync_channel(1);
    let shared = Arc::new(Shared::default());
    let copier = Copier { db, shared: Arc::clone(&shared) };
    let copier = thread::Builder::new()
        .name("mailbox-checkpoint".to_owned())
        .spawn(move || copier.run(&asked))
        .map_err(|why| unusable(path, &why))?;
    Ok(Pressure { since_copy: 0, copy: Some(copy), copier: Some(copier), shared })
}

impl Pressure {
    /// Counts bytes handed to SQLite, and asks for a copy when they are many.
    pub(super) fn add(&mut self, bytes: u64) {
        self.shared.log.fetch_add(bytes, Ordering::Relaxed);
        self.since_copy += bytes;
        if self.since_copy >= COPY_EVERY {
            self.since_copy = 0;
            if let Some(copy) = &self.copy
                && matches!(copy.try_send(()), Err(TrySendError::Disconnected(())))
            {
                tracing::warn!("the log of the mailboxes is not copied any more");
            }
        }
    }

    /// Between two commits: copies the rest of a large log, so that the next commit starts it over.
    pub(super) fn relieve(&self, db: &Connection) {
        let size = self.shared.log.load(Ordering::Relaxed);
        let insist = size >= INSIST_AT;
        if !self.shared.nearly.swap(false, Ordering::Relaxed) && !insist {
            return;
        }
        match if insist { insist_on(db) } else { checkpoint(db, "PASSIVE", Duration::ZERO) } {
            Ok(Some(log)) => {
                self.shared.log.store(if log.rest == 0 { 0 } else { log.size }, Ordering::Relaxed);
            }
            Ok(None) => {} // the copying thread is at it
            Err(error) => tracing::warn!(%error, "the log of the mailboxes could not be copied"),
        }
    }
}

impl Drop for Pressure {
    /// Waits until the copying thread has let go of the file.
    fn drop(&mut self) {
        self.copy = None;
        if let Some(Err(_)) = self.copier.take().map(JoinHandle::join) {
            tracing::warn!("the thread that copies the log of the mailboxes panicked");
        }
    }
}

/// Waits until the whole log is copied and nobody reads from it, but not for ever.
fn insist_on(db: &Connection) -> rusqlite::Result<Option<Log>> {
    let started = Instant::now();
    loop {
        let left = INSIST_FOR.saturating_sub(started.elapsed());
        match checkpoint(db, "RESTART", left)? {
            None if !left.is_zero() => thread::sleep(INSIST_EVERY),
            log => return Ok(log),
        }
    }
}

struct Copier {
    db: Connection,
    shared: Arc<Shared>,
}

impl Copier {
    fn run(self, asked: &Receiver<()>) {
        while asked.recv().is_ok() {
            if let Err(error) = self.copy() {
                tracing::warn!(%error, "the log of the mailboxes could not be copied");
            }
        }
    }

    /// Copies until so little is left that the writer can copy that between two commits.
    fn copy(&self) -> rusqlite::Result<()> {
        for _ in 0..PASSES {
            let before = self.shared.log.load(Ordering::Relaxed);
            // Otherwise the writer is at it, or another process.
            if checkpoint(&self.db, "PASSIVE", Duration::ZERO)?.is_none() {
                return Ok(());
            }
            if self.shared.log.load(Ordering::Relaxed).saturating_sub(before) < LEFT_OVER {
                break;
            }
        }
        self.shared.nearly.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// The log after a checkpoint, in bytes.
struct Log {
    size: u64,
    rest: u64,
}

/// Copies what it may. `None`: another connection is at it.
fn checkpoint(db: &Connection, mode: &str, wait: Duration) -> rusqlite::Result<Option<Log>> {
    const PAGE: u64 = 4_096;
    db.busy_timeout(wait)?;
    let answer = db.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        let (frames, copied): (i64, i64) = (row.get(1)?, row.get(2)?);
        let bytes = |frames: i64| u64::try_from(frames).unwrap_or(0) * PAGE;
        Ok((frames >= 0).then(|| Log { size: bytes(frames), rest: bytes(frames - copied) }))
    });
    db.busy_timeout(schema::BUSY)?;
    answer
}
