//! A query: what was searched for, as values.

use std::ops::Range;

use hookmitt_event::{EventStatus, Timestamp, Verdict, Via};
use serde::Serialize;

use crate::{Number, Pattern, Text};

/// What an event has to be like to be found: every term must hold. The empty query finds all events.
///
/// Events in the bin are found only by a query with `is:deleted`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The terms, in the order in which they were typed.
    pub terms: Vec<Term>,
}

/// One condition: `-type:push,ping` holds for events of neither type.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Whether the term holds if none of its tests does.
    pub negated: bool,
    /// The tests, of which one must hold.
    pub any: Vec<Test>,
    /// Where the term stands in the text, in bytes; empty for a term that was not typed.
    pub place: Range<usize>,
}

/// Something that is true or false of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The text is contained in the body, a header line, the path, the query, the type, the title or the note.
    Text(Text),
    /// One of the event's words matches a pattern.
    Word(WordKey, Pattern),
    /// The event has this verdict.
    Verdict(Verdict),
    /// The event has this status.
    Status(EventStatus),
    /// The event came in this way.
    Via(Via),
    /// The event has this mark.
    Is(Mark),
    /// A header line of this name (compared without case) has a value that matches the pattern.
    Header(String, Pattern),
    /// The JSON value at a pointer compares like this.
    Body(Body),
    /// The size of the body, in bytes, is within these bounds.
    Size(Span),
    /// An attempt was answered with a status within these bounds.
    Response(Span),
    /// The last attempt of a delivery took as long as this, in microseconds.
    Latency(Span),
    /// The event was received at `from` or later, and before `to`.
    Received {
        /// The first moment, if there is one.
        from: Option<Timestamp>,
        /// The first moment that is too late, if there is one.
        to: Option<Timestamp>,
    },
    /// The event's number is within these bounds.
    Number(Span),
}

/// The keys whose values are words that a pattern is matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WordKey {
    /// The source's slug.
    Source,
    /// The event type. Also found by its beginning up to a dot: `invoice` finds `invoice.paid`.
    Type,
    /// The catalogue id of the provider.
    Provider,
    /// The URL of a target to which the event was bound. Also found by any part of it.
    Target,
    /// The HTTP method.
    Method,
    /// The path after the slug, without the query.
    Path,
    /// A tag.
    Tag,
}

/// What `is:` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// It repeats another event.
    Duplicate,
    /// It repeats no other event.
    First,
    /// It repeats another event with other bytes.
    Conflict,
    /// A newer event of the same object had been delivered before.
    Stale,
    /// It is pinned.
    Pinned,
    /// A web page sent it.
    Browser,
    /// It is an edited copy of another event.
    Edited,
    /// It is a set-up request.
    Handshake,
    /// It is in the bin.
    Deleted,
}

/// A JSON pointer (RFC 6901), such as `/data/object/id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer(pub String);

/// A condition on a part of a JSON body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Where the part is.
    pub at: Pointer,
    /// How it must compare.
    pub is: Compared,
}

/// How a JSON value must compare.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    /// Its text matches the pattern: a string without its quotes, a number, `true`, `false` or `null` as written.
    Like(Pattern),
    /// It is a number greater than this, or equal where the flag is set.
    Above(Number, bool),
    /// It is a number less than this, or equal where the flag is set.
    Below(Number, bool),
}

/// Bounds of a number, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The least value.
    pub min: u64,
    /// The greatest value.
    pub max: u64,
}

impl Query {
    /// Whether every event outside the bin is found.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Adds a term that was not typed.
    pub fn and(&mut self, test: Test) {
        self.terms.push(Term { negated: false, any: vec![test], place: 0..0 });
    }

    /// Adds a term that was not typed, and holds if the test doesn't.
    pub fn and_not(&mut self, test: Test) {
        self.terms.push(Term { negated: true, any: vec![test], place: 0..0 });
    }

    /// Whether events in the bin are found too.
    pub fn wants_deleted(&self) -> bool {
        self.terms.iter().any(|term| !term.negated && term.any.contains(&Test::Is(Mark::Deleted)))
    }
}
