//! What the database itself guarantees about arrivals, and about events older than one already delivered.

use bytes::Bytes;
use hookmitt_event::{
    DedupeKey, EventId, Facts, HeaderLines, HttpVersion, OnDuplicate, Request, Timestamp, Verdict, Via,
};
use hookmitt_inbox::{Inbox, NewEvent, Route, SourceSettings};
use hookmitt_stories::{App, LocalServer};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::task::JoinSet;

pub(super) const NOW: Timestamp = Timestamp::from_seconds(1_750_000_000);

pub(super) async fn inbox() -> (TempDir, Inbox, i64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inbox =
        Inbox::open(folder.path(), std::sync::Arc::new(hookmitt_clock::MachineClock)).expect("an inbox");
    let source =
        inbox.add_source("demo".parse().unwrap(), SourceSettings::default(), false, NOW).await.unwrap();
    (folder, inbox, source.row)
}

pub(super) fn arrival(source: i64, key: DedupeKey, at: Timestamp) -> NewEvent {
    let request = Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::default(),
        body: Bytes::from_static(b"{}"),
    };
    let mut key_hash = [0; 16];
    key_hash.copy_from_slice(&Sha256::digest(key.to_string())[..16]);
    NewEvent {
        id: EventId::fresh(),
        source,
        sha256: Sha256::digest(&request.body).into(),
        request,
        url: None,
        remote: None,
        received_at: at,
        via: Via::Tunnel,
        provider: None,
        finds_provider: false,
        facts: Facts::default(),
        verdict: Verdict::Unsigned,
        causes: Vec::new(),
        dedupe_key: key,
        key_hash,
        may_own: true,
        single_use: None,
        rejects: false,
        on_duplicate: OnDuplicate::Skip,
        browser: false,
        callback: false,
        foreign_host: None,
        delivery_of: None,
        handshake_answer: None,
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

pub(super) fn by_id(id: &str) -> DedupeKey {
    DedupeKey::Id(id.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_arrival_that_is_sent_again_adds_no_row() {
    let (_folder, inbox, source) = inbox().await;
    let keyed = |key: &[u8]| NewEvent { arrival_key: Some(key.to_vec()), ..arrival(source, by_id("1"), NOW) };
    let first = inbox.store(keyed(b"tunnel 1")).await.unwrap();
    let mut all = JoinSet::new();
    for _ in 0..20 {
        let (inbox, again) = (inbox.clone(), keyed(b"tunnel 1"));
        all.spawn(async move { inbox.store(again).await.unwrap() });
    }
    for again in all.join_all().await {
        assert_eq!((again.id, again.seq, again.duplicate_of), (first.id, first.seq, None));
    }
    assert_eq!(inbox.last_seq().await.unwrap(), 1);
    let second = inbox.store(keyed(b"tunnel 2")).await.unwrap();
    assert_eq!((second.seq, second.duplicate_of), (2, Some(first.id)), "another arrival of the same event");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_inboxes_on_one_folder_agree_on_the_first() {
    let (folder, one, source) = inbox().await;
    let other =
        Inbox::open(folder.path(), std::sync::Arc::new(hookmitt_clock::MachineClock)).expect("an inbox");
    let mut all = JoinSet::new();
    for number in 0..40 {
        let inbox = if number % 2 == 0 { one.clone() } else { other.clone() };
        all.spawn(async move { inbox.store(arrival(source, by_id("1"), NOW)).await.unwrap() });
    }
    let all = all.join_all().await;
    let firsts: Vec<_> = all.iter().filter(|stored| stored.duplicate_of.is_none()).collect();
    assert_eq!(firsts.len(), 1);
    assert!(all.iter().all(|stored| stored.duplicate_of.is_none_or(|first| first == firsts[0].id)));
    let mut numbers: Vec<_> = all.iter().map(|stored| stored.seq).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_content_is_a_repeat_for_five_minutes() {
    let (_folder, inbox, source) = inbox().await;
    let key = || DedupeKey::Content("abc".to_owned());
    let at = |seconds| Timestamp::from_seconds(NOW.as_seconds() + seconds);
    let first = inbox.store(arrival(source, key(), at(0))).await.unwrap();
    let soon = inbox.store(arrival(source, key(), at(300))).await.unwrap();
    assert_eq!(soon.duplicate_of, Some(first.id));
    let late = inbox.store(arrival(source, key(), at(301))).await.unwrap();
    assert_eq!(late.duplicate_of, None, "the window begins with the first");
    let next = inbox.store(arrival(source, key(), at(302))).await.unwrap();
    assert_eq!(next.duplicate_of, Some(late.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_from_backup_sync_never_makes_a_conflict() {
    let (_folder, inbox, source) = inbox().await;
    let other = |via| {
        let mut copy = arrival(source, by_id("1"), NOW);
        copy.request.body = Bytes::from_static(b"[]");
        copy.sha256 = Sha256::digest(b"[]").into();
        NewEvent { via, ..copy }
    };
    inbox.store(arrival(source, by_id("1"), NOW)).await.unwrap();
    for (via, conflict) in [(Via::BackupSync, false), (Via::Direct, true)] {
        let stored = inbox.store(other(via)).await.unwrap();
        assert_eq!(inbox.event(stored.id).await.unwrap().conflict, conflict, "{via:?}");
    }
}

fn charge(id: &str, created: i64, object: &str) -> String {
    json!({ "id": id, "type": "charge.updated", "created": created, "data": { "object": { "id": object } } })
        .to_string()
}

async fn caught(app: &App, body: &str) -> Value {
    let reply = app.stripe("pay", "hush", 1, body).await;
    app.event(reply.json()["id"].as_str().expect("an id")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_older_than_one_delivered_for_its_object_is_stale_and_sent_all_the_same() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("pay", json!({ "provider": "stripe" })).await;
    let target = app.target(Some("pay"), &server.url(), json!({})).await;
    let pause = async |paused: bool| {
        app.ask("PATCH", &format!("/api/targets/{target}"), json!({ "paused": paused })).await
    };
    let _paused = pause(true).await;
    let newer = caught(&app, &charge("evt_3", 1_750_000_300, "ch_1")).await;
    assert_eq!(
        (&newer["event_time"], &newer["stale"]),
        (&json!("2025-06-15T15:11:40.000000Z"), &json!(false))
    );
    let before = caught(&app, &charge("evt_1", 1_750_000_100, "ch_1")).await;
    assert_eq!(before["stale"], false, "the newer one was not delivered yet");
    let _resumed = pause(false).await;
    app.status(newer["id"].as_str().unwrap(), "completed").await;
    let older = caught(&app, &charge("evt_2", 1_750_000_200, "ch_1")).await;
    assert_eq!((&older["stale"], &older["duplicate_of"]), (&json!(true), &Value::Null));
    app.status(older["id"].as_str().unwrap(), "completed").await;
    for (id, created, object) in
        [("evt_4", 1_750_000_300, "ch_1"), ("evt_5", 1_750_000_400, "ch_1"), ("evt_6", 1_750_000_100, "ch_2")]
    {
        assert_eq!(caught(&app, &charge(id, created, object)).await["stale"], false, "{id}");
    }
    server.wait_for(6).await;
}
