//! What was refused instead of stored is kept, and shown with what was known of it.

use hookmitt_stories::{App, post};
use serde_json::{Value, json};

use super::listen::{folder, run, serving};

/// Waits until so many refusals are listed, and returns them.
async fn refused(app: &App, many: usize) -> Vec<Value> {
    let all = app.ask("GET", "/api/refusals", Value::Null).await;
    let items = all["items"].as_array().unwrap().clone();
    assert_eq!(items.len(), many, "they are listed at once, written or not: {all:#}");
    items
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_is_listed_with_what_was_known_of_it() {
    let app = App::start().await;
    let lines = [("X-Forwarded-For", "203.0.113.9"), ("X-GitHub-Event", "push"), ("X-GitHub-Delivery", "1")];
    let reply = post(app.capture(), "/nowhere/x?y=%1b", &lines, b"12345").await;
    assert_eq!(reply.status, 404);
    let one = refused(&app, 1).await.remove(0);
    assert_eq!((&one["method"], &one["target"]), (&json!("POST"), &json!("/nowhere/x?y=%1b")));
    assert_eq!((&one["status"], &one["code"]), (&json!(404), &json!("unknown-source")));
    assert_eq!((&one["source"], &one["provider"]), (&json!("nowhere"), &json!("github")));
    assert_eq!((&one["size"], &one["more"]), (&json!(5), &json!(0)));
    assert_eq!(one["host"], "127.0.0.1");
    let stats = app.ask("GET", "/api/stats", Value::Null).await;
    assert_eq!(stats["refused"][0], one, "the page's list");
    let none = app.ask("GET", "/api/refusals?since=2999-01-01T00:00:00Z", Value::Null).await;
    assert_eq!(none, json!({ "items": [], "next_cursor": null, "relays": [] }));
    assert_eq!(app.call("GET", "/api/refusals?limit=0", Value::Null).await.0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_refusals_is_counted_and_capture_goes_on() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    let lines = [("X-Forwarded-For", "203.0.113.9")];
    for _ in 0..300 {
        assert_eq!(post(app.capture(), "/nowhere", &lines, b"").await.status, 404);
    }
    app.catch("demo", &[], "1").await;
    let all = app.ask("GET", "/api/refusals?limit=1000", Value::Null).await;
    let items = all["items"].as_array().unwrap();
    let counted: u64 = items.iter().map(|one| 1 + one["more"].as_u64().unwrap()).sum();
    assert_eq!(counted, 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_outlive_the_process_and_control_no_terminal() {
    let folder = folder();
    let dir = folder.path();
    assert!(run(dir, &["events", "--refused"]).await.exits(0).err.contains("no request was refused"));
    let (serve, capture) = serving(dir).await;
    let lines = [("X-Forwarded-For", "203.0.113.9")];
    assert_eq!(post(capture, "/nowhere/\u{9b}31m", &lines, b"").await.status, 404);
    serve.stop().await.exits(0);
    let said = run(dir, &["events", "--refused"]).await.exits(0).text();
    assert!(said.contains("404") && said.contains("unknown-source") && said.contains(r"\u{9b}31m"), "{said}");
    let json = run(dir, &["events", "--refused", "--limit", "1", "--json"]).await.exits(0).json().remove(0);
    assert_eq!(json["target"], "/nowhere/\u{9b}31m");
    run(dir, &["events", "--refused", "--source", "demo"]).await.exits(2);
}
