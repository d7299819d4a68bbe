//! The live list: each event comes again when its row changes, and after a burst only its final state.

use std::collections::HashMap;

use hookmitt_stories::{Answer, App, Connection, Down, Live, LocalServer};
use serde_json::{Value, json};

fn delivery<'a>(event: &'a Value, name: &str) -> &'a Value {
    &event["glance"]["delivery"][name]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_comes_again_when_its_delivery_ends() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    app.target(Some("demo"), &server.url(), json!({ "attempts": 1 })).await;
    let mut live = Live::open(&app, "?glance=true").await;
    server.will([Answer::Status(500)]);
    let id = app.catch("demo", &[], "{}").await;
    let last = live.event(|event| delivery(event, "status") == "dead_letter").await;
    assert_eq!((&last["id"], delivery(&last, "response_status")), (&json!(id), &json!(500)));
    let listed = app.ask("GET", "/api/events?glance=true", Value::Null).await;
    assert_eq!(last, listed["items"][0], "as a list has it");
    app.ask("POST", &format!("/api/events/{id}/retry"), Value::Null).await;
    live.event(|event| delivery(event, "status") == "completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_comes_again_with_each_copy_more_or_less() {
    let app = App::start().await;
    app.source("hub", json!({ "provider": "github" })).await;
    app.secret("hub", "main", "hush").await;
    let mut live = Live::open(&app, "?glance=true").await;
    for copies in 1..=3 {
        app.github("hub", "a", Some("hush"), "{}").await;
        live.event(|event| event["seq"] == 1 && event["glance"]["copies"] == copies).await;
    }
    app.ask("DELETE", "/api/events/%233", Value::Null).await;
    live.event(|event| event["seq"] == 3 && event["deleted_at"].is_string()).await;
    app.ask("POST", "/api/events/%233/restore", Value::Null).await;
    live.event(|event| event["seq"] == 1 && event["glance"]["copies"] == 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_comes_again_when_its_target_is_paused_or_answers() {
    let (app, down) = (App::start().await, Down::somewhere());
    app.source("demo", json!({})).await;
    let target = app.target(Some("demo"), &down.url(), json!({})).await;
    let before = app.catch("demo", &[], "1").await;
    app.until(&before, "nobody answers", |event| !event["deliveries"][0]["last_error"].is_null()).await;
    let mut live = Live::open(&app, "?glance=true").await;
    let _server = down.up();
    live.event(|event| event["id"] == json!(before) && delivery(event, "status") == "completed").await;
    app.ask("PATCH", &format!("/api/targets/{target}"), json!({ "paused": true })).await;
    let waits = app.catch("demo", &[], "2").await;
    live.event(|event| event["id"] == json!(waits) && delivery(event, "waiting") == true).await;
    app.ask("PATCH", &format!("/api/targets/{target}"), json!({ "paused": false })).await;
    live.event(|event| event["id"] == json!(waits) && delivery(event, "status") == "completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_ends_with_every_event_as_it_is_by_then() {
    const COUNT: usize = 1_500;
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    app.target(Some("demo"), &server.url(), json!({ "order": "parallel:32" })).await;
    let mut live = Live::open(&app, "?glance=true").await;
    let mut connection = Connection::open(app.capture()).await;
    let one = "POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx";
    assert!(connection.send(one.repeat(COUNT).as_bytes()).await);
    for _ in 0..COUNT {
        assert_eq!(connection.reply().await.status, 202);
    }
    let (mut last, mut frames) = (HashMap::new(), 0);
    while last.values().filter(|status| **status == json!("completed")).count() < COUNT {
        let event = live.next_of("event").await;
        frames += 1;
        assert_eq!(event["status"], *delivery(&event, "status"), "both are of one moment: {event}");
        last.insert(event["seq"].clone(), delivery(&event, "status").clone());
    }
    assert!(frames <= 4 * COUNT, "{frames} frames");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_after_a_number_begins_with_what_was_missed() {
    let app = App::start().await;
    for number in 0..5 {
        app.catch("demo", &[], &format!("{number}")).await;
    }
    let mut live = Live::open(&app, "?glance=true&after=2").await;
    for seq in 3..=5 {
        assert_eq!(live.next_of("event").await["seq"], seq);
    }
    app.catch("demo", &[], "more").await;
    assert_eq!(live.next_of("event").await["seq"], 6);
}
