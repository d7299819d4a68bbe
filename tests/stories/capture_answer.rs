//! What the sender reads: the usual answer, and the answer that a source configures.

use std::time::{Duration, Instant};

use hookmitt_stories::{App, Reply, post};
use serde_json::{Value, json};

async fn sent(app: &App, source: &str, headers: &[(&str, &str)]) -> Reply {
    post(app.capture(), &format!("/{source}"), headers, b"{}").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_provider_is_answered_200_and_anybody_else_202() {
    let app = App::start().await;
    app.source("told", json!({ "provider": "stripe" })).await;
    let table = [
        ("demo", None, 202, Value::Null),
        ("hub", Some(("X-GitHub-Event", "push")), 200, json!("github")),
        ("demo", Some(("x-slack-signature", "v0=00")), 200, json!("slack")),
        ("told", None, 200, json!("stripe")),
        ("told", Some(("X-GitHub-Event", "push")), 200, json!("stripe")),
    ];
    for (source, header, status, provider) in table {
        let reply = sent(&app, source, header.as_slice()).await;
        let event = app.event("last").await;
        assert_eq!((reply.status, &event["provider"]), (status, &provider), "{source} {header:?}");
        if provider == "slack" {
            assert_eq!(
                (&reply.body[..], reply.header("content-type")),
                (&b""[..], None),
                "people would read it"
            );
        } else {
            assert_eq!(reply.json(), json!({ "received": true, "id": event["id"] }));
            assert_eq!(reply.header("content-type"), Some("application/json"));
        }
        assert_eq!(reply.header("x-hookmitt-event-id"), event["id"].as_str());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_sets_status_headers_and_body() {
    let app = App::start().await;
    let answer = json!({
        "status": 418,
        "headers": [["Content-Type", "text/plain"], ["X-Two", "1"], ["x-two", "2"], ["Content-Length", "9999"]],
        "body": "short and stout",
    });
    app.source("tea", json!({ "answer": answer })).await;
    let reply = sent(&app, "tea", &[]).await;
    assert_eq!((reply.status, &reply.body[..]), (418, &b"short and stout"[..]));
    let two: Vec<_> =
        reply.headers.iter().filter(|(name, _)| name == "x-two").map(|(_, value)| value).collect();
    assert_eq!(two, ["1", "2"]);
    assert_eq!(reply.headers.iter().filter(|(name, _)| name == "content-type").count(), 1);
    assert_eq!(reply.header("content-type"), Some("text/plain"));
    assert_eq!(reply.header("x-hookmitt-event-id"), app.event("last").await["id"].as_str());
    app.ask("PATCH", "/api/sources/tea", json!({ "answer": { "body": "", "status": 204 } })).await;
    assert_eq!(sent(&app, "tea", &[]).await.status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delayed_answer_comes_late_and_its_event_is_stored_before() {
    let app = App::start().await;
    let delay = Duration::from_millis(400);
    app.source("late", json!({ "answer": { "delay_ms": 400 } })).await;
    let began = Instant::now();
    let reply = sent(&app, "late", &[]).await;
    assert!(began.elapsed() >= delay, "{:?}", began.elapsed());
    assert_eq!(reply.status, 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_shown_while_its_answer_still_waits() {
    let app = App::start().await;
    app.source("late", json!({ "answer": { "delay_ms": 60_000 } })).await;
    let shown = async {
        hookmitt_stories::eventually("the event is shown", async || {
            let (status, _) = app.call("GET", "/api/events/last", Value::Null).await;
            (status == 200).then_some(())
        })
        .await;
    };
    tokio::select! {
        reply = sent(&app, "late", &[]) => panic!("answered too early: {reply:?}"),
        () = shown => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_ones_fail_as_told_are_stored_all_the_same_and_then_all_is_well() {
    let app = App::start().await;
    app.source("flaky", json!({ "answer": { "fail_next": 2 } })).await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let reply = sent(&app, "flaky", &[]).await;
        assert!(reply.header("x-hookmitt-event-id").is_some());
        statuses.push(reply.status);
    }
    assert_eq!(statuses, [500, 500, 202, 202]);
    assert_eq!(app.events().await.len(), 4);
    let left = app.ask("GET", "/api/sources/flaky", Value::Null).await["answer"]["fail_next"].clone();
    assert_eq!(left, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_as_many_fail_as_were_told_to_however_many_come_at_once() {
    let app = App::start().await;
    app.source("flaky", json!({ "answer": { "fail_next": 5 } })).await;
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let capture = app.capture();
        all.spawn(async move { post(capture, "/flaky", &[], b"{}").await.status });
    }
    let statuses = all.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 500).count(), 5, "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn slack_gets_its_challenge_back() {
    let app = App::start().await;
    let body = r#"{"token":"x","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}"#;
    let headers = [("X-Slack-Signature", "v0=00"), ("X-Slack-Request-Timestamp", "1")];
    let reply = post(app.capture(), "/slack", &headers, body.as_bytes()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body, b"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P");
    assert_eq!(reply.header("content-type"), Some("text/plain"));
    let event = app.event("last").await;
    assert_eq!(
        (&event["handshake"], &event["type"]),
        (&json!("url_verification"), &json!("url_verification"))
    );
    let ordinary =
        post(app.capture(), "/slack", &headers, br#"{"type":"event_callback","challenge":"no"}"#).await;
    assert_eq!((ordinary.status, ordinary.body.len()), (200, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_signature_is_answered_401_kept_and_not_forwarded() {
    let app = App::start().await;
    let server = hookmitt_stories::LocalServer::start().await;
    app.source("hub", json!({ "provider": "github", "on_invalid": "reject" })).await;
    app.target(Some("hub"), &server.url(), json!({})).await;
    assert_eq!(app.github("hub", "1", None, "{}").await.status, 401, "there is nothing to prove it by");
    app.secret("hub", "main", "right").await;
    for (id, secret, verdict) in [("2", Some("wrong"), "invalid"), ("3", None, "unsigned")] {
        let reply = app.github("hub", id, secret, "{}").await;
        assert_eq!((reply.status, reply.header("content-type")), (401, Some("application/problem+json")));
        let event = app.event(reply.header("x-hookmitt-event-id").unwrap()).await;
        assert_eq!((&event["verdict"], &event["status"]), (&json!(verdict), &json!("skipped")));
    }
    let genuine = app.github("hub", "4", Some("right"), "{}").await;
    app.status(genuine.json()["id"].as_str().unwrap(), "completed").await;
    assert_eq!(server.seen().len(), 1);
}
