//! What people note of the events of an inbox.

use futures_util::future::try_join_all;
use hookmitt_event::EventId;
use hookmitt_inbox::{Inbox, InboxError, Marks};

/// One event of this many is pinned, has a tag, or a note.
const PINNED: u64 = 400;
const TAGGED: u64 = 50;
const NOTED: u64 = 250;

const TAGS: [&str; 6] = ["flaky", "to ask", "refund", "seen", "billing", "prod bug"];

/// Returns what the event of a number has, from 1.
pub(super) fn marks(number: u64) -> Option<Marks> {
    let is_one = |of: u64| number % of == of / 2;
    let tag = TAGS[(number / TAGGED % TAGS.len() as u64) as usize];
    let marks = Marks {
        pinned: is_one(PINNED).then_some(true),
        note: is_one(NOTED).then(|| Some(format!("looked at with ticket {}", number * 7 % 9_973))),
        tags: is_one(TAGGED).then(|| vec![tag.parse().expect("a tag")]),
    };
    (marks.pinned.is_some() || marks.note.is_some() || marks.tags.is_some()).then_some(marks)
}

/// Marks those of these events that have something; the first of them has a number.
pub(super) async fn mark(inbox: &Inbox, ids: &[EventId], first: u64) -> Result<(), InboxError> {
    let marked = (first..).zip(ids).filter_map(|(number, id)| Some((*id, marks(number)?)));
    try_join_all(marked.map(|(id, marks)| inbox.mark(id, marks))).await?;
    Ok(())
}
