//! Keeps the write-ahead log small without stopping the writer for long.
//!
//! A thread copies the log into the database file while the writer goes on (a PASSIVE checkpoint). The writer copies
//! the small rest between two commits, after which the log starts over from its beginning.

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
use tokio::sync::oneshot;

use crate::{
    file::{self, BUSY, LOG_LIMIT},
    gate::Gate,
    job::Cut,
};

/// Bytes written between two copies of the log. A page that changes many times in between, such as a page of the keys'
/// index, is copied only once.
const COPY_EVERY: u64 = 32 * 1024 * 1024;

/// The size of the log, in bytes, from which on it is made to start over.
const RESTART_AT: u64 = COPY_EVERY / 2;

/// How long the writer then waits for readers. It is little, but longer than searches hold on to the log.
const RESTART_FOR: Duration = Duration::from_millis(25);

/// The copying thread stops once fewer bytes than this are left to copy; the writer copies the rest between two
/// commits.
const LEFT_OVER: u64 = 2 * 1024 * 1024;

/// After so many passes the copying thread stops in any case.
const PASSES: usize = 4;

/// From this size on, in bytes, the writer waits for readers to let go of the log, so that it doesn't grow to its
/// limit. It is well above two copies, because the writer would wait for a copy that goes on, too.
const INSIST_AT: u64 = LOG_LIMIT / 4 * 3;

/// The longest time that the writer waits for readers so that the log can start over.
const INSIST_FOR: Duration = Duration::from_secs(2);

/// The longest time that the writer waits for readers so that the log can be truncated: on a disk that is nearly full, and
/// where it can as well be done later.
const CUT_OFF_FOR: Duration = Duration::from_millis(200);
const CUT_FOR: Duration = Duration::from_millis(8);

/// How often the writer checks meanwhile whether another connection is still copying. SQLite's busy timeout doesn't
/// cover that.
const INSIST_EVERY: Duration = Duration::from_millis(2);

/// The writer's side of the log's upkeep: it counts what is written and asks the copying thread for copies.
#[derive(Debug)]
pub(crate) struct Pressure {
    since_copy: u64,
    /// Asks the copying thread for a copy. `None` once the thread is told to end.
    copy: Option<SyncSender<()>>,
    copier: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
    /// Those who wait for the log to be copied and cut.
    waiting: Option<Waiting>,
    gate: Gate,
}

/// Those who wait for a cut, and how often the log had been copied when they came.
#[derive(Debug)]
struct Waiting {
    asks: Vec<oneshot::Sender<bool>>,
    copies: u64,
}

#[derive(Debug, Default)]
struct Shared {
    /// The approximate size of the log, in bytes: its size at the last checkpoint, plus what was handed to SQLite since
    /// then.
    log: AtomicU64,
    /// Set when the copying thread has copied nearly all of the log.
    nearly: AtomicBool,
    /// How often the copying thread has done what it was asked for.
    copies: AtomicU64,
}

impl Pressure {
    /// Starts the copying thread, which ends when this value is dropped. After each copy it calls `wake`, which wakes
    /// an idle writer and must not block.
    pub(crate) fn start(path: &Path, gate: Gate, wake: impl Fn() + Send + 'static) -> io::Result<Self> {
        let db = file::durable(path).map_err(io::Error::other)?;
        let (copy, asked) = sync_channel(1);
        let shared = Arc::new(Shared::default());
        let copier = Copier { db, shared: Arc::clone(&shared), wake };
        let copier =
            thread::Builder::new().name("sqlite-log".to_owned()).spawn(move || copier.run(&asked))?;
        Ok(Self { since_copy: 0, copy: Some(copy), copier: Some(copier), shared, waiting: None, gate })
    }

