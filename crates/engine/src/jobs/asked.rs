//! Which events a job is about.

use std::path::PathBuf;

use hookmitt_event::{EventId, Slug, Timestamp};
use hookmitt_inbox::Filter;
use hookmitt_search::{Mark, Query, Test};
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
    /// Those of a source, or those received before a moment, but for those that are pinned.
    #[serde(rename = "clear")]
    Clear {
        /// The source.
        source: Option<Slug>,
        /// The first moment that is too late.
        until: Option<Timestamp>,
    },
    /// Those that a sync added and whose delivery it left to a person.
    #[serde(rename = "synced_by")]
    Synced {
        /// The number of its report.
        report: i64,
    },
    /// Those that a job put into the bin and that are still there.
    #[serde(rename = "deleted_by")]
    DeletedBy {
        /// The job's number.
        job: i64,
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
            Self::Clear { source: None, until: None } => {
                Err(EngineError::BadInput("name a source, a time, or both".to_owned()))
            }
            Self::Clear { .. } | Self::Events(_) | Self::DeletedBy { .. } | Self::Synced { .. } => Ok(()),
        }
    }
}

/// What a backup is asked for with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupAsked {
    /// The file that the backup is written into: an absolute path of an empty file that only its owner may read.
    pub file: PathBuf,
    /// The name that whoever asked gives it once it is complete. `None` if that isn't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<PathBuf>,
    /// The secrets that there are, each as the name of its source and its label.
    pub secrets: Vec<(String, String)>,
}

/// Returns the filter for the events of a source, or those received before a moment, that aren't pinned.
pub(super) fn cleared(source: Option<&Slug>, until: Option<Timestamp>) -> Filter {
    let mut query = Query::default();
    query.and_not(Test::Is(Mark::Pinned));
    if until.is_some() {
        query.and(Test::Received { from: None, to: until });
    }
    Filter { source: source.map(|slug| slug.as_str().to_owned()), query, ..Filter::default() }
}

/// Returns the filter for a search as it was typed. Times in it, such as `2h`, are as of `now`.
pub(super) fn found_by(typed: &str, now: Timestamp) -> Result<Filter, EngineError> {
    Ok(Filter { query: Query::parse(typed, now)?, ..Filter::default() })
}
