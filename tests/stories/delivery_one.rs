//! One delivery among others: its place in a queue, its retry by hand, the details of its attempts.

use std::sync::Arc;

use hookmitt_stories::{Answer, App, Live, LocalServer};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::delivery::{eager, numbers};

fn delivery(event: &Value, at: usize) -> &Value {
    &event["deliveries"][at]
}

async fn retried(app: &App, id: &str) -> (u16, Value) {
    app.call("POST", &format!("/api/deliveries/{id}/retry"), Value::Null).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_up_says_its_place_among_what_waits() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    let target = app.target(Some("demo"), &server.url(), json!({})).await;
    app.ask("PATCH", &format!("/api/targets/{target}"), json!({ "paused": true })).await;
    let mut ids = Vec::new();
    for body in ["1", "2", "3"] {
        ids.push(app.catch("demo", &[], body).await);
    }
    app.ask("POST", &format!("/api/events/{}/replay", ids[0]), json!({})).await;
    let first = app.event(&ids[0]).await;
    assert_eq!(delivery(&first, 0)["queue"], json!({ "place": 1, "of": 4 }));
    assert_eq!(delivery(&first, 1)["queue"], json!({ "place": 2, "of": 4 }), "in order of arrival");
    let path = format!("/api/events/{}/deliveries", ids[2]);
    let last = app.ask("GET", &path, Value::Null).await;
    assert_eq!(last["items"][0]["queue"], json!({ "place": 4, "of": 4 }));

    app.ask("PATCH", &format!("/api/targets/{target}"), json!({ "paused": false })).await;
    for id in &ids {
        assert_eq!(delivery(&app.status(id, "completed").await, 0)["queue"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_its_retry_stands_in_no_queue() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    app.target(Some("demo"), &server.url(), json!({ "retry_base_ms": 3_600_000 })).await;
    server.will([Answer::Status(500)]);
    let id = app.catch("demo", &[], "x").await;
    let waits = |event: &Value| delivery(event, 0)["attempts"] != json!([]);
    assert_eq!(delivery(&app.until(&id, "an attempt failed", waits).await, 0)["queue"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_delivery_is_taken_up_and_the_others_stay() {
    let app = App::start().await;
    let (one, other) = (LocalServer::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    let mut settings = eager();
    settings["attempts"] = json!(2);
    for server in [&one, &other] {
        server.will([Answer::Status(500), Answer::Status(500)]);
        app.target(Some("demo"), &server.url(), settings.clone()).await;
    }
    let id = app.catch("demo", &[], "x").await;
    let dead = |event: &Value| (0..2).all(|at| delivery(event, at)["status"] == "dead_letter");
    let event = app.until(&id, "both gave up", dead).await;
    let name = delivery(&event, 0)["id"].as_str().unwrap();

    let (status, again) = retried(&app, name).await;
    assert_eq!((status, &again["items"]), (200, &json!([{ "event_id": id, "delivery_id": name }])));
    let done = |event: &Value| delivery(event, 0)["status"] == "completed";
    let event = app.until(&id, "the one is delivered", done).await;
    assert_eq!(numbers(delivery(&event, 0)), [1], "its attempts were cleared");
    assert_eq!((&delivery(&event, 1)["status"], other.seen().len()), (&json!("dead_letter"), 2));

    assert_eq!(retried(&app, name).await, (200, json!({ "items": [], "next_cursor": null })));
    assert_eq!(retried(&app, &format!("{id}.3")).await.0, 404);
    let (status, answer) = retried(&app, &id).await;
    assert_eq!((status, &answer["code"]), (400, &json!("bad-input")));

    let target = delivery(&event, 1)["target_id"].clone();
    app.ask("DELETE", &format!("/api/targets/{target}"), Value::Null).await;
    let (status, answer) = retried(&app, &format!("{id}.2")).await;
    assert_eq!((status, &answer["code"]), (400, &json!("no-targets")), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skipped_delivery_is_sent_alone_unless_it_was_rejected() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("hub", json!({ "provider": "github", "on_invalid": "reject" })).await;
    app.secret("hub", "main", "hush").await;
    app.target(Some("hub"), &server.url(), json!({})).await;
    for id in ["a", "a"] {
        app.github("hub", id, Some("hush"), "{}").await;
    }
    app.status("#1", "completed").await;
    let name = delivery(&app.status("#2", "skipped").await, 0)["id"].as_str().unwrap().to_owned();
    assert_eq!(retried(&app, &name).await.1["items"][0]["delivery_id"], name);
    app.status("#2", "completed").await;

    app.github("hub", "b", Some("wrong"), "{}").await;
    let name = delivery(&app.status("#3", "skipped").await, 0)["id"].as_str().unwrap().to_owned();
    assert_eq!(retried(&app, &name).await.1["items"], json!([]));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_without_an_answer_is_ambiguous_only_where_it_went_out() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    let mut settings = eager();
    settings["attempts"] = json!(1);
    app.source("plain", json!({})).await;
    app.target(Some("plain"), &server.url(), settings.clone()).await;
    app.source("tls", json!({})).await;
    app.target(Some("tls"), &server.url().replace("http:", "https:"), settings).await;
    let cut = Answer::Raw(b"HTTP/1.1 500 X\r\nContent-Length: 9\r\n\r\nhalf".to_vec());
    server.will([Answer::Close, Answer::Status(500), cut]);
    let mut found = Vec::new();
    for source in ["plain", "plain", "plain", "tls"] {
        let id = app.catch(source, &[], "x").await;
        let event = app.status(&id, "dead_letter").await;
        found.push(delivery(&event, 0)["attempts"][0]["ambiguous"].clone());
    }
    assert_eq!(found, [true, false, false, false]);
    let page = app.ask("GET", "/api/events?glance=true", Value::Null).await;
    let glances = page["items"].as_array().unwrap().iter().rev();
    let glances: Vec<_> = glances.map(|event| event["glance"]["delivery"]["ambiguous"].clone()).collect();
    assert_eq!(glances, found, "a list says the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_takes_a_while_is_told_of_as_it_starts() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    app.target(Some("demo"), &server.url(), json!({})).await;
    let go = Arc::new(Notify::new());
    server.will([Answer::When(Arc::clone(&go))]);
    let mut rows = Live::open(&app, "?glance=true").await;
    let mut plain = Live::open(&app, "").await;
    app.catch("demo", &[], "x").await;
    let status = |event: &Value| event["glance"]["delivery"]["status"].clone();
    rows.event(|event| status(event) == "processing").await;
    assert_eq!(plain.next_of("delivery").await["delivery"]["status"], "processing");
    go.notify_one();
    rows.event(|event| status(event) == "completed").await;
    assert_eq!(plain.next_of("delivery").await["delivery"]["status"], "completed");
}
