//! Events are deleted and restored, and with them their waiting deliveries.

use std::path::Path;

use hookmitt_stories::{Answer, App, Down, LocalServer, Ran, eventually, post};
use serde_json::{Value, json};

use super::{
    delivery::eager,
    listen::{command, folder, run, serving},
};

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_server_that_is_down_goes_with_its_event() {
    let (app, down) = (App::start().await, Down::somewhere());
    app.source("demo", json!({})).await;
    app.target(Some("demo"), &down.url(), json!({})).await;
    let [gone, back, kept] = [
        app.catch("demo", &[], "1").await,
        app.catch("demo", &[], "2").await,
        app.catch("demo", &[], "3").await,
    ];
    for id in [&gone, &back] {
        // A delivery with which the server is being tried at this moment ends when that has failed.
        app.ask("DELETE", &format!("/api/events/{id}"), Value::Null).await;
        eventually("its delivery has ended", async || {
            let delivery = &app.event(id).await["deliveries"][0];
            let is_skipped = delivery["status"] == "skipped";
            (is_skipped && delivery["last_error"] == "its event was deleted").then_some(())
        })
        .await;
    }
    let waiting = app.ask("GET", "/api/stats", Value::Null).await["targets"][0]["waiting"].clone();
    assert_eq!(waiting, 1, "deleted events wait for nothing");
    app.ask("POST", &format!("/api/events/{back}/restore"), Value::Null).await;

    let server = down.up();
    app.status(&kept, "completed").await;
    app.status(&back, "completed").await;
    let bodies: Vec<_> = server.seen().iter().map(|seen| seen.body().to_vec()).collect();
    assert_eq!(bodies, [b"2", b"3"], "in order of arrival");
    let (status, problem) = app.call("POST", &format!("/api/events/{gone}/retry"), Value::Null).await;
    assert_eq!(status, 400);
    assert_eq!(problem["code"], "deleted");
    assert!(problem["hint"].as_str().unwrap().contains("hookmitt delete --undo '#1'"), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_and_was_deleted_is_no_dead_letter_to_retry() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    app.target(Some("demo"), &server.url(), eager()).await;
    server.will([Answer::Status(400)]);
    let id = app.catch("demo", &[], "1").await;
    app.status(&id, "failed").await;
    app.ask("DELETE", &format!("/api/events/{id}"), Value::Null).await;
    let order = json!({ "dead_letter": true, "failed": true });
    assert_eq!(app.ask("POST", "/api/retry", order).await, json!({ "items": [], "skipped": [] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_restored_is_verified_by_the_secrets_that_there_are_by_then() {
    let app = App::start().await;
    app.source("hub", json!({ "provider": "github" })).await;
    app.github("hub", "a", Some("hush"), "{}").await;
    let event = app.event("last").await;
    assert_eq!(event["verdict"], "no_secret");
    let id = event["id"].as_str().unwrap();
    app.ask("DELETE", &format!("/api/events/{id}"), Value::Null).await;
    app.secret("hub", "main", "hush").await;
    app.ask("POST", &format!("/api/events/{id}/restore"), Value::Null).await;
    app.until(id, "it is verified", |event| event["verdict"] == "valid").await;
}

async fn listed(dir: &Path) -> Vec<i64> {
    let events = run(dir, &["events", "--json"]).await.exits(0).json();
    events.iter().map(|event| event["seq"].as_i64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_deleted_and_restored_at_the_command_line() {
    let folder = folder();
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    run(dir, &["target", "add", "demo", "http://127.0.0.1:9", "--create"]).await.exits(0);
    for body in [&b"1"[..], b"2", b"3"] {
        post(capture, "/demo", &[], body).await;
    }
    let ran = run(dir, &["delete", "last", "last~1"]).await.exits(0);
    let said = ran.err.clone();
    assert_eq!(ran.text(), "#3  deleted, 1 waiting delivery ended\n#2  deleted, 1 waiting delivery ended\n");
    assert!(said.contains("to undo: `hookmitt delete --undo '#3' '#2'`"), "{said}");
    assert_eq!(listed(dir).await, [1]);
    let retried = run(dir, &["retry", "#3"]).await;
    assert!(format!("{}{}", retried.text(), retried.err).contains("it is deleted"), "{}", retried.err);

    let never = run(dir, &["delete", "--undo", "last"]).await.exits(2);
    assert!(never.err.contains("#1 isn't deleted"), "{}", never.err);
    assert_eq!(run(dir, &["delete", "--undo", "#3"]).await.exits(0).text(), "#3  restored\n");
    let line = run(dir, &["delete", "#1", "--json"]).await.exits(0).json().remove(0);
    assert_eq!((&line["seq"], &line["deleted"]), (&json!(1), &json!(true)));
    assert_eq!(listed(dir).await, [3]);
    let unknown: Ran = run(dir, &["delete", "#9"]).await.exits(2);
    assert!(unknown.err.contains("there is no event #9"), "{}", unknown.err);
    Ran::of(command(dir, &["delete"])).await.exits(2);
    serve.stop().await.exits(0);
}