    /// Counts bytes handed to SQLite, and asks for a copy when enough have been written.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.shared.log.fetch_add(bytes, Ordering::Relaxed);
        self.since_copy += bytes;
        if self.since_copy >= COPY_EVERY {
            self.copy();
        }
    }

    /// Truncates the log for those who asked for it, once it has been copied since they did. The writer calls it between
    /// two commits.
    pub(crate) fn cut_for(&mut self, db: &Connection, cut: &Cut) {
        let copies = self.shared.copies.load(Ordering::Acquire);
        if let Some(Waiting { asks, .. }) = self.waiting.take_if(|waiting| copies > waiting.copies) {
            let is_cut = self.truncate(db, CUT_FOR);
            for asks in asks {
                let _gone = asks.send(is_cut);
            }
        }
        if self.waiting.is_none() {
            let asks = cut.take();
            if !asks.is_empty() {
                self.waiting = Some(Waiting { asks, copies });
                self.copy();
            }
        }
    }

    /// Asks the copying thread for a copy.
    fn copy(&mut self) {
        self.since_copy = 0;
        if let Some(copy) = &self.copy
            && matches!(copy.try_send(()), Err(TrySendError::Disconnected(())))
        {
            tracing::warn!("the write-ahead log is no longer copied");
        }
    }

    /// Copies the rest of a large log, so that the next commit starts the log over. The writer calls it between two
    /// commits.
    pub(crate) fn relieve(&self, db: &Connection) {
        let size = self.shared.log.load(Ordering::Relaxed);
        let nearly = self.shared.nearly.load(Ordering::Relaxed);
        if size < RESTART_AT || !nearly && size < INSIST_AT {
            return;
        }
        if !self.gate.is_cleared() && size < INSIST_AT {
            return; // the next commit tries again
        }
        self.shared.nearly.store(false, Ordering::Relaxed);
        match if size < INSIST_AT { checkpoint(db, "RESTART", RESTART_FOR) } else { insist(db) } {
            Ok(Some(log)) => {
                self.shared.log.store(log.left(), Ordering::Relaxed);
            }
            Ok(None) => {} // another connection is copying
            Err(error) => tracing::warn!(%error, "the write-ahead log could not be copied"),
        }
        self.gate.open();
    }

    /// Copies the log and truncates it to nothing, on a disk that is nearly full. Returns whether that succeeded. The
    /// writer calls it between two commits.
    pub(crate) fn cut_off(&self, db: &Connection) -> bool {
        self.truncate(db, CUT_OFF_FOR)
    }

    /// Copies the log and truncates it to nothing, after waiting so long for readers at most. Returns whether that
    /// succeeded.
    fn truncate(&self, db: &Connection, wait: Duration) -> bool {
        self.gate.is_cleared();
        let is_cut = match checkpoint(db, "TRUNCATE", wait) {
            Ok(Some(log)) => {
                self.shared.log.store(log.left(), Ordering::Relaxed);
                log.left() == 0
            }
            Ok(None) => false, // another connection is copying
            Err(error) => {
                tracing::debug!(%error, "the write-ahead log could not be truncated");
                false
            }
        };
        self.gate.open();
        is_cut
    }
}

impl Drop for Pressure {
    /// Waits until the copying thread has ended and closed its connection.
    fn drop(&mut self) {
        self.copy = None;
        if let Some(Err(_)) = self.copier.take().map(JoinHandle::join) {
            tracing::warn!("the thread that copies the write-ahead log failed");
        }
    }
}

/// Waits until the whole log is copied and nobody reads from it, but at most [`INSIST_FOR`].
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
            self.shared.copies.fetch_add(1, Ordering::Release);
            (self.wake)();
        }
    }

    /// Copies the log until so little is left that the writer can copy the rest between two commits.
    fn copy(&self) -> rusqlite::Result<()> {
        for pass in 1..=PASSES {
            let before = self.shared.log.load(Ordering::Relaxed);
            // `None` means that the writer or another process is copying.
            let Some(log) = checkpoint(&self.db, "PASSIVE", Duration::ZERO)? else { return Ok(()) };
            // `log` doesn't count what was written during the copy.
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

/// The state of the log after a checkpoint.
struct Log {
    size: u64,
    /// Whether the next commit is appended to the log, because somebody reads from it or not all of it is copied.
    /// Otherwise the log starts over.
    goes_on: bool,
}

impl Log {
    /// Returns the size of the log that the next commit is appended to, in bytes: zero if the log starts over.
    fn left(&self) -> u64 {
        if self.goes_on { self.size } else { 0 }
    }
}

/// Runs a checkpoint in the given mode. Returns `None` if another connection is running one.
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        Background, Jobs, Readers, Writer, is_called_out,
        plain::{Failure, Plain},
        prepare,
    };

    const LETTER: u64 = 1024 * 1024;

    /// Writes letters; if the log never started over, it would have all of them. Returns how large the log became, in
    /// bytes: its file keeps the size.
    async fn written(jobs: &Jobs<Plain>, log: &Path) -> u64 {
        for _ in 0..200 {
            let letter = |db: &Connection, _: &mut Plain| {
                Ok(db.execute("INSERT INTO letter VALUES (randomblob(?1))", [LETTER])?)
            };
            jobs.write(letter).await.unwrap();
        }
        fs::metadata(log).unwrap().len()
    }

    /// Reads one thing after the other, as a page of a search does.
    fn page(db: &Connection) -> Result<(), Failure> {
        const SQL: &str = "WITH RECURSIVE n (n) AS
            (SELECT count(*) FROM letter UNION ALL SELECT n + 1 FROM n LIMIT 500) SELECT max(n) FROM n";
        for _ in 0..100 {
            db.query_row(SQL, [], |_| Ok(()))?;
            if is_called_out() {
                break;
            }
        }
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_search_that_goes_on_and_on_lets_the_log_start_over() {
        let folder = tempfile::tempdir().unwrap();
        let (path, log) = (folder.path().join("letters.db"), folder.path().join("letters.db-wal"));
        let schema = "CREATE TABLE letter (a); PRAGMA user_version = 1";
        prepare(&path, &folder.path().join("lock"), &[schema]).unwrap();
        let jobs = Writer::open(&path, Plain(LETTER)).unwrap().start("writer").unwrap();
        let readers: Readers<Failure> = Readers::watched(path.as_path().into(), jobs.gate(), |_| ());
        let background = Background::start("search").unwrap();
        let search = async {
            loop {
                readers.read_on(&background, page).await.unwrap();
            }
        };
        let largest = tokio::select! {
            largest = written(&jobs, &log) => largest,
            never = search => never,
        };
        assert!(largest < INSIST_AT, "the log has {} MiB", largest / LETTER);
    }
}
