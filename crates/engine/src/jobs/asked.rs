//! Which events a job is about.

use hookmitt_event::EventId;
use hookmitt_inbox::Filter;
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
}

/// The longest search, in bytes.
const LONGEST: usize = 1_000;

impl Which {
    /// Fails if this means no event or can't be understood.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        match self {
            Self::Search(typed) if typed.trim().is_empty() => Err(bad("the search is empty")),
            Self::Search(typed) if typed.len() > LONGEST => Err(bad("the search is longer than 1,000 bytes")),
            Self::Events(ids) if ids.is_empty() => Err(bad("no event is named")),
            Self::Search(_) | Self::Events(_) => Ok(()),
        }
    }
}

fn bad(why: &str) -> EngineError {
    EngineError::BadInput(why.to_owned())
}

/// Returns the filter for a search as it was typed. `is:deleted` looks in the bin.
pub(super) fn found_by(typed: &str) -> Filter {
    let (marks, words): (Vec<_>, Vec<_>) = typed.split_whitespace().partition(|word| *word == "is:deleted");
    let text = (!words.is_empty()).then(|| words.join(" "));
    Filter { text, deleted: !marks.is_empty(), ..Filter::default() }
}
