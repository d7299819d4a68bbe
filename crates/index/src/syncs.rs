//! When the file is synced: not with each step, because captures wait for every sync of the disk.
//!
//! What a process has written outlives the process, but of what isn't synced a part may be missing once the machine has
//! stopped. So as long as something isn't, a note beside the file says in which run of the machine it was written; an
//! index from another run is thrown away. Systems that don't name their runs sync each step.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use crate::schema::beside;

/// How long nothing may be written before all is synced.
const QUIET: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(5) };

/// Whether what was written is on the disk.
#[derive(Debug)]
pub(crate) struct Syncs {
    path: PathBuf,
    /// When something was written last that isn't synced yet.
    unsynced: Option<Instant>,
}

impl Syncs {
    /// Takes over a file that an earlier process of this run of the machine may have left unsynced.
    pub(crate) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), unsynced: noted(path).map(|_| Instant::now()) }
    }

    /// Has what is written from now on wait for no sync, if that can be noted.
    pub(crate) fn suspend(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let Some(run) = run() else { return Ok(()) };
        if self.unsynced.replace(Instant::now()).is_none()
            && let Err(why) = note(&self.path, run)
        {
            tracing::debug!(%why, "the search index is synced with each step");
            self.unsynced = None;
            return db.pragma_update(None, "synchronous", "full");
        }
        db.pragma_update(None, "synchronous", "off")
    }

    /// Whether nothing was written for a while that isn't synced.
    pub(crate) fn are_due(&self) -> bool {
        self.unsynced.is_some_and(|since| since.elapsed() >= QUIET)
    }

    /// Syncs what was written. Nobody may write meanwhile.
    pub(crate) fn catch_up(&mut self) {
        let synced = ["", "-wal"].into_iter().try_for_each(|suffix| sync(&beside(&self.path, suffix)));
        match synced.and_then(|()| note(&self.path, "")) {
            Ok(()) => self.unsynced = None,
            Err(why) => tracing::debug!(%why, "the search index can't be synced now"),
        }
    }
}

impl Drop for Syncs {
    fn drop(&mut self) {
        if self.unsynced.is_some() {
            self.catch_up();
        }
    }
}

/// Whether all of the file can be there: it was synced, or written in this run of the machine.
pub(crate) fn is_whole(path: &Path) -> bool {
    let noted = noted(path);
    noted.is_none() || noted.as_deref() == run()
}

/// Notes that a file has nothing that isn't synced.
pub(crate) fn forget(path: &Path) -> io::Result<()> {
    note(path, "")
}

/// Names the present run of the machine.
fn run() -> Option<&'static str> {
    static RUN: OnceLock<Option<String>> = OnceLock::new();
    let read = || {
        let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(id.trim().to_owned()).filter(|id| !id.is_empty())
    };
    RUN.get_or_init(read).as_deref()
}

/// Returns the run of the machine in which something was written that isn't synced.
fn noted(path: &Path) -> Option<String> {
    let noted = fs::read_to_string(note_beside(path)).ok()?;
    Some(noted).filter(|noted| !noted.is_empty())
}

fn note(path: &Path, run: &str) -> io::Result<()> {
    let mut note = hookmitt_sqlite::private_file(&note_beside(path))?;
    note.set_len(0)?;
    note.write_all(run.as_bytes())?;
    note.sync_all()
}

/// The note is in the file whose lock is held while the index is opened. It is always there.
pub(crate) fn note_beside(path: &Path) -> PathBuf {
    path.with_extension("lock")
}

fn sync(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        file => file?.sync_all(),
    }
}
