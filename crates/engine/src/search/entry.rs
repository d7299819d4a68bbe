//! What the index is given of an event.

use hookmitt_event::TargetId;
use hookmitt_inbox::Indexable;
use hookmitt_index::{Entry, Marks};
use hookmitt_search::{Mark, Seen, folded_texts};

/// Returns the word by which the index knows a target. Its URL may change, its number doesn't.
pub(crate) fn target_word(target: TargetId) -> String {
    format!("={}=", target.0)
}

/// Returns the entry of an event; without its text, if the index has that already.
pub(crate) fn entry(indexable: &Indexable, with_text: bool) -> Entry {
    let Indexable { event, status, targets, answers, has_text } = indexable;
    let marks = [
        (Mark::Duplicate, event.duplicate_of.is_some()),
        (Mark::Conflict, event.conflict),
        (Mark::Stale, event.stale),
        (Mark::Pinned, event.pinned),
        (Mark::Browser, event.browser),
        (Mark::Edited, event.parent.is_some()),
        (Mark::Handshake, event.handshake.is_some()),
        (Mark::Deleted, event.deleted_at.is_some()),
    ];
    let seen = Seen { event, status: *status, targets: &[], answers };
    let text = (with_text && *has_text).then(|| {
        let mut text = String::with_capacity(event.request.body.len() + 1_024);
        folded_texts(&seen, &mut text);
        text
    });
    Entry {
        seq: event.seq,
        source: event.source.to_string(),
        event_type: event.event_type.clone(),
        provider: event.provider.clone(),
        targets: targets.iter().map(|target| target_word(*target)).collect(),
        method: event.request.method.clone(),
        path: event.request.path.clone(),
        tags: event.tags.iter().map(ToString::to_string).collect(),
        answers: answers.clone(),
        verdict: event.verdict,
        status: *status,
        via: event.via,
        marks: marks.into_iter().fold(Marks::default(), |marks, (mark, holds)| marks.with(mark, holds)),
        size: event.size,
        received_at: event.received_at,
        text,
    }
}
