//! An event to search for.

use std::time::Duration;

use bytes::Bytes;
use hookmitt_event::{
    Event, EventId, EventStatus, HeaderLines, HttpVersion, Request, Timestamp, Verdict, Via,
};
use hookmitt_search::{Answer, Query, Seen};

/// The time of all searches here.
pub(crate) fn now() -> Timestamp {
    "2026-11-24T12:00:00Z".parse().unwrap()
}

/// An event with all that is known about it.
pub(crate) struct Sample {
    pub(crate) event: Event,
    pub(crate) status: EventStatus,
    pub(crate) targets: Vec<String>,
    pub(crate) answers: Vec<Answer>,
}

impl Sample {
    /// A payment that was delivered at the second attempt.
    pub(crate) fn new(body: impl Into<Bytes>) -> Self {
        let answer = |status, millis, last| Answer { status, took: Duration::from_millis(millis), last };
        Self {
            event: event(body.into()),
            status: EventStatus::Completed,
            targets: vec!["http://localhost:3000/hooks".to_owned()],
            answers: vec![answer(Some(503), 2_500, false), answer(Some(200), 80, true)],
        }
    }

    /// Whether a search finds the event. As it is written again, it must find the same.
    pub(crate) fn is_found(&self, text: &str) -> bool {
        let query = Query::parse(text, now()).unwrap_or_else(|error| panic!("{text}: {error}"));
        let again =
            Query::parse(&query.to_string(), now()).unwrap_or_else(|error| panic!("{query}: {error}"));
        let found = query.matches(&self.seen());
        assert_eq!(again.matches(&self.seen()), found, "{text}: {query}");
        found
    }

    pub(crate) fn seen(&self) -> Seen<'_> {
        Seen { event: &self.event, status: self.status, targets: &self.targets, answers: &self.answers }
    }
}

const HEADERS: [(&str, &str); 4] =
    [("Content-Type", "application/json"), ("User-Agent", "Stripe/1.0"), ("X-Try", "2"), ("x-try", "three")];

fn event(body: Bytes) -> Event {
    let request = Request {
        method: "POST".to_owned(),
        path: "/pay/in".to_owned(),
        query: Some("mode=test".to_owned()),
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(HEADERS).unwrap(),
        body,
    };
    Event {
        id: EventId::fresh(),
        seq: 12,
        source: "shop".parse().unwrap(),
        provider: Some("stripe".to_owned()),
        size: request.body.len() as u64,
        request,
        url: "http://127.0.0.1:4400/shop/pay/in".to_owned(),
        remote: None,
        forwarded: None,
        event_type: Some("invoice.payment.failed".to_owned()),
        title: Some("ÄRGER with Straße".to_owned()),
        event_time: None,
        sha256: [0; 32],
        received_at: "2026-11-24T11:00:00Z".parse().unwrap(),
        stored_for: None,
        via: Via::BackupSync,
        verdict: Verdict::NoSecret,
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
        pinned: true,
        note: Some("Ask Zoë\nabout it".to_owned()),
        tags: vec!["Refund".parse().unwrap()],
    }
}
