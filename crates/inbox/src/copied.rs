//! Copies a backup beside the inbox, if it is a file and there is room.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use crate::InboxError;

/// The version in the header of a file with a write-ahead log.
const LOGGED: u8 = 2;

/// Copies a backup, and its log if it is a plain copy that has one.
pub(crate) fn copy(backup: &Path, made: &Path) -> Result<(), InboxError> {
    let refused = |why: String| InboxError::NoBackup { path: backup.to_owned(), why };
    let failed = |error: io::Error| refused(error.to_string());
    let mut files = vec![Source::look(backup).map_err(failed)?];
    let log = hookmitt_sqlite::beside(backup, "-wal");
    if files[0].has_log().map_err(failed)? && log.exists() {
        files.push(Source::look(&log).map_err(failed)?);
    }
    let needed: u64 = files.iter().map(|file| file.bytes).sum();
    let beside = made.parent().unwrap_or(made);
    if let Some(free) = hookmitt_sqlite::free_beside(beside).filter(|free| *free < needed) {
        return Err(refused(format!("it needs {needed} bytes, and {free} are free beside the inbox")));
    }
    for (file, ending) in files.iter().zip(["", "-wal"]) {
        let mut from = File::open(&file.path).map_err(failed)?;
        let to = hookmitt_sqlite::beside(made, ending);
        let mut to = hookmitt_sqlite::private_file(&to).map_err(|error| InboxError::open(made, error))?;
        io::copy(&mut from, &mut to).map_err(|error| InboxError::open(made, error))?;
    }
    Ok(())
}

/// A file that is to be copied.
struct Source {
    path: PathBuf,
    bytes: u64,
}

impl Source {
    /// Looks at a file before it is opened: to open a pipe takes until somebody writes into it, and a device has no end.
    fn look(path: &Path) -> io::Result<Self> {
        let there = fs::metadata(path)?;
        if !there.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        Ok(Self { path: path.to_owned(), bytes: there.len() })
    }

    /// Whether a log beside the file belongs to it. A backup has none: one that is there anyway was left by another file
    /// of that name. Byte 18 is described in SQLite's file format.
    fn has_log(&self) -> io::Result<bool> {
        let mut head = Vec::new();
        File::open(&self.path)?.take(20).read_to_end(&mut head)?;
        Ok(head.get(18) == Some(&LOGGED))
    }
}
