//! What the sender of an event was answered, and when: known as soon as the event is shown.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{Answer, App, LocalServer, Server, eventually, post, serve};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::respond::{asks, says};

const PUSH: (&str, &str) = ("X-GitHub-Event", "push");

/// Returns what the sender of an event was answered, once that is the status.
async fn answered(app: &App, id: &str, status: u16) -> Value {
    let event = app.until(id, "the answer is known", |event| event["answered"]["status"] == status).await;
    event["answered"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_known_before_is_stored_with_its_event() {
    let app = App::start().await;
    app.source("tea", json!({ "answer": { "status": 418 } })).await;
    app.source("strict", json!({ "provider": "github", "on_invalid": "reject" })).await;
    app.secret("strict", "main", "hush").await;
    app.source("slack", json!({ "provider": "slack" })).await;
    let challenge = r#"{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRNFdxV"}"#;
    for (source, header, body, status) in [
        ("demo", None, "{}", 202),
        ("demo", Some(PUSH), "{}", 200),
        ("tea", None, "{}", 418),
        ("strict", Some(PUSH), "{}", 401),
        ("slack", None, challenge, 200),
    ] {
        let began = Instant::now();
        let reply = post(app.capture(), &format!("/{source}"), header.as_slice(), body.as_bytes()).await;
        let took = began.elapsed();
        assert_eq!(reply.status, status, "{source}");
        let event = app.event("last").await; // at once: nothing is written afterwards
        let told = &event["answered"];
        assert_eq!((&told["by"], &told["status"]), (&json!("hookmitt"), &json!(status)), "{source}");
        assert!(Duration::from_millis(told["after_ms"].as_u64().unwrap()) <= took, "{told} in {took:?}");
    }
    assert!(app.events().await.iter().all(|event| event.get("answered").is_none()), "lists don't say it");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_decided_later_is_stored_afterwards() {
    let app = App::start().await;
    app.source("demo", json!({ "answer": { "fail_next": 1 } })).await;
    assert_eq!(post(app.capture(), "/demo", &[], b"1").await.status, 500);
    assert_eq!(answered(&app, "#1", 500).await["by"], "hookmitt");
    assert_eq!(post(app.capture(), "/demo", &[], b"2").await.status, 202);
    answered(&app, "#2", 202).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delayed_answer_is_told_once_it_has_gone_out() {
    let app = App::start().await;
    app.source("late", json!({ "answer": { "delay_ms": 60_000 } })).await;
    let stored = eventually("it is stored", async || app.events().await.pop());
    tokio::select! {
        reply = post(app.capture(), "/late", &[], b"{}") => panic!("answered too early: {reply:?}"),
        _ = stored => assert!(app.event("#1").await.get("answered").is_none()),
    }
    app.ask("PATCH", "/api/sources/late", json!({ "answer": { "delay_ms": 300 } })).await;
    assert_eq!(post(app.capture(), "/late", &[], b"{}").await.status, 202);
    assert!(answered(&app, "#2", 202).await["after_ms"].as_u64().unwrap() >= 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_local_servers_answer_and_the_one_in_its_place_are_told_with_their_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = serve(dir.path());
    command.args(["--hold", "300ms"]);
    let (app, server) = (Server::spawn(command).await, LocalServer::start().await);
    asks(&app, "local", &server.url()).await;
    let told = async |id: &str, status: u16| {
        eventually("the answer is known", async || {
            let event = app.ask("GET", &format!("/api/events/{id}"), Value::Null).await;
            Some(event["answered"].clone()).filter(|told| told["status"] == status)
        })
        .await
    };
    server.will([says("302 Found", "text/html", "signed in")]);
    assert_eq!(post(app.capture, "/local", &[], b"1").await.status, 302);
    assert_eq!(told("%231", 302).await["by"], "hookmitt");

    let go = Arc::new(Notify::new());
    server.will([Answer::When(Arc::clone(&go))]);
    assert_eq!(post(app.capture, "/local", &[], b"2").await.status, 202);
    assert!(told("%232", 202).await["after_ms"].as_u64().unwrap() >= 300);
    go.notify_one();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_nobody_sent_here_was_answered_by_nobody() {
    let app = App::start().await;
    app.catch("demo", &[], "{}").await;
    let exported = app.ask("POST", "/api/export", json!({ "ids": ["#1"], "raw": true })).await;
    let content = STANDARD.encode(exported["items"][0]["content"].as_str().unwrap());
    let file = json!({ "name": "a.fixture.json", "content_base64": content });
    app.ask("POST", "/api/import", json!({ "items": [file] })).await;
    let imported = app.event("last").await;
    assert_eq!((&imported["via"], imported.get("answered")), (&json!("import"), None), "{imported}");
}
