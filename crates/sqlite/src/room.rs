//! How much of the disk a store leaves free.
//!
//! A store that fills its disk to the last byte can't copy its log into its file, record what was delivered or delete
//! anything, so it could never make room again. Therefore jobs that add something are refused if they would use the
//! last free bytes, the reserve. Jobs that settle or free something may use it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, Error, ffi};

/// How many bytes are left free on a large disk.
const RESERVE: u64 = 32 * 1024 * 1024;

/// On a small disk, this fraction is left free: an eighth.
const PART: u64 = 8;

/// How many bytes a job takes beside its own: the pages of its rows and their indexes.
const PAGES: u64 = 4 * 4_096;

/// If fewer bytes than this may be added, the log is kept short. It is room for one group and the largest request, once
/// in the log and once in the file.
const AMPLE: u64 = 64 * 1024 * 1024;

/// Returns how many bytes may be added to the disk that holds a file, so that the reserve is left. `None` if the system
/// doesn't say how much is free.
pub fn free_beside(file: &Path) -> Option<u64> {
    Disk::of(file).map(|disk| disk.may_grow(0))
}

/// The disk that holds a store.
#[derive(Debug)]
pub(crate) struct Room {
    file: PathBuf,
    log: PathBuf,
}

impl Room {
    pub(crate) fn of(file: &Path) -> Self {
        Self { file: file.to_owned(), log: crate::beside(file, "-wal") }
    }

    /// Returns how many bytes may be added. There is no limit if the system doesn't say how much is free.
    pub(crate) fn may_add(&self, db: &Connection) -> u64 {
        let Some(disk) = Disk::of(&self.file) else { return u64::MAX };
        let (reserve, log) = (disk.reserve(), self.log());
        let by_growing = disk.may_grow(log);
        if by_growing > reserve {
            return by_growing;
        }
        // Data that fits into empty pages of the file makes only the log grow. Copying that log into the file needs at
        // most half the reserve.
        let in_empty_pages = empty(db).saturating_sub(log).min(disk.free.saturating_sub(reserve / 2));
        by_growing.max(in_empty_pages)
    }

    /// Whether truncating the log would make room that is needed.
    pub(crate) fn is_log_in_the_way(&self) -> bool {
        let log = self.log();
        Disk::of(&self.file).is_some_and(|disk| disk.may_grow(log) < AMPLE && log >= disk.reserve() / 4)
    }

    /// The log's size, in bytes.
    fn log(&self) -> u64 {
        fs::metadata(&self.log).map_or(0, |log| log.len())
    }
}

/// What a store takes of its disk, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// The file.
    pub file: u64,
    /// The file's log.
    pub log: u64,
    /// The disk itself; `None` if the system doesn't say.
    pub disk: Option<Disk>,
}

/// Returns what a store's file and log take of their disk.
pub fn space(file: &Path) -> Space {
    let size = fs::metadata(file).map_or(0, |file| file.len());
    Space { file: size, log: Room::of(file).log(), disk: Disk::of(file) }
}

/// Returns the size of a file's empty pages, in bytes.
fn empty(db: &Connection) -> u64 {
    let number = |pragma| db.pragma_query_value(None, pragma, |row| row.get::<_, u64>(0));
    number("freelist_count").and_then(|pages| Ok(pages * number("page_size")?)).unwrap_or(0)
}

/// Returns how many bytes a job of that weight takes: its own and the pages around them, once in the log and once in
/// the file. A job that adds nothing takes none.
pub(crate) fn takes(weight: usize) -> u64 {
    if weight == 0 { 0 } else { (weight as u64).saturating_add(PAGES).saturating_mul(2) }
}

/// Returns the error of a job for which there is no room. It looks like SQLite's own error for a full disk.
pub(crate) fn full() -> Error {
    let says = "the rest of the disk is reserved for what is already stored";
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), Some(says.to_owned()))
}

/// A disk is nearly full if less than a twentieth of it can still be used, or less than this many bytes, whichever is
/// less.
const NEARLY: u64 = 1024 * 1024 * 1024;
const NEARLY_PART: u64 = 20;

/// The size of a disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    /// How much it holds.
    pub total: u64,
    /// What an ordinary user may still use; some file systems keep a part for root.
    pub free: u64,
}

impl Disk {
    /// Whether stores on this disk will soon refuse what comes.
    pub fn is_nearly_full(self) -> bool {
        self.usable() < self.nearly()
    }

