//! Keeps the write-ahead log small without stopping the writer for long.
//!
//! A thread copies the log into the file while the writer goes on (PASSIVE); the little that came in meanwhile is
//! copied by the writer between two commits, after which the log starts over.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::{mpsc, watch};

use crate::{
    InboxError, schema,
    writer::{Batch, Job, WAL_LIMIT},
};

/// Bytes written between two copies of the log. A page that changes again and again in between, such as one of the
/// keys' index, is copied once.
const LOOK_EVERY: u64 = 32 * 1024 * 1024;

/// The log's size, in bytes, from which it is made to start over.
const RESTART_AT: u64 = LOOK_EVERY / 2;

/// So little the copying thread leaves for the writer to copy, if it can keep up.
const LEFT_OVER: u64 = 2 * 1024 * 1024;

/// How often it tries.
const PASSES: usize = 4;

/// From here the writer waits for readers to let go, rather than let the log grow to its limit.
const INSIST_AT: u64 = WAL_LIMIT / 2;

/// How long the writer waits for them.
const INSIST_FOR: Duration = Duration::from_secs(2);

/// How often it looks meanwhile whether another copies: SQLite doesn't wait for that by itself.
const INSIST_EVERY: Duration = Duration::from_millis(2);

/// What the writer and the copying thread tell each other.
pub(crate) struct Pressure {
    since_look: u64,
    look: watch::Sender<()>,
    /// How large the log is, about: what the last look found, and what was written since.
    log_size: Arc<AtomicU64>,
    /// Nearly all of it is copied.
    nearly: Arc<AtomicBool>,
}

impl Pressure {
    /// Counts bytes handed to SQLite.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.log_size.fetch_add(bytes, Ordering::Relaxed);
        self.since_look += bytes;
        if self.since_look >= LOOK_EVERY {
            self.since_look = 0;
            self.look.send_replace(());
        }
    }

    /// Between two commits: copies the rest of a large log, so that the next commit starts it over.
    pub(crate) fn relieve(&self, db: &Connection) {
        let size = self.log_size.load(Ordering::Relaxed);
        let nearly = self.nearly.swap(false, Ordering::Relaxed);
        if size < RESTART_AT || !nearly && size < INSIST_AT {
            return;
        }
        match if size < INSIST_AT { checkpoint(db, "PASSIVE", Duration::ZERO) } else { insist(db) } {
            Ok(Some(log)) => self.log_size.store(if log.rest == 0 { 0 } else { log.size }, Ordering::Relaxed),
            Ok(None) => {} // the copying thread is at it
            Err(error) => tracing::warn!(%error, "the write-ahead log could not be copied into the inbox"),
        }
    }
}

/// Waits until the whole log is copied and nobody reads from it, but not for ever.
fn insist(db: &Connection) -> Result<Option<Log>, InboxError> {
    let started = Instant::now();
    loop {
        let left = INSIST_FOR.saturating_sub(started.elapsed());
        match checkpoint(db, "RESTART", left)? {
            None if !left.is_zero() => thread::sleep(INSIST_EVERY),
            log => return Ok(log),
        }
    }
}

/// Starts the copying thread; it ends when the writer does.
pub(crate) fn start(path: &Path, jobs: mpsc::WeakSender<Box<dyn Job>>) -> Result<Pressure, InboxError> {
    let db = schema::writer(path)?;
    let (look, looked_at) = watch::channel(());
    let log_size = Arc::new(AtomicU64::new(0));
    let nearly = Arc::new(AtomicBool::new(false));
    let copier = Copier { db, log_size: Arc::clone(&log_size), nearly: Arc::clone(&nearly), jobs };
    let failed = |why: std::io::Error| InboxError::Open { path: path.to_owned(), why: why.to_string() };
    thread::Builder::new()
        .name("inbox-checkpoint".to_owned())
        .spawn(move || copier.run(looked_at))
        .map_err(failed)?;
    Ok(Pressure { since_look: 0, look, log_size, nearly })
}

struct Copier {
    db: Connection,
    log_size: Arc<AtomicU64>,
    nearly: Arc<AtomicBool>,
    jobs: mpsc::WeakSender<Box<dyn Job>>,
}

impl Copier {
    fn run(self, mut look: watch::Receiver<()>) {
        let Ok(waiting) = tokio::runtime::Builder::new_current_thread().build() else { return };
        while waiting.block_on(look.changed()).is_ok() {
            if let Err(error) = self.copy() {
                tracing::warn!(%error, "the write-ahead log could not be copied into the inbox");
            }
        }
    }

    /// Copies until so little is left that the writer can copy that between two commits.
    fn copy(&self) -> Result<(), InboxError> {
        for pass in 1..=PASSES {
            let before = self.log_size.load(Ordering::Relaxed);
            // Otherwise the writer is at it, or another process.
            let Some(log) = checkpoint(&self.db, "PASSIVE", Duration::ZERO)? else { return Ok(()) };
            // What was written while we copied is not in `log`.
            let since = |now: u64| now.saturating_sub(before);
            let update = |now| Some(log.size + since(now));
            let now =
                self.log_size.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update).unwrap_or(before);
            if since(now) < LEFT_OVER || pass == PASSES {
                self.nearly.store(true, Ordering::Relaxed);
                break;
            }
        }
        if let Some(jobs) = self.jobs.upgrade() {
            // Wakes a writer that has nothing to do. A full queue means that it is awake.
            let _awake = jobs.try_send(Box::new(Wake));
        }
        Ok(())
    }
}

/// A job that only makes the writer look up.
struct Wake;

impl Job for Wake {
    fn run(&mut self, _: &mut Batch<'_>) -> Result<(), InboxError> {
        Ok(())
    }

    fn tell(self: Box<Self>, _: Result<(), InboxError>) {}
}

/// The log after a checkpoint, in bytes.
struct Log {
    size: u64,
    rest: u64,
}

/// Copies what it may. `None`: another connection is at it.
fn checkpoint(db: &Connection, mode: &str, wait: Duration) -> Result<Option<Log>, InboxError> {
    const PAGE: u64 = 4_096;
    db.busy_timeout(wait)?;
    let answer = db.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        let (frames, copied): (i64, i64) = (row.get(1)?, row.get(2)?);
        let bytes = |frames: i64| u64::try_from(frames).unwrap_or(0) * PAGE;
        Ok((frames >= 0).then(|| Log { size: bytes(frames), rest: bytes(frames - copied) }))
    });
    db.busy_timeout(schema::BUSY)?;
    Ok(answer?)
}
