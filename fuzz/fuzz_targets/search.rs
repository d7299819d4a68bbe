//! Any text as a search, against an event of a stranger: it is a query or has a fault within it. A query that is written
//! again reads as the same query, and a term that is negated is the opposite.
//!
//! The first line is the search; what follows is the event's body.
#![no_main]

use bytes::Bytes;
use hookmitt_event::{
    Event, EventId, EventStatus, HeaderLines, HttpVersion, Request, Timestamp, Verdict, Via,
};
use hookmitt_search::{Query, Seen, Term, outline, suggest};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let Ok(text) = std::str::from_utf8(&data[..end]) else { return };
    let now = Timestamp::from_seconds(1_750_000_000);
    let outline = outline(text, now);
    assert!(outline.terms.iter().all(|term| text.get(term.place.clone()).is_some()));
    for caret in 0..=text.len().min(100) {
        assert!(text.get(suggest(text, caret).place).is_some());
    }
    let _rule = Query::parse_rule(text).is_ok();
    let query = match Query::parse(text, now) {
        Ok(query) => query,
        Err(fault) => {
            assert!(text.get(fault.place.clone()).is_some());
            return;
        }
    };
    written_again(&query, now);
    matched(&query, &event(data.get(end + 1..).unwrap_or_default()));
});

/// Reads the query from its own text. That may be longer than what was typed, and so too long.
fn written_again(query: &Query, now: Timestamp) {
    let written = query.to_string();
    if written.len() <= Query::LONGEST {
        let again = Query::parse(&written, now).unwrap_or_else(|fault| panic!("{written}: {fault}"));
        assert_eq!(unplaced(&again), unplaced(query), "{written}");
    }
}

fn unplaced(query: &Query) -> Vec<Term> {
    query.terms.iter().map(|term| Term { place: 0..0, ..term.clone() }).collect()
}

fn matched(query: &Query, event: &Event) {
    let targets = ["http://localhost:3000".to_owned()];
    let seen = Seen { event, status: EventStatus::Captured, targets: &targets, answers: &[] };
    let holds = |term: &Term, negated| Query { terms: vec![Term { negated, ..term.clone() }] }.matches(&seen);
    assert!(query.terms.iter().all(|term| holds(term, true) != holds(term, false)));
    assert_eq!(query.matches(&seen), query.terms.iter().all(|term| holds(term, term.negated)));
}

fn event(body: &[u8]) -> Event {
    let headers = HeaderLines::from_pairs([("Content-Type", "application/x-www-form-urlencoded")]);
    let request = Request {
        method: "POST".to_owned(),
        path: "/in".to_owned(),
        query: None,
        version: HttpVersion::Http11,
        headers: headers.unwrap_or_default(),
        body: Bytes::copy_from_slice(body),
    };
    Event {
        id: EventId::fresh(),
        seq: 1,
        source: "shop".parse().expect("a slug"),
        provider: None,
        size: body.len() as u64,
        request,
        url: String::new(),
        remote: None,
        forwarded: None,
        event_type: Some("invoice.paid".to_owned()),
        title: None,
        event_time: None,
        sha256: [0; 32],
        received_at: Timestamp::from_seconds(1_750_000_000),
        stored_for: None,
        via: Via::Direct,
        verdict: Verdict::Unsigned,
        causes: Vec::new(),
        dedupe_key: None,
        duplicate_of: None,
        conflict: false,
        folds: false,
        stale: false,
        browser: false,
        callback: false,
        foreign_host: None,
        answered: None,
        parent: None,
        handshake: None,
        handshake_answer: None,
        deleted_at: None,
        signed_with: None,
        pinned: false,
        note: Some("a note".to_owned()),
        tags: Vec::new(),
    }
}
