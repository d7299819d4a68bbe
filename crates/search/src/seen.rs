//! What a query is matched against.

use std::time::Duration;

use hookmitt_event::{Event, EventStatus};

use crate::{Query, Test, WordKey};

/// An event as a search sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The event; with its body, if the query needs that.
    pub event: &'a Event,
    /// The event's status.
    pub status: EventStatus,
    /// The URLs of the targets to which the event was bound.
    pub targets: &'a [String],
    /// The answers to the attempts of all its deliveries.
    pub answers: &'a [Answer],
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status, if there was an answer.
    pub status: Option<u16>,
    /// How long the attempt took.
    pub took: Duration,
    /// Whether it is the last attempt of its delivery.
    pub last: bool,
}

/// What has to be read of an event before a query can be matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The event's body.
    pub body: bool,
    /// Its targets.
    pub targets: bool,
    /// Its answers.
    pub answers: bool,
}

impl Query {
    /// Returns what [`matches`](Self::matches) needs of an event.
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        for test in self.terms.iter().flat_map(|term| &term.any) {
            needs.body |= matches!(test, Test::Text(_) | Test::Body(_));
            needs.targets |= matches!(test, Test::Word(WordKey::Target, _));
            needs.answers |= matches!(test, Test::Response(_) | Test::Latency(_));
        }
        needs
    }
}
