//! Sample events for tests.

use bytes::Bytes;
use hookmitt_event::{
    DedupeKey, EventId, Facts, HeaderLines, HttpVersion, OnDuplicate, Request, Timestamp, Verdict, Via,
};

use crate::{NewEvent, Route};

/// Makes a valid event without a body, for its source's targets.
pub(crate) fn event(source: i64, received_at: Timestamp) -> NewEvent {
    let request = Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::default(),
        body: Bytes::new(),
    };
    NewEvent {
        id: EventId::fresh(),
        source,
        request,
        url: None,
        remote: None,
        received_at,
        via: Via::Direct,
        provider: None,
        finds_provider: false,
        facts: Facts::default(),
        handshake_answer: None,
        verdict: Verdict::Valid,
        causes: Vec::new(),
        sha256: [0; 32],
        dedupe_key: DedupeKey::Id("1".to_owned()),
        key_hash: [1; 16],
        may_own: true,
        single_use: None,
        rejects: false,
        on_duplicate: OnDuplicate::default(),
        browser: false,
        callback: false,
        foreign_host: None,
        delivery_of: None,
        arrival_key: None,
        forwarded: None,
        caught_up_by: None,
        planned: None,
        moved_from: None,
        parent: None,
        route: Route::Targets,
    }
}
