//! Replays and retries by hand.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{App, LocalServer, Seen, post, signature};
use serde_json::{Value, json};

use super::delivery::bodies;

/// Starts a hookmitt whose source `gh` has a secret and one target.
async fn github() -> (App, LocalServer) {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("gh", json!({ "provider": "github" })).await;
    app.secret("gh", "default", "right").await;
    app.target(Some("gh"), &server.url(), json!({})).await;
    (app, server)
}

async fn caught(app: &App, secret: &str, delivery: &str, body: &str) -> String {
    let reply = app.github("gh", delivery, Some(secret), body).await;
    reply.json()["id"].as_str().expect("it is stored").to_owned()
}

async fn replay(app: &App, id: &str, edit: Value) -> Value {
    let replayed = app.ask("POST", &format!("/api/events/{id}/replay"), edit).await;
    replayed["items"][0].clone()
}

/// Returns the whole message without the `x-hookmitt-*` header lines.
fn without_ours(seen: &Seen) -> Vec<u8> {
    let head = seen.head();
    let lines = head.split("\r\n").filter(|line| !line.starts_with("x-hookmitt-")).collect::<Vec<_>>();
    [lines.join("\r\n").as_bytes(), b"\r\n\r\n", seen.body()].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_replay_is_a_new_delivery_of_the_same_bytes() {
    let (app, server) = github().await;
    let id = caught(&app, "right", "d1", "{\"a\": 1.10}").await;
    app.status(&id, "completed").await;
    let replayed = replay(&app, &id, json!({})).await;
    assert_eq!(replayed["event_id"], json!(id));
    let seen = server.wait_for(2).await;
    assert_eq!(without_ours(&seen[0]), without_ours(&seen[1]));
    assert_eq!(
        (seen[0].header("x-hookmitt-replay"), seen[1].header("x-hookmitt-replay").as_deref()),
        (None, Some("true"))
    );
    assert_eq!(seen[1].header("x-hookmitt-delivery-id").as_deref(), replayed["delivery_id"].as_str());
    assert_eq!(
        (seen[1].header("x-hookmitt-event-id").as_deref(), seen[1].header("x-hookmitt-attempt").as_deref()),
        (Some(id.as_str()), Some("1"))
    );
    let event =
        app.until(&id, "both are delivered", |event| event["deliveries"][1]["status"] == "completed").await;
    assert_eq!(
        (&event["deliveries"][0]["replay"], &event["deliveries"][1]["replay"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(app.events().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_can_go_elsewhere_and_several_times() {
    let (app, server) = github().await;
    let elsewhere = LocalServer::start().await;
    let id = caught(&app, "right", "d1", "{}").await;
    app.status(&id, "completed").await;
    let order = json!({ "to": format!("{}/else", elsewhere.url()), "times": 3 });
    let replayed = app.ask("POST", &format!("/api/events/{id}/replay"), order).await;
    assert_eq!(replayed["items"].as_array().map(Vec::len), Some(3));
    let lines: Vec<_> = elsewhere.wait_for(3).await.iter().map(Seen::line).collect();
    assert_eq!(lines, ["POST /else HTTP/1.1"; 3]);
    assert_eq!(server.seen().len(), 1);
    assert_eq!(app.ask("GET", "/api/targets", Value::Null).await["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_replay_is_a_new_event_with_a_parent() {
    let (app, server) = github().await;
    let id = caught(&app, "right", "d1", "{\"a\":1,\"b\":{\"c\":2}}").await;
    app.status(&id, "completed").await;
    let edit = json!({ "headers": [["X-New", "yes"]], "set": { "/b/c": "x" } });
    let replayed = replay(&app, &id, edit).await;
    let new = replayed["event_id"].as_str().unwrap();
    assert_ne!(new, id);
    let seen = server.wait_for(2).await.remove(1);
    assert_eq!(seen.body(), b"{\"a\":1,\"b\":{\"c\":\"x\"}}");
    assert_eq!(
        (seen.header("x-new").as_deref(), seen.header("x-hookmitt-replay").as_deref()),
        (Some("yes"), Some("true"))
    );
    assert_eq!(
        seen.header("x-hookmitt-verdict").as_deref(),
        Some("invalid"),
        "the signature is the old body's"
    );
    let event = app.status(new, "completed").await;
    assert_eq!(
        (&event["parent"], &event["via"], &event["deliveries"][0]["replay"]),
        (&json!(id), &json!("edit"), &json!(true))
    );
    assert_eq!(app.body(&id).await, "{\"a\":1,\"b\":{\"c\":2}}", "the first stays as it is");
    let body = json!({ "body_base64": STANDARD.encode(b"\x00\xff") });
    let replayed = replay(&app, &id, body).await;
    assert_eq!(server.wait_for(3).await[2].body(), b"\x00\xff");
    assert_eq!(app.body(replayed["event_id"].as_str().unwrap()).await, &b"\x00\xff"[..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn last_is_the_newest_event_that_is_not_an_edit() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    let older = app.catch("demo", &[], "{}").await;
    let newer = app.catch("demo", &[], "{}").await;
    for edit in [json!({ "/a": 1 }), json!({ "/b": 2 })] {
        replay(&app, "last", json!({ "to": server.url(), "set": edit })).await;
    }
    server.wait_for(2).await;
    let mut sent = bodies(&server.seen());
    sent.sort();
    assert_eq!(sent, ["{\"a\":1}", "{\"b\":2}"], "the second edit isn't made to the first one");
    assert_eq!(app.event("last").await["id"], json!(newer));
    assert_eq!(app.event("last~1").await["id"], json!(older));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resigned_replay_can_have_an_id_of_its_own() {
    let (app, server) = github().await;
    let id = caught(&app, "right", "d1", "{}").await;
    app.status(&id, "completed").await;
    let replayed = replay(&app, &id, json!({ "resign": true, "fresh_id": true })).await;
    let seen = server.wait_for(2).await.remove(1);
    let fresh = seen.header("x-github-delivery").unwrap();
    assert_ne!(fresh, "d1");
    let event = app.event(replayed["event_id"].as_str().unwrap()).await;
    assert_eq!((&event["verdict"], &event["dedupe_key"]), (&json!("valid"), &json!(format!("id:{fresh}"))));
    let alone = app.call("POST", &format!("/api/events/{id}/replay"), json!({ "fresh_id": true })).await;
    assert_eq!((alone.0, &alone.1["code"]), (400, &json!("bad-input")), "an id that nobody signs");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resigned_replay_is_valid() {
    let (app, server) = github().await;
    let id = caught(&app, "wrong", "d1", "{\"a\":1}").await;
    assert_eq!(app.status(&id, "completed").await["verdict"], "invalid");
    let order = json!({ "resign": true, "set": { "/a": 2 } });
    let replayed = app.ask("POST", &format!("/api/events/{id}/replay"), order).await;
    assert!(replayed["secret"].as_str().unwrap().contains("default"), "{replayed}");
    let seen = server.wait_for(2).await.remove(1);
    assert_eq!(seen.header("x-hookmitt-verdict").as_deref(), Some("valid"));
    assert_eq!(
        seen.header("x-hub-signature-256"),
        Some(format!("sha256={}", signature("right", b"{\"a\":2}")))
    );
    assert_eq!(app.event(replayed["items"][0]["event_id"].as_str().unwrap()).await["verdict"], "valid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_never_skipped_as_a_duplicate() {
    let (app, server) = github().await;
    let id = caught(&app, "right", "d1", "{}").await;
    app.status(&id, "completed").await;
    replay(&app, &id, json!({})).await;
    let resigned = replay(&app, &id, json!({ "resign": true })).await;
    assert_eq!(server.wait_for(3).await.len(), 3);
    let edited = app.status(resigned["event_id"].as_str().unwrap(), "completed").await;
    assert_eq!((&edited["via"], &edited["duplicate_of"]), (&json!("edit"), &json!(id)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skipped_repeat_is_sent_when_it_is_retried() {
    let (app, server) = github().await;
    let first = caught(&app, "right", "d1", "{\"n\":1}").await;
    app.status(&first, "completed").await;
    let repeat = caught(&app, "right", "d1", "{\"n\":2}").await;
    let event = app.event(&repeat).await;
    assert_eq!(
        (&event["status"], &event["duplicate_of"], &event["conflict"]),
        (&json!("skipped"), &json!(first), &json!(true))
    );
    app.ask("POST", &format!("/api/events/{repeat}/retry"), Value::Null).await;
    app.status(&repeat, "completed").await;
    assert_eq!(bodies(&server.seen()), ["{\"n\":1}", "{\"n\":2}"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_without_any_target_is_bad_input() {
    let app = App::start().await;
    let id = app.catch("demo", &[], "x").await;
    let (status, problem) = app.call("POST", &format!("/api/events/{id}/replay"), json!({})).await;
    assert_eq!((status, &problem["code"]), (400, &json!("no-targets")));
    assert!(problem["hint"].is_string(), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completed_event_has_nothing_to_retry() {
    let (app, server) = github().await;
    let id = caught(&app, "right", "d1", "{}").await;
    app.status(&id, "completed").await;
    let again = app.ask("POST", &format!("/api/events/{id}/retry"), Value::Null).await;
    assert_eq!((&again["items"], server.seen().len()), (&json!([]), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_leaves_the_digits_of_other_values_alone() {
    let app = App::start().await;
    let server = LocalServer::start().await;
    post(app.capture(), "/demo", &[], br#"{"z":1.10,"big":12345678901234567890123}"#).await;
    app.ask("POST", "/api/events/last/replay", json!({ "to": server.url(), "set": { "/new": true } })).await;
    let seen = server.wait_for(1).await;
    assert_eq!(seen[0].body(), br#"{"z":1.10,"big":12345678901234567890123,"new":true}"#);
}
