//! Room on the disk that a store leaves free, for what settles and frees.
//!
//! A store that filled its disk to the last byte could neither copy its log, nor write down what was delivered, nor
//! delete it: nothing would ever come free again.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, Error, ffi};

/// What is left free of a large disk, in bytes.
const RESERVE: u64 = 32 * 1024 * 1024;

/// And of a small one: this part of it.
const PART: u64 = 8;

/// What a job takes beside its own bytes: the pages of its rows and their indexes.
const PAGES: u64 = 4 * 4_096;

/// The disk that holds a store.
#[derive(Debug)]
pub(crate) struct Room {
    folder: PathBuf,
    log: PathBuf,
}

impl Room {
    pub(crate) fn of(file: &Path) -> Self {
        let folder = file.parent().unwrap_or(Path::new(".")).to_owned();
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        Self { folder, log: log.into() }
    }

    /// How many bytes may be added. Where the system doesn't say how much is free, it is tried.
    pub(crate) fn left(&self, db: &Connection) -> u64 {
        let Some(disk) = Disk::of(&self.folder) else { return u64::MAX };
        let (reserve, log) = (disk.reserve(), self.log());
        let growing = disk.free.saturating_sub(reserve).saturating_sub(log); // what the log holds goes into the file
        if growing > reserve {
            return growing;
        }
        // Into pages of the file that are empty: only the log grows, and half the reserve does for copying it.
        let inside = empty(db).saturating_sub(log).min(disk.free.saturating_sub(reserve / 2));
        growing.max(inside)
    }

    /// Whether there would be more if the log were copied and cut off.
    pub(crate) fn is_in_log(&self) -> bool {
        Disk::of(&self.folder).is_some_and(|disk| self.log() >= disk.reserve() / 4)
    }

    /// In bytes.
    fn log(&self) -> u64 {
        fs::metadata(&self.log).map_or(0, |log| log.len())
    }
}

/// The bytes of a file's empty pages.
fn empty(db: &Connection) -> u64 {
    let number = |pragma| db.pragma_query_value(None, pragma, |row| row.get::<_, u64>(0));
    number("freelist_count").and_then(|pages| Ok(pages * number("page_size")?)).unwrap_or(0)
}

/// What a job of that weight takes: once in the log, and once in the file. Nothing where it adds nothing.
pub(crate) fn takes(weight: usize) -> u64 {
    if weight == 0 { 0 } else { (weight as u64).saturating_add(PAGES).saturating_mul(2) }
}

/// What a job is told for which there is no room: as SQLite says it.
pub(crate) fn full() -> Error {
    let says = "what is free of the disk is left for what was stored";
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), Some(says.to_owned()))
}

/// In bytes.
struct Disk {
    total: u64,
    /// For this user.
    free: u64,
}

impl Disk {
    fn reserve(&self) -> u64 {
        RESERVE.min(self.total / PART)
    }

    #[cfg(unix)]
    fn of(folder: &Path) -> Option<Self> {
        let disk = rustix::fs::statvfs(folder).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
        Some(Self { total: bytes(disk.f_blocks), free: bytes(disk.f_bavail) })
    }

    #[cfg(not(unix))]
    fn of(_: &Path) -> Option<Self> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_a_log_holds_is_not_given_away_twice() {
        const LARGE: u64 = 1024 * 1024 * 1024;
        let folder = tempfile::tempdir().unwrap();
        let (room, db) = (Room::of(&folder.path().join("store.db")), Connection::open_in_memory().unwrap());
        assert!(!room.is_in_log());
        let before = room.left(&db);
        let log = fs::File::create(folder.path().join("store.db-wal")).unwrap();
        log.set_len(LARGE).unwrap(); // takes no room by itself
        assert!(room.is_in_log());
        assert!(room.left(&db) < before.saturating_sub(LARGE / 2), "{} of {before}", room.left(&db));
    }

    #[test]
    fn what_settles_needs_no_room() {
        assert_eq!(takes(0), 0);
        assert!(takes(1) > 2 * 4_096);
        assert!(takes(1_000_000) > 2_000_000);
    }
}
