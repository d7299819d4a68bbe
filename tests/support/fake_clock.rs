//! A wall clock that a story can set while a real process uses it.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::process::Command;

use crate::lacking;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// The steps, in seconds, by which stories set a clock.
pub const CLOCK_STEPS: [i64; 8] = [70, -70, HOUR, -HOUR, 45 * DAY, -45 * DAY, 365 * DAY, -365 * DAY];

/// The wall clock of the processes that were started with it. Their monotonic clock stays right.
pub struct FakeClock {
    library: PathBuf,
    folder: TempDir,
}

impl FakeClock {
    /// Makes a clock that shows the right time for now. Returns `None` and records a skip if libfaketime is missing; on
    /// Debian and in CI it panics.
    pub fn right() -> Option<Self> {
        let Some(library) = library() else {
            lacking("libfaketime", "apt-get install libfaketime");
            return None;
        };
        let clock = Self { library, folder: tempfile::tempdir().expect("a temporary folder") };
        clock.off_by(0);
        Some(clock)
    }

    /// Sets the clock this many seconds off the right time from now on.
    pub fn off_by(&self, seconds: i64) {
        // The file is replaced in one step, because a process may read it at any moment.
        let next = self.folder.path().join("next");
        std::fs::write(&next, format!("{seconds:+}\n")).expect("a file");
        std::fs::rename(next, self.file()).expect("a file");
    }

    /// Makes a command use this clock.
    pub fn rules(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", self.file())
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1")
            .env("NO_FAKE_STAT", "1");
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("clock")
    }
}

fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    let all = folders.chain([PathBuf::from("/usr/lib"), PathBuf::from("/usr/local/lib")]);
    let at = |folder: PathBuf| folder.join(Path::new("faketime/libfaketimeMT.so.1"));
    all.map(at).find(|path| path.exists())
}
