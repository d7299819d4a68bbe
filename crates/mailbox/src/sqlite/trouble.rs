//! What can go wrong in a job of the writer, and what SQLite's words mean to the relay.

use rusqlite::{Error, ErrorCode, ffi};

use crate::MailboxError;

/// Why a job came to nothing.
pub(super) enum Trouble {
    /// It was refused before it wrote anything: its neighbours in the transaction are none the worse.
    Refused(MailboxError),
    /// SQLite failed; the transaction can't be trusted.
    Sql(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<MailboxError> for Trouble {
    fn from(error: MailboxError) -> Self {
        Self::Refused(error)
    }
}

impl From<hookmitt_sqlite::Closed> for MailboxError {
    fn from(_: hookmitt_sqlite::Closed) -> Self {
        Self::Closed
    }
}

impl From<Error> for MailboxError {
    fn from(error: Error) -> Self {
        // The shared-memory index beside the log has to grow, too.
        let no_room = |code: &ffi::Error| {
            code.code == ErrorCode::DiskFull || code.extended_code == ffi::SQLITE_IOERR_SHMSIZE
        };
        match error.sqlite_error() {
            Some(code) if no_room(code) => Self::DiskFull,
            Some(code) if matches!(code.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Overloaded
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// No open tunnel has that name.
pub(super) fn no_tunnel(name: &str) -> MailboxError {
    MailboxError::Unknown { what: "tunnel", name: name.to_owned() }
}

/// The tunnel has no such device.
pub(super) fn no_device(key: &[u8; 32]) -> MailboxError {
    let name = key.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    MailboxError::Unknown { what: "device", name }
}
