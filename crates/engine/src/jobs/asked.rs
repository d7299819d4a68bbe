//! Which events a job is about.

use std::path::PathBuf;

use hookmitt_event::{EventId, Timestamp};
use hookmitt_inbox::Filter;
use hookmitt_search::Query;
use serde::{Deserialize, Serialize};

use crate::EngineError;

/// Which events are meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Which {
    /// These.
    #[serde(rename = "events")]
    Events(Vec<EventId>),
    /// Those that a search finds.
    #[serde(rename = "q")]
    Search(String),
    /// Those that a job put into the bin and that are still there.
    #[serde(rename = "deleted_by")]
    DeletedBy {
        /// The job's number.
        job: i64,
        /// When the job was asked for.
        at: Timestamp,
    },
}

impl Which {
    /// Fails if this means no event or can't be understood.
    pub(super) fn check(&self, now: Timestamp) -> Result<(), EngineError> {
        match self {
            Self::Search(typed) if typed.trim().is_empty() => {
                Err(EngineError::BadInput("the search is empty".to_owned()))
            }
            Self::Search(typed) => found_by(typed, now).map(drop),
            Self::Events(ids) if ids.is_empty() => Err(EngineError::BadInput("no event is named".to_owned())),
            Self::Events(_) | Self::DeletedBy { .. } => Ok(()),
        }
    }
}

/// What a backup is asked for with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupAsked {
    /// The file that the backup is written into: an absolute path of an empty file that only its owner may read.
    pub file: PathBuf,
    /// The secrets that there are, each as the name of its source and its label.
    pub secrets: Vec<(String, String)>,
}

/// Returns the filter for a search as it was typed. Times in it, such as `2h`, are as of `now`.
pub(super) fn found_by(typed: &str, now: Timestamp) -> Result<Filter, EngineError> {
    Ok(Filter { query: Query::parse(typed, now)?, ..Filter::default() })
}
