//! What the index is given of an event.

use std::ops::Range;

use hookmitt_event::{EventStatus, Timestamp, Verdict, Via};
use hookmitt_search::{Answer, Mark};

/// What the index is given of an event.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The event's sequence number, from 0.
    pub seq: i64,
    /// The source's slug.
    pub source: String,
    /// The event type.
    pub event_type: Option<String>,
    /// The catalogue id of the provider.
    pub provider: Option<String>,
    /// The URLs of the targets to which the event was bound.
    pub targets: Vec<String>,
    /// The HTTP method.
    pub method: String,
    /// The path after the slug, without the query.
    pub path: String,
    /// The event's tags.
    pub tags: Vec<String>,
    /// The answers to the attempts of all its deliveries.
    pub answers: Vec<Answer>,
    /// What signature verification found.
    pub verdict: Verdict,
    /// The event's status.
    pub status: EventStatus,
    /// How the event came in.
    pub via: Via,
    /// The marks for which `is:` finds the event.
    pub marks: Marks,
    /// The size of the body, in bytes.
    pub size: u64,
    /// When the event was received.
    pub received_at: Timestamp,
    /// The text in which bare words are looked for, folded as [`Text`](hookmitt_search::Text) does it. `None` leaves
    /// the text of an event that is in the index as it is; such an event without a text is found by every text.
    pub text: Option<String>,
}

/// What one step changes in the index, all of it or nothing.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The name of the step, which no other one has. The index keeps the last one's, and so does the inbox: that is how
    /// an index is told from that of an older copy of the inbox.
    pub name: i64,
    /// The sequence numbers of events that leave the index.
    pub removed: Vec<i64>,
    /// The entries that are added or replaced.
    pub entries: Vec<Entry>,
    /// Sequence numbers of which the index has every event from now on.
    pub whole: Option<Range<i64>>,
}

/// The marks for which `is:` finds an event. [`Mark::First`] goes without saying: it holds where [`Mark::Duplicate`]
/// does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u16);

impl Marks {
    /// Returns these marks and one more, if it holds.
    #[must_use]
    pub fn with(self, mark: Mark, holds: bool) -> Self {
        if holds { Self(self.0 | bit(mark)) } else { self }
    }

    /// Returns the marks as a number for their column.
    pub(crate) fn number(self) -> i64 {
        let first = if self.0 & bit(Mark::Duplicate) == 0 { bit(Mark::First) } else { 0 };
        (self.0 & !bit(Mark::First) | first).into()
    }
}

/// Returns the bit of a mark in the column of marks.
pub(crate) fn bit(mark: Mark) -> u16 {
    match mark {
        Mark::Duplicate => 1,
        Mark::First => 1 << 1,
        Mark::Conflict => 1 << 2,
        Mark::Stale => 1 << 3,
        Mark::Pinned => 1 << 4,
        Mark::Browser => 1 << 5,
        Mark::Edited => 1 << 6,
        Mark::Handshake => 1 << 7,
        Mark::Deleted => 1 << 8,
    }
}
