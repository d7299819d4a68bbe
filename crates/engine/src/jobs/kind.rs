//! The kinds of jobs. Each has a file of its own.

use serde::de::DeserializeOwned;

use super::{
    asked::{BackupAsked, Which},
    backup, delete, empty, prune, restore, retry,
    run::Run,
    sync,
};
use crate::{EngineError, sync::SyncAsked};

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Puts events into the bin.
    Delete,
    /// Takes events out of the bin.
    Restore,
    /// Makes failed, dead and skipped deliveries of events wait again.
    Retry,
    /// Deletes for good what has been kept for long enough.
    Prune,
    /// Makes a backup of the inbox.
    Backup,
    /// Deletes for good what is in the bin.
    Empty,
    /// Syncs a source with its provider.
    Sync,
}

impl JobKind {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Delete, "delete"),
        (Self::Restore, "restore"),
        (Self::Retry, "retry"),
        (Self::Prune, "prune"),
        (Self::Backup, "backup"),
        (Self::Empty, "empty"),
        (Self::Sync, "sync"),
    ];

    /// Returns the name with which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Does what is left of a job.
    pub(super) async fn go(run: &mut Run) -> Result<(), EngineError> {
        let kind = Self::ALL.iter().find(|(_, name)| *name == run.job.kind);
        // A later hookmitt may have jobs of other kinds.
        match kind.ok_or_else(unknown)?.0 {
            Self::Delete => delete::go(run, &asked::<Which>(run)?).await,
            Self::Restore => restore::go(run, &asked::<Which>(run)?).await,
            Self::Retry => retry::go(run, &asked::<Which>(run)?).await,
            Self::Prune => prune::go(run).await,
            Self::Empty => empty::go(run, asked(run)?).await,
            Self::Sync => sync::go(run, asked::<SyncAsked>(run)?).await,
            Self::Backup => backup::go(run, asked::<BackupAsked>(run)?).await,
        }
    }
}

/// Returns what a job was asked for.
fn asked<T: DeserializeOwned>(run: &Run) -> Result<T, EngineError> {
    serde_json::from_value(run.job.asked.clone()).map_err(|_| unknown())
}

fn unknown() -> EngineError {
    EngineError::BadInput("this hookmitt doesn't know what was asked for".to_owned())
}
