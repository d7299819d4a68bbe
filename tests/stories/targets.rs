//! Targets that are down, paused, removed or new, and the events that they get.

use std::sync::Arc;

use hookmitt_stories::{Answer, App, Down, LocalServer, eventually};
use serde_json::{Value, json};

use super::delivery::bodies;

async fn target(app: &App, id: i64) -> Value {
    app.ask("GET", &format!("/api/targets/{id}"), Value::Null).await
}

async fn is_down(app: &App, id: i64) {
    eventually("nobody answers", async || (target(app, id).await["state"]["is"] == "silent").then_some(()))
        .await;
}

/// Posts three events to `demo`.
async fn three(app: &App) -> Vec<String> {
    let mut ids = Vec::new();
    for body in ["one", "two", "three"] {
        ids.push(app.catch("demo", &[], body).await);
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn events_wait_for_a_server_that_is_down_and_drain_in_order() {
    let (app, down) = (App::start().await, Down::somewhere());
    app.source("demo", Value::Null).await;
    let id = app.target(Some("demo"), &down.url(), json!({})).await;
    let ids = three(&app).await;
    for event in &ids {
        let what = "it says why it waits";
        let event = app.until(event, what, |event| event["deliveries"][0]["last_error"].is_string()).await;
        let delivery = &event["deliveries"][0];
        assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("pending"), &json!([])));
    }
    is_down(&app, id).await;
    let server = down.up();
    assert_eq!(bodies(&server.wait_for(3).await), ["one", "two", "three"]);
    for event in &ids {
        let delivery = app.status(event, "completed").await["deliveries"][0].clone();
        assert_eq!(super::delivery::numbers(&delivery), [1], "no attempt was counted while nobody answered");
        assert_eq!(delivery["last_error"], Value::Null);
    }
    assert_eq!(target(&app, id).await["state"]["is"], "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_and_comes_back_misses_nothing() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", Value::Null).await;
    let id = app.target(Some("demo"), &server.url(), json!({})).await;
    let first = app.catch("demo", &[], "zero").await;
    app.status(&first, "completed").await;
    let down = server.down().await;
    three(&app).await;
    is_down(&app, id).await;
    assert_eq!(bodies(&down.up().wait_for(3).await), ["one", "two", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_does_not_resolve_is_a_server_that_is_down() {
    let app = App::start().await;
    app.source("demo", Value::Null).await;
    // Longer than any DNS label may be, so the name is refused here and no resolver is asked.
    let name = format!("http://{}.invalid:3000/", "a".repeat(64));
    let id = app.target(Some("demo"), &name, json!({})).await;
    let event = app.catch("demo", &[], "x").await;
    let what = "it says why it waits";
    let event = app.until(&event, what, |event| event["deliveries"][0]["last_error"].is_string()).await;
    let delivery = &event["deliveries"][0];
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("pending"), &json!([])));
    assert!(delivery["last_error"].as_str().unwrap().contains("resolve"), "{delivery}");
    is_down(&app, id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_target_gets_nothing_until_it_is_resumed() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", Value::Null).await;
    let paused = app.target(Some("demo"), &format!("{}/paused", server.url()), json!({})).await;
    app.target(Some("demo"), &format!("{}/other", server.url()), json!({})).await;
    let path = format!("/api/targets/{paused}");
    app.ask("PATCH", &path, json!({ "paused": true })).await;
    let ids = three(&app).await;
    let lines =
        |seen: Vec<hookmitt_stories::Seen>| seen.iter().map(hookmitt_stories::Seen::line).collect::<Vec<_>>();
    assert_eq!(lines(server.wait_for(3).await), ["POST /other HTTP/1.1"; 3]);
    let event = app.event(&ids[2]).await;
    assert_eq!(event["deliveries"][0]["status"], "pending");
    app.ask("PATCH", &path, json!({ "paused": false })).await;
    let seen = server.wait_for(6).await.split_off(3);
    assert_eq!(bodies(&seen), ["one", "two", "three"]);
    assert_eq!(lines(seen), ["POST /paused HTTP/1.1"; 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_target_that_is_removed_fails() {
    let (app, down) = (App::start().await, Down::somewhere());
    app.source("demo", Value::Null).await;
    let id = app.target(Some("demo"), &down.url(), json!({})).await;
    let ids = three(&app).await;
    app.ask("DELETE", &format!("/api/targets/{id}"), Value::Null).await;
    for event in ids {
        let delivery = app.status(&event, "failed").await["deliveries"][0].clone();
        assert_eq!(
            (&delivery["last_error"], &delivery["attempts"]),
            (&json!("the target was removed"), &json!([]))
        );
        assert!(delivery["completed_at"].is_string());
    }
    let next = app.catch("demo", &[], "next").await;
    assert_eq!(app.event(&next).await["status"], "captured");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_under_way_to_a_target_that_is_removed_is_not_tried_again() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    server.will([Answer::When(Arc::default())]);
    app.source("demo", Value::Null).await;
    let id = app.target(Some("demo"), &server.url(), json!({})).await;
    let event = app.catch("demo", &[], "x").await;
    server.wait_for(1).await;
    app.ask("DELETE", &format!("/api/targets/{id}"), Value::Null).await;
    drop(server);
    let delivery = app.status(&event, "failed").await["deliveries"][0].clone();
    assert_eq!(delivery["last_error"], "the target was removed");
    assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_target_gets_no_earlier_events() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    let early = app.catch("demo", &[], "early").await;
    app.target(Some("demo"), &server.url(), json!({})).await;
    let late = app.catch("demo", &[], "late").await;
    app.status(&late, "completed").await;
    assert_eq!(bodies(&server.seen()), ["late"]);
    let event = app.event(&early).await;
    assert_eq!((&event["status"], &event["deliveries"]), (&json!("captured"), &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn several_targets_each_get_the_event_and_fail_apart() {
    let (app, one, other) = (App::start().await, LocalServer::start().await, LocalServer::start().await);
    other.will([Answer::Status(404)]);
    app.source("demo", Value::Null).await;
    app.source("else", Value::Null).await;
    app.target(Some("demo"), &one.url(), json!({})).await;
    app.target(Some("demo"), &other.url(), json!({})).await;
    let id = app.catch("demo", &[], "x").await;
    let states =
        |event: &Value| [event["deliveries"][0]["status"].clone(), event["deliveries"][1]["status"].clone()];
    let event = app.until(&id, "both ended", |event| states(event) == ["completed", "failed"]).await;
    assert_eq!(event["status"], "failed");
    assert_eq!((bodies(&one.seen()), bodies(&other.seen())), (vec!["x".to_owned()], vec!["x".to_owned()]));
    let unrelated = app.catch("else", &[], "y").await;
    assert_eq!(app.event(&unrelated).await["status"], "captured");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_of_every_source_gets_those_made_later_too() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    for source in ["one", "two"] {
        let id = app.catch(source, &[], source).await;
        app.status(&id, "completed").await;
    }
    assert_eq!(bodies(&server.seen()), ["one", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_event_is_kept_and_not_forwarded() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("gh", json!({ "provider": "github", "on_invalid": "reject" })).await;
    app.secret("gh", "default", "right").await;
    app.target(Some("gh"), &server.url(), json!({})).await;
    for (secret, verdict, code) in
        [(Some("wrong"), "invalid", "invalid-signature"), (None, "unsigned", "unsigned")]
    {
        let body = format!("{{\"is\":\"{verdict}\"}}");
        let reply = app.github("gh", verdict, secret, &body).await;
        assert_eq!((reply.status, &reply.json()["code"]), (401, &json!(code)));
        let event = app.event(reply.header("x-hookmitt-event-id").unwrap()).await;
        assert_eq!((&event["verdict"], &event["status"]), (&json!(verdict), &json!("skipped")));
        assert_eq!(event["deliveries"][0]["last_error"], "its signature was rejected");
        assert_eq!(app.body("last").await, body);
    }
    let reply = app.github("gh", "good", Some("right"), "{\"is\":\"good\"}").await;
    assert_eq!(reply.status, 200);
    app.status("last", "completed").await;
    assert_eq!(bodies(&server.seen()), ["{\"is\":\"good\"}"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_event_is_forwarded_with_its_verdict_where_it_is_only_recorded() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("gh", json!({ "provider": "github" })).await;
    app.secret("gh", "default", "right").await;
    app.target(Some("gh"), &server.url(), json!({})).await;
    let reply = app.github("gh", "d1", Some("wrong"), "{}").await;
    assert_eq!(reply.status, 200);
    assert_eq!(server.wait_for(1).await[0].header("x-hookmitt-verdict").as_deref(), Some("invalid"));
    app.github("gh", "d1", Some("right"), "{}").await;
    assert_eq!(server.wait_for(2).await[1].header("x-hookmitt-verdict").as_deref(), Some("valid"));
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_that_a_crash_left_behind_are_taken_back_at_the_next_start() {
    let (app, down) = (App::start().await, Down::somewhere());
    app.source("demo", Value::Null).await;
    app.target(Some("demo"), &down.url(), json!({})).await;
    let ids = three(&app).await;
    let folder = app.stop().await;
    let db = rusqlite::Connection::open(folder.path().join("inbox.db")).unwrap();
    let claim = "UPDATE delivery SET state = 1, claim = 7, claimed_at = 0";
    assert_eq!(db.execute(claim, []).unwrap(), 3);
    drop(db);
    let server = down.up();
    let app = App::start_on(folder).await;
    assert_eq!(bodies(&server.wait_for(3).await), ["one", "two", "three"]);
    for id in ids {
        app.status(&id, "completed").await;
    }
}
