//! The errors of the writer's jobs, and what SQLite's errors mean to the relay.

use hookmitt_sqlite::{Refusal, Unwritten};
use rusqlite::Error;

use crate::MailboxError;

/// Why a job failed.
pub(super) enum Trouble {
    /// The job was refused before it wrote anything, so the other jobs of its transaction are not affected.
    Refused(MailboxError),
    /// SQLite failed; what the job wrote is rolled back.
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

impl From<Unwritten> for MailboxError {
    fn from(why: Unwritten) -> Self {
        match why {
            Unwritten::Overloaded => Self::Overloaded,
            Unwritten::Closed => Self::Closed,
            Unwritten::Panicked => Self::Failed("an internal error; the store is unchanged".to_owned()),
        }
    }
}

impl From<Error> for MailboxError {
    fn from(error: Error) -> Self {
        match hookmitt_sqlite::refusal(&error) {
            Some(Refusal::Full) => Self::DiskFull,
            Some(Refusal::Busy | Refusal::TooLong) => Self::Overloaded,
            Some(Refusal::Damaged) | None => Self::Failed(error.to_string()),
        }
    }
}

/// Returns the error for a tunnel that does not exist or is shut.
pub(super) fn no_tunnel(name: &str) -> MailboxError {
    MailboxError::Unknown { what: "tunnel", name: name.to_owned() }
}

/// Returns the error for a device that the tunnel does not have.
pub(super) fn no_device(key: &[u8; 32]) -> MailboxError {
    let name = key.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    MailboxError::Unknown { what: "device", name }
}

/// Returns the error for a token that does not exist.
pub(super) fn no_token(id: &str) -> MailboxError {
    MailboxError::Unknown { what: "token", name: id.to_owned() }
}
