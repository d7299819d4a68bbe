//! The kinds of jobs. Each has a file of its own.

use hookmitt_inbox::InboxError;

use super::{asked::Which, delete, prune, restore, retry, run::Run};
use crate::EngineError;

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
}

impl JobKind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Delete, "delete"),
        (Self::Restore, "restore"),
        (Self::Retry, "retry"),
        (Self::Prune, "prune"),
    ];

    /// Returns the name with which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Does what is left of a job.
    pub(super) async fn go(run: &mut Run) -> Result<(), EngineError> {
        let kind = Self::ALL.iter().find(|(_, name)| *name == run.job.kind);
        let which = serde_json::from_value::<Which>(run.job.asked.clone());
        match (kind, which) {
            (Some((Self::Prune, _)), _) => prune::go(run).await,
            (Some((Self::Delete, _)), Ok(which)) => delete::go(run, &which).await,
            (Some((Self::Restore, _)), Ok(which)) => restore::go(run, &which).await,
            (Some((Self::Retry, _)), Ok(which)) => retry::go(run, &which).await,
            // A later hookmitt may have jobs of other kinds.
            (None, _) | (_, Err(_)) => {
                Err(EngineError::BadInput("this hookmitt doesn't know what was asked for".to_owned()))
            }
        }
    }
}

/// Whether a job broke off because it was ended from outside, which is stored already or will be.
pub(super) const fn was_ended(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::Stopping
            | EngineError::Inbox(InboxError::JobEnded | InboxError::NotOwner | InboxError::Closed)
    )
}
