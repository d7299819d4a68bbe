//! The live stream reports what happens as it happens.

use hookmitt_stories::{App, Connection, Live, LocalServer, post};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn events_are_told_as_they_are_listed_and_only_those_from_now_on() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    post(app.capture(), "/demo", &[], b"before").await;
    let mut live = Live::open(&app, "").await;
    for number in 2..=4 {
        post(app.capture(), "/demo", &[("X-N", "1")], format!("{number}").as_bytes()).await;
        let (name, event) = live.next().await;
        assert_eq!((name.as_str(), &event["seq"]), ("event", &json!(number)));
        assert_eq!(event, app.events().await[0]);
    }
    app.ask("DELETE", "/api/events/last", Value::Null).await;
    let (name, event) = live.next().await;
    assert_eq!((name.as_str(), &event["seq"]), ("event", &json!(4)));
    assert!(event["deleted_at"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_after_a_number_begins_with_what_was_missed_in_order() {
    let app = App::start().await;
    let mut connection = Connection::open(app.capture()).await;
    let one = "POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx";
    assert!(connection.send(one.repeat(450).as_bytes()).await);
    for _ in 0..450 {
        assert_eq!(connection.reply().await.status, 202);
    }
    let mut live = Live::open(&app, "?after=20").await;
    for number in 21..=450 {
        assert_eq!(live.next_of("event").await["seq"], number);
    }
    post(app.capture(), "/demo", &[], b"x").await;
    assert_eq!(live.next_of("event").await["seq"], 451);
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_refusals_and_settings_are_told_too() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    let mut live = Live::open(&app, "").await;
    app.target(Some("demo"), &server.url(), json!({})).await;
    live.next_of("config").await;
    let id = app.catch("demo", &[], "{}").await;
    assert_eq!(live.next_of("event").await["id"], id);
    let moved = loop {
        let moved = live.next_of("delivery").await;
        if moved["delivery"]["status"] == "completed" {
            break moved;
        }
    };
    assert_eq!(
        (&moved["event_id"], &moved["seq"], &moved["source"]),
        (&json!(id), &json!(1), &json!("demo"))
    );
    assert_eq!(moved["delivery"]["attempts"][0]["response_status"], 200);
    post(app.capture(), "/Not-A-Source", &[], b"{}").await;
    let refused = live.next_of("refused").await;
    assert_eq!((&refused["status"], &refused["code"]), (&json!(404), &json!("no-such-source")));
    assert_eq!(refused, app.refused().await[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn verdicts_that_change_are_told() {
    let app = App::start().await;
    app.github("hub", "1", Some("hush"), "{}").await;
    let mut live = Live::open(&app, "").await;
    app.secret("hub", "main", "hush").await;
    assert_eq!(live.next_of("event").await["verdict"], "valid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_when_hookmitt_does() {
    let app = App::start().await;
    let live = Live::open(&app, "").await;
    app.stop().await;
    live.ends().await;
}
