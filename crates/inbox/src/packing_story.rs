//! An inbox whose events are packed: what the stories of packing have in common.

use std::time::Duration;

use bytes::Bytes;
use hookmitt_clock::Clock as _;
use hookmitt_event::{DedupeKey, EventId, HeaderLines, OrderMode, Request};
use rusqlite::Connection;

use crate::{Dictionary, Inbox, NewEvent, Packer, queue_story::Story, samples};

pub(crate) const WORDS: &str =
    r#"{"object":"event","livemode":false,"data":{"object":"Content-Type: application/json"#;

pub(crate) fn words(_: Option<&str>) -> Dictionary {
    Dictionary { name: "words".to_owned(), text: WORDS.into() }
}

/// After this, events that come in a crowd are packed.
pub(crate) const SETTLED: Duration = Duration::from_secs(6);

/// After this, whatever there is is packed, however little.
pub(crate) const LONG: Duration = Duration::from_secs(601);

pub(crate) fn packer(inbox: &Inbox) -> Packer {
    Packer::new(inbox.clone(), words).unwrap()
}

pub(crate) async fn begin() -> Story {
    Story::begin(OrderMode::Sequential).await
}

pub(crate) async fn store(story: &Story, headers: HeaderLines, body: impl Into<Bytes>) -> EventId {
    let id = EventId::fresh();
    let event = samples::with_body(samples::event(story.source, story.clock.now()), body);
    let request = Request { headers, ..event.request };
    let (dedupe_key, key_hash) = (DedupeKey::Id(id.to_string()), *id.as_bytes());
    story.inbox.store(NewEvent { id, request, dedupe_key, key_hash, ..event }).await.unwrap();
    id
}

pub(crate) fn text(times: usize) -> Vec<u8> {
    WORDS.repeat(times).into_bytes()
}

/// Packs whatever there is.
pub(crate) async fn pack_all(story: &Story, inbox: &Inbox) {
    story.clock.pass(LONG);
    let mut packer = packer(inbox);
    while packer.step().await.unwrap() > 0 {}
}

pub(crate) fn count(story: &Story, sql: &str) -> i64 {
    Connection::open(story.inbox.path()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}
