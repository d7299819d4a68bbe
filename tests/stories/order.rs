//! The order in which a target gets its events.

use std::sync::Arc;

use hookmitt_stories::{Answer, App, LocalServer, eventually};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::delivery::bodies;

/// A retryable answer that asks for a pause of an hour, so that only a retry by hand comes earlier.
fn busy() -> Answer {
    let text = "HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    Answer::Raw(text.as_bytes().to_vec())
}

fn held() -> (Arc<Notify>, Answer) {
    let go = Arc::new(Notify::new());
    (Arc::clone(&go), Answer::When(go))
}

/// Starts a hookmitt whose source `demo` has one target with this order.
async fn in_order(order: &str, answers: Vec<Answer>) -> (App, LocalServer) {
    let (app, server) = (App::start().await, LocalServer::start().await);
    server.will(answers);
    app.source("demo", json!({ "generic": { "object_at": "/object", "time_at": "/time" } })).await;
    app.target(Some("demo"), &server.url(), json!({ "order": order })).await;
    (app, server)
}

async fn waits_for_its_retry(app: &App, id: &str) {
    let retry = |event: &Value| event["deliveries"][0]["next_attempt_at"].is_string();
    app.until(id, "it waits for its retry", retry).await;
}

/// Returns how many of these events are being sent.
async fn processing(app: &App, ids: &[String]) -> usize {
    let mut count = 0;
    for id in ids {
        count += usize::from(app.event(id).await["status"] == "processing");
    }
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn sequential_is_one_at_a_time_in_order_of_arrival() {
    let (gates, answers): (Vec<_>, Vec<_>) = (0..4).map(|_| held()).unzip();
    let (app, server) = in_order("sequential", answers).await;
    let mut ids = Vec::new();
    for body in ["1", "2", "3", "4"] {
        ids.push(app.catch("demo", &[], body).await);
    }
    for (sent, gate) in gates.iter().enumerate() {
        server.wait_for(sent + 1).await;
        assert_eq!((server.seen().len(), processing(&app, &ids).await), (sent + 1, 1));
        gate.notify_one();
    }
    app.status(&ids[3], "completed").await;
    assert_eq!(bodies(&server.seen()), ["1", "2", "3", "4"]);
    assert_eq!(server.most_at_once(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sequential_lets_a_failing_event_step_aside_until_its_retry() {
    let (app, server) = in_order("sequential", vec![busy()]).await;
    let failing = app.catch("demo", &[], "failing").await;
    waits_for_its_retry(&app, &failing).await;
    for body in ["next", "last"] {
        let id = app.catch("demo", &[], body).await;
        app.status(&id, "completed").await;
    }
    app.ask("POST", &format!("/api/events/{failing}/retry"), Value::Null).await;
    app.status(&failing, "completed").await;
    assert_eq!(bodies(&server.seen()), ["failing", "next", "last", "failing"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifo_blocks_behind_its_head_until_that_is_completed() {
    let (app, server) = in_order("fifo", vec![busy()]).await;
    let head = app.catch("demo", &[], "head").await;
    waits_for_its_retry(&app, &head).await;
    let next = app.catch("demo", &[], "next").await;
    assert_eq!(app.event(&next).await["status"], "pending");
    app.ask("POST", &format!("/api/events/{head}/retry"), Value::Null).await;
    app.status(&next, "completed").await;
    assert_eq!(bodies(&server.seen()), ["head", "head", "next"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifo_goes_on_when_its_head_is_dead_or_failed() {
    let (app, server) = in_order("fifo", vec![Answer::Status(500), Answer::Status(404)]).await;
    let targets = app.ask("GET", "/api/targets", Value::Null).await;
    let path = format!("/api/targets/{}", targets["items"][0]["id"]);
    app.ask("PATCH", &path, json!({ "attempts": 1 })).await;
    let mut ids = Vec::new();
    for body in ["dead", "failed", "fine"] {
        ids.push(app.catch("demo", &[], body).await);
    }
    for (id, status) in ids.iter().zip(["dead_letter", "failed", "completed"]) {
        app.status(id, status).await;
    }
    assert_eq!(bodies(&server.seen()), ["dead", "failed", "fine"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifo_by_key_blocks_an_object_and_not_the_others() {
    let (app, server) = in_order("fifo-by-key", vec![busy()]).await;
    let body = |object: &str, number: u8| format!("{{\"object\":\"{object}\",\"n\":{number}}}");
    let head = app.catch("demo", &[], &body("a", 1)).await;
    waits_for_its_retry(&app, &head).await;
    let behind = app.catch("demo", &[], &body("a", 2)).await;
    let beside = app.catch("demo", &[], &body("b", 1)).await;
    app.status(&beside, "completed").await;
    assert_eq!(app.event(&behind).await["status"], "pending");
    app.ask("POST", &format!("/api/events/{head}/retry"), Value::Null).await;
    app.status(&behind, "completed").await;
    assert_eq!(bodies(&server.seen()), [body("a", 1), body("b", 1), body("a", 1), body("a", 2)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_runs_so_many_at_once_and_no_more() {
    let (gates, answers): (Vec<_>, Vec<_>) = (0..7).map(|_| held()).unzip();
    let (app, server) = in_order("parallel:3", answers).await;
    let mut ids = Vec::new();
    for number in 0..7 {
        ids.push(app.catch("demo", &[], &number.to_string()).await);
    }
    server.wait_for(3).await;
    gates[1].notify_one(); // whichever it is, a place is free
    server.wait_for(4).await;
    eventually("three are being sent again", async || (processing(&app, &ids).await == 3).then_some(()))
        .await;
    gates.iter().for_each(|gate| gate.notify_one());
    for id in &ids {
        app.status(id, "completed").await;
    }
    assert_eq!((server.seen().len(), server.most_at_once()), (7, 3));
}
