//! What a sync is asked for with, as it is stored with its job.

use hookmitt_event::{Slug, Timestamp};
use serde::{Deserialize, Serialize};

/// A sync of one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncAsked {
    /// The source.
    pub source: Slug,
    /// The first moment; `None` for the last day, or longer if not everything was looked at since.
    pub since: Option<Timestamp>,
    /// The first moment that is too late; `None` for now.
    pub until: Option<Timestamp>,
    /// Whether what is missing is only shown.
    pub dry_run: bool,
    /// Whether what is missing is delivered; `None` for what the source is set to.
    pub deliver: Option<bool>,
    /// Who wants it.
    pub by: AskedBy,
}

/// Who wants a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedBy {
    /// A person.
    Hand,
    /// The schedule, or a gap.
    Schedule,
}
