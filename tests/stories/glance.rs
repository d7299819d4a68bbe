//! The summary of an event in lists: how often it came, and the state of its deliveries.

use std::sync::Arc;

use hookmitt_stories::{Answer, App, Down, LocalServer, post};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Returns the summaries of all events, oldest first.
async fn glances(app: &App) -> Vec<Value> {
    let page = app.ask("GET", "/api/events?glance=true&limit=1000", Value::Null).await;
    page["items"].as_array().unwrap().iter().rev().map(|event| event["glance"].clone()).collect()
}

async fn count(app: &App, view: &str) -> (Value, Vec<Value>) {
    let stats = app.ask("GET", "/api/stats", Value::Null).await;
    let page = app.ask("GET", &format!("/api/events?view={view}&limit=1000"), Value::Null).await;
    let seqs = page["items"].as_array().unwrap().iter().map(|event| event["seq"].clone()).collect();
    (stats["views"][view].clone(), seqs)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_without_glance_stays_as_it_was() {
    let app = App::start().await;
    app.catch("demo", &[], "{}").await;
    assert!(app.events().await[0].get("glance").is_none());
    let glance =
        json!({ "copies": 1, "copies_differ": false, "folded": 0, "folds": false, "delivery": null });
    assert_eq!(glances(&app).await, [glance]);
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_are_counted_wherever_they_stand_and_other_bytes_are_seen() {
    let app = App::start().await;
    app.source("hub", json!({ "provider": "github" })).await;
    app.secret("hub", "main", "hush").await;
    for (id, body) in [("a", "{}"), ("b", "{}"), ("a", "{}"), ("a", "{}")] {
        app.github("hub", id, Some("hush"), body).await;
    }
    let counts =
        async || glances(&app).await.iter().map(|glance| glance["copies"].clone()).collect::<Vec<_>>();
    assert_eq!(counts().await, [3, 1, 3, 3]);
    assert!(glances(&app).await.iter().all(|glance| glance["copies_differ"] == false));
    app.github("hub", "a", Some("hush"), r#"{"other":1}"#).await;
    let differ: Vec<_> = glances(&app).await.iter().map(|glance| glance["copies_differ"].clone()).collect();
    assert_eq!(differ, [true, false, true, true, true]);

    for name in ["#1", "#4"] {
        let copies =
            app.ask("GET", &format!("/api/events/{}/copies", name.replace('#', "%23")), Value::Null).await;
        let seqs: Vec<_> =
            copies["items"].as_array().unwrap().iter().map(|copy| copy["seq"].clone()).collect();
        assert_eq!((seqs, &copies["total"]), (vec![json!(1), json!(3), json!(4), json!(5)], &json!(4)));
        assert_eq!(copies["items"][0]["glance"]["copies"], 4);
    }
    app.ask("DELETE", "/api/events/%233", Value::Null).await;
    assert_eq!(counts().await, [3, 1, 3, 3], "one in the bin doesn't count");
    app.ask("POST", "/api/events/%233/restore", Value::Null).await;
    assert_eq!(counts().await, [4, 1, 4, 4, 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_most_telling_delivery_is_shown_with_its_last_attempt() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    let target = app.target(Some("demo"), &server.url(), json!({ "attempts": 1 })).await;
    server.will([Answer::Status(204), Answer::Status(500), Answer::Close]);
    for (body, status) in [("1", "completed"), ("2", "dead_letter"), ("3", "dead_letter")] {
        let id = app.catch("demo", &[], body).await;
        app.status(&id, status).await;
    }
    let all = glances(&app).await;
    let seen = |name: &str| all.iter().map(|glance| glance["delivery"][name].clone()).collect::<Vec<_>>();
    assert_eq!(seen("status"), ["completed", "dead_letter", "dead_letter"]);
    assert_eq!(seen("response_status"), [json!(204), json!(500), Value::Null]);
    assert_eq!(seen("ambiguous"), [false, false, true]);
    assert_eq!(seen("waiting"), [false; 3]);
    assert_eq!((&seen("target_id")[0], &seen("count")[0]), (&json!(target), &json!(1)));
    assert!(seen("target")[0].as_str().unwrap().starts_with(&server.url()));
    assert!(seen("duration_ms").iter().all(Value::is_u64) && seen("error")[0].is_null());
    assert_eq!(seen("error")[1], "answered 500");

    app.ask("POST", "/api/events/%232/replay", json!({})).await;
    app.until("#2", "the replay is over", |event| event["deliveries"][1]["status"] == "completed").await;
    let delivery = &glances(&app).await[1]["delivery"];
    assert_eq!((&delivery["status"], &delivery["count"]), (&json!("dead_letter"), &json!(2)));
    assert_eq!(count(&app, "dead_letter").await, (json!(2), vec![json!(3), json!(2)]));
    assert_eq!(count(&app, "needs_action").await, (json!(2), vec![json!(3), json!(2)]));
    app.ask("DELETE", "/api/events/%233", Value::Null).await;
    assert_eq!(count(&app, "needs_action").await, (json!(1), vec![json!(2)]));
    assert_eq!(count(&app, "invalid").await, (json!(0), vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_up_is_waiting_until_its_target_is_tried_again() {
    let (app, down) = (App::start().await, Down::somewhere());
    app.source("demo", json!({})).await;
    let url = down.url();
    let target = app.target(Some("demo"), &url, json!({})).await;
    let id = app.catch("demo", &[], "{}").await;
    app.until(&id, "nobody answers", |event| !event["deliveries"][0]["last_error"].is_null()).await;
    let delivery = &glances(&app).await[0]["delivery"];
    assert_eq!((&delivery["status"], &delivery["waiting"]), (&json!("pending"), &json!(true)));
    assert!(delivery["error"].as_str().unwrap().contains("refused"), "{delivery}");
    assert_eq!(count(&app, "waiting").await, (json!(1), vec![json!(1)]));

    let probed = app.ask("POST", "/api/targets/probe", json!({ "url": url })).await;
    assert_eq!((&probed["answers"], probed["error"].is_string()), (&json!(false), true));
    let tried = app.ask("POST", &format!("/api/targets/{target}/try"), Value::Null).await;
    assert_eq!(tried["answers"], false);

    app.ask("PATCH", &format!("/api/targets/{target}"), json!({ "paused": true })).await;
    let server = down.up();
    let port = server.address.port();
    let probed = app.ask("POST", "/api/targets/probe", json!({ "url": port.to_string() })).await;
    assert_eq!(probed, json!({ "answers": true, "port": port, "error": null }));
    assert_eq!(count(&app, "waiting").await.0, 1, "a paused one waits too");
    let tried = app.ask("POST", &format!("/api/targets/{target}/try"), Value::Null).await;
    assert_eq!(tried["answers"], true);
    app.status(&id, "completed").await;
    assert_eq!(count(&app, "waiting").await, (json!(0), vec![]));
    assert_eq!(glances(&app).await[0]["delivery"]["waiting"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_goes_nowhere_where_a_target_may_not() {
    let app = App::start().await;
    for (url, code) in [
        (format!("http://{}", app.capture()), "own-address"),
        (format!("http://{}", app.api()), "own-address"),
        ("ftp://localhost".to_owned(), "bad-target"),
    ] {
        let (status, answer) = app.call("POST", "/api/targets/probe", json!({ "url": url })).await;
        assert_eq!(status, 400, "{answer}");
        assert!(code == "bad-target" || answer["code"] == code, "{answer}");
    }
    assert_eq!(app.call("POST", "/api/targets/99/try", Value::Null).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_source_are_counted_and_found_among_those_of_others() {
    let (app, go) = (App::start().await, Arc::new(Notify::new()));
    let server = LocalServer::start().await;
    server.will([Answer::When(Arc::clone(&go))]);
    for number in 0..30 {
        let source = if number % 10 == 3 { "rare" } else { "often" };
        post(app.capture(), &format!("/{source}"), &[], format!("{number}").as_bytes()).await;
    }
    app.ask("DELETE", "/api/events/%2314", Value::Null).await;
    let stats = app.ask("GET", "/api/stats", Value::Null).await;
    let expected = json!([
        { "slug": "often", "events": 27, "newest_verdict": "unsigned" },
        { "slug": "rare", "events": 2, "newest_verdict": "unsigned" },
    ]);
    assert_eq!((&stats["sources"], &stats["events"]), (&expected, &json!(29)));
    let page = app.ask("GET", "/api/events?source=rare", Value::Null).await;
    let seqs: Vec<_> = page["items"].as_array().unwrap().iter().map(|event| event["seq"].clone()).collect();
    assert_eq!(seqs, [24, 4]);
    go.notify_one();
}
