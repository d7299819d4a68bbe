//! Sample events for tests.

use bytes::Bytes;
use hookmitt_event::{
    DedupeKey, EventId, Facts, HeaderLines, HttpVersion, OnDuplicate, Request, Timestamp, Verdict, Via,
};
use sha2::{Digest as _, Sha256};

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
        sha256: Sha256::digest(b"").into(),
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
        object_key: None,
        moved_from: None,
        parent: None,
        route: Route::Targets,
    }
}

/// Gives an event a body, and the hash of it.
pub(crate) fn with_body(event: NewEvent, body: impl Into<Bytes>) -> NewEvent {
    let body = body.into();
    let sha256 = Sha256::digest(&body).into();
    NewEvent { sha256, request: Request { body, ..event.request }, ..event }
}
