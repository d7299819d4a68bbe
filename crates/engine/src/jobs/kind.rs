//! The kinds of jobs. Each has a file of its own.

use hookmitt_inbox::InboxError;

use super::{asked::Which, delete, restore, retry, run::Run};
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
}

impl JobKind {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Delete, "delete"), (Self::Restore, "restore"), (Self::Retry, "retry")];

    /// Returns the name with which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Does what is left of a job.
    pub(super) async fn go(run: &mut Run) -> Result<(), EngineError> {
        let kind = Self::ALL.iter().find(|(_, name)| *name == run.job.kind);
        let which = serde_json::from_value::<Which>(run.job.asked.clone());
        // A later hookmitt may have jobs of other kinds.
        let (Some((kind, _)), Ok(which)) = (kind, which) else {
            return Err(EngineError::BadInput("this hookmitt doesn't know what was asked for".to_owned()));
        };
        match kind {
            Self::Delete => delete::go(run, &which).await,
            Self::Restore => restore::go(run, &which).await,
            Self::Retry => retry::go(run, &which).await,
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
