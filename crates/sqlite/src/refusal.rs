//! What SQLite's errors mean for a store.

use rusqlite::{Error, ErrorCode, ffi};

/// Why SQLite did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The disk is full.
    Full,
    /// Another connection held the file for too long.
    Busy,
    /// A reader took too long and was interrupted.
    TooLong,
    /// The file is damaged, or is no database.
    Damaged,
}

/// Returns what an error of SQLite means, or `None` for any other error.
pub fn refusal(error: &Error) -> Option<Refusal> {
    let code = error.sqlite_error()?;
    // The shared-memory index (`-shm`) has to grow with the log, and fails in this way on a full disk.
    if code.code == ErrorCode::DiskFull || code.extended_code == ffi::SQLITE_IOERR_SHMSIZE {
        return Some(Refusal::Full);
    }
    match code.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some(Refusal::Busy),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Some(Refusal::Damaged),
        ErrorCode::OperationInterrupted => Some(Refusal::TooLong),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_full_is_told_from_one_that_fails() {
        let said = |code| refusal(&Error::SqliteFailure(ffi::Error::new(code), None));
        assert_eq!(said(ffi::SQLITE_FULL), Some(Refusal::Full));
        assert_eq!(said(ffi::SQLITE_IOERR_SHMSIZE), Some(Refusal::Full));
        assert_eq!(said(ffi::SQLITE_IOERR_WRITE), None);
        assert_eq!(said(ffi::SQLITE_BUSY), Some(Refusal::Busy));
        assert_eq!(said(ffi::SQLITE_BUSY_SNAPSHOT), Some(Refusal::Busy));
        assert_eq!(refusal(&Error::QueryReturnedNoRows), None);
    }
}
