//! When the file is synced: not with each step, because captures wait for every sync of the disk.
//!
//! What a process has written outlives the process, but of what isn't synced a part may be missing once the machine has
//! stopped. So as long as something isn't, a note beside the file says in which run of the machine it was written; an
//! index from another run is thrown away. Systems that don't name their runs sync each step.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, Instant, SystemTime},
};

use hookmitt_sqlite::beside;
use rusqlite::Connection;

/// How long nothing may be written before all is synced.
const QUIET: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(5) };

/// Whether what was written is on the disk.
#[derive(Debug)]
pub(crate) struct Syncs {
    path: PathBuf,
    /// What this writer notes: the run of the machine, and what no other writer notes. `None` if the run has no name.
    note: Option<String>,
    /// Whether it has noted that.
    is_noted: bool,
    /// When something was written last that isn't synced yet.
    unsynced: Option<Instant>,
}

impl Syncs {
    /// Takes over a file that an earlier process of this run of the machine may have left unsynced.
    pub(crate) fn of(path: &Path) -> Self {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let note = run().map(|run| format!("{run} {}-{since}", std::process::id()));
        let mut syncs = Self { path: path.to_owned(), note, is_noted: false, unsynced: None };
        if noted(path).is_some() {
            syncs.begin();
        }
        syncs
    }

    /// Has what is written from now on wait for no sync, if that can be noted.
    pub(crate) fn suspend(&mut self, db: &Connection) -> rusqlite::Result<()> {
        self.begin();
        db.pragma_update(None, "synchronous", if self.is_noted { "off" } else { "full" })
    }

    /// Notes that something is written.
    fn begin(&mut self) {
        self.unsynced = Some(Instant::now());
        if let Some(own) = self.note.as_deref().filter(|_| !self.is_noted) {
            let noted = note(&self.path, own);
            self.is_noted = noted.is_ok();
            let _told =
                noted.inspect_err(|why| tracing::debug!(%why, "the search index is synced at each step"));
        }
    }

    /// Whether nothing was written for a while that isn't synced.
    pub(crate) fn are_due(&self) -> bool {
        self.unsynced.is_some_and(|since| since.elapsed() >= QUIET)
    }

    /// Syncs what was written. This process must not write meanwhile; if another one has begun to, its note stays.
    pub(crate) fn catch_up(&mut self) {
        let synced = ["", "-wal"].into_iter().try_for_each(|suffix| sync(&beside(&self.path, suffix)));
        match synced.and_then(|()| self.take_back()) {
            Ok(()) => (self.is_noted, self.unsynced) = (false, None),
            Err(why) => tracing::debug!(%why, "the search index can't be synced now"),
        }
    }

    /// Takes the note back, if it is this writer's.
    fn take_back(&self) -> io::Result<()> {
        let (mut file, mut noted) = (locked(&self.path)?, String::new());
        file.read_to_string(&mut noted)?;
        if self.note.as_deref() == Some(&noted) {
            file.set_len(0)?;
            file.sync_all()?;
        }
        Ok(())
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
    noted(path).is_none_or(|noted| run().is_some_and(|run| noted.split(' ').next() == Some(run)))
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

/// Returns what is noted of what isn't synced.
fn noted(path: &Path) -> Option<String> {
    let noted = fs::read_to_string(note_beside(path)).ok()?;
    Some(noted).filter(|noted| !noted.is_empty())
}

fn note(path: &Path, text: &str) -> io::Result<()> {
    let mut file = locked(path)?;
    file.write_all(text.as_bytes())?; // over an earlier note of the same run, which so is there all the time
    file.set_len(text.len() as u64)?;
    file.sync_all()
}

fn locked(path: &Path) -> io::Result<File> {
    let file = hookmitt_sqlite::private_file(&note_beside(path))?;
    file.lock()?;
    Ok(file)
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