    /// Returns how many bytes have to be freed before the disk is no longer nearly full, and a little more; 0 if it
    /// isn't.
    pub fn lacks(self) -> u64 {
        let nearly = self.nearly();
        if self.is_nearly_full() { nearly + nearly / 8 - self.usable() } else { 0 }
    }

    /// Whether so little is free that work which can wait has to: it may take as much as the reserve before it looks
    /// again.
    pub fn is_tight(self) -> bool {
        self.free < self.reserve() * 2
    }

    /// Whether the reserve itself is being used up, so that what can be thrown away should be.
    pub fn is_short(self) -> bool {
        self.free < self.reserve() / 4 * 3
    }

    /// Returns how many bytes a store may still add.
    pub fn usable(self) -> u64 {
        self.may_grow(0)
    }

    fn nearly(self) -> u64 {
        NEARLY.min(self.total / NEARLY_PART)
    }

    fn reserve(self) -> u64 {
        RESERVE.min(self.total / PART)
    }

    /// Returns how many bytes the store may add, if a log of `log` bytes still has to be copied into its file.
    fn may_grow(self, log: u64) -> u64 {
        self.free.saturating_sub(self.reserve()).saturating_sub(log)
    }

    /// Returns the disk that holds a file, or `None` if the system doesn't say. Some file systems, such as a tmpfs
    /// without a size, report that they have no blocks.
    #[cfg(unix)]
    pub fn of(file: &Path) -> Option<Self> {
        let disk = rustix::fs::statvfs(file).ok()?;
        let block = if disk.f_frsize > 0 { disk.f_frsize } else { disk.f_bsize };
        let bytes = |blocks: u64| blocks.saturating_mul(block);
        (disk.f_blocks > 0).then(|| Self { total: bytes(disk.f_blocks), free: bytes(disk.f_bavail) })
    }

    /// Returns `None`: the system isn't asked here.
    #[cfg(not(unix))]
    pub fn of(_: &Path) -> Option<Self> {
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
        fs::write(&room.file, b"").unwrap();
        let before = room.may_add(&db);
        let log = fs::File::create(folder.path().join("store.db-wal")).unwrap();
        log.set_len(LARGE).unwrap(); // a sparse file, which takes no room on the disk
        let after = room.may_add(&db);
        assert!(after < before.saturating_sub(LARGE / 2), "{after} of {before}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_system_that_says_nothing_refuses_nothing() {
        // Linux reports no blocks for the file system of /proc.
        let (room, db) = (Room::of(Path::new("/proc/version")), Connection::open_in_memory().unwrap());
        if cfg!(target_os = "linux") {
            assert_eq!((room.may_add(&db), room.is_log_in_the_way()), (u64::MAX, false));
        }
        let nowhere = Room::of(Path::new("/nowhere/at/all"));
        assert_eq!(nowhere.may_add(&db), u64::MAX);
    }

    #[test]
    fn a_small_disk_keeps_an_eighth_and_a_large_one_no_more_than_32_mib() {
        const MIB: u64 = 1024 * 1024;
        let small = Disk { total: 8 * MIB, free: 4 * MIB };
        assert_eq!((small.reserve(), small.may_grow(0), small.may_grow(2 * MIB)), (MIB, 3 * MIB, MIB));
        assert_eq!(small.may_grow(8 * MIB), 0);
        assert_eq!(Disk { total: 1_000_000 * MIB, free: 0 }.reserve(), 32 * MIB);
    }

    #[test]
    fn a_disk_is_nearly_full_before_anything_is_refused() {
        const MIB: u64 = 1024 * 1024;
        let large = |free| Disk { total: 1_000_000 * MIB, free: free * MIB };
        assert_eq!((large(1_056).is_nearly_full(), large(1_056).lacks()), (false, 0));
        assert_eq!((large(1_055).is_nearly_full(), large(1_055).lacks()), (true, 129 * MIB));
        let small = |free| Disk { total: 800 * MIB, free: free * MIB };
        assert!(small(71).is_nearly_full() && !small(72).is_nearly_full() && small(71).usable() > 0);
        assert_eq!(Disk { total: 800 * MIB, free: 0 }.lacks(), 45 * MIB);
    }

    #[test]
    fn what_settles_needs_no_room() {
        assert_eq!(takes(0), 0);
        assert!(takes(1) > 2 * 4_096);
        assert!(takes(1_000_000) > 2_000_000);
    }
}
