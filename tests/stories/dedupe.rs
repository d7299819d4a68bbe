//! A duplicate is stored, shown and answered like its first event, and sent where the first one did not arrive.

use std::sync::Arc;

use hookmitt_stories::{Answer, App, LocalServer, Reply, post};
use serde_json::{Value, json};
use tokio::{sync::Notify, task::JoinSet};

/// Starts an app with a GitHub source `hub` and a target.
async fn hub(target: Value) -> (App, LocalServer) {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("hub", json!({ "provider": "github" })).await;
    app.target(Some("hub"), &server.url(), target).await;
    (app, server)
}

fn id(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["id"].as_str().expect("an id").to_owned()
}

fn delivery(event: &Value) -> [&Value; 2] {
    let delivery = &event["deliveries"][0];
    [&delivery["status"], &delivery["last_error"]]
}

const DUPLICATE: &str = "a duplicate of an event that this target has or gets";

#[tokio::test(flavor = "multi_thread")]
async fn fifty_copies_at_once_give_one_first_and_49_duplicates_and_one_delivery() {
    let (app, server) = hub(json!({ "order": "parallel:8" })).await;
    app.secret("hub", "main", "hush").await;
    let app = Arc::new(app);
    let mut all = JoinSet::new();
    for _ in 0..50 {
        let app = Arc::clone(&app);
        all.spawn(async move { app.github("hub", "evt-1", Some("hush"), r#"{"ref":"main"}"#).await });
    }
    let replies = all.join_all().await;
    assert!(replies.iter().all(|reply| reply.status == 200 && reply.json()["received"] == true));
    server.wait_for(1).await;
    let events = app.events().await;
    let (repeats, firsts): (Vec<_>, Vec<_>) =
        events.iter().partition(|event| event["duplicate_of"].is_string());
    assert_eq!((firsts.len(), repeats.len()), (1, 49));
    assert!(
        repeats.iter().all(|event| event["duplicate_of"] == firsts[0]["id"] && event["status"] == "skipped")
    );
    assert!(repeats.iter().all(|event| event["conflict"] == false && event["verdict"] == "valid"));
    assert!(repeats.iter().all(|event| event["seq"].as_i64() > firsts[0]["seq"].as_i64()));
    app.status(firsts[0]["id"].as_str().unwrap(), "completed").await;
    assert_eq!(server.seen().len(), 1);
    let stats = app.ask("GET", "/api/stats", Value::Null).await;
    assert_eq!(stats["deliveries"], json!({ "completed": 1, "skipped": 49 }));

    let db = rusqlite::Connection::open(app.folder.path().join("inbox.db")).unwrap();
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM first_key"), 1);
    assert_eq!(count("SELECT count(*) FROM event WHERE duplicate_of = (SELECT id FROM first_key)"), 49);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_with_other_bytes_is_a_conflict_and_one_in_another_source_is_no_repeat() {
    let (app, _server) = hub(json!({})).await;
    let first = id(&app.github("hub", "1", None, "{}").await);
    for (body, conflict) in [("{}", false), ("{ }", true), ("", true)] {
        let repeat = app.event(&id(&app.github("hub", "1", None, body).await)).await;
        assert_eq!(
            (&repeat["duplicate_of"], &repeat["conflict"]),
            (&json!(first), &json!(conflict)),
            "{body:?}"
        );
        assert_eq!(repeat["dedupe_key"], "id:1");
        assert_eq!(delivery(&repeat), [&json!("skipped"), &json!(DUPLICATE)]);
    }
    let other = app.event(&id(&app.github("elsewhere", "1", None, "{}").await)).await;
    assert_eq!((&other["duplicate_of"], &other["conflict"]), (&Value::Null, &json!(false)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_of_a_failed_first_is_sent_by_itself_and_the_first_stays_as_it_ended() {
    for (answer, ended) in [(404, "failed"), (500, "dead_letter")] {
        let (app, server) = hub(json!({ "attempts": 1 })).await;
        server.will([Answer::Status(answer)]);
        let first = id(&app.github("hub", "1", None, "{\"n\":1}").await);
        app.status(&first, ended).await;
        let again = id(&app.github("hub", "1", None, "{\"n\":2}").await);
        let again = app.status(&again, "completed").await;
        assert_eq!((&again["duplicate_of"], &again["conflict"]), (&json!(first), &json!(true)));
        let seen = server.wait_for(2).await;
        assert_eq!(seen[1].body(), b"{\"n\":2}");
        assert_eq!(seen[1].header("x-hookmitt-event-id").as_deref(), again["id"].as_str());
        assert_eq!(app.event(&first).await["status"], ended);
        let third = id(&app.github("hub", "1", None, "{\"n\":1}").await);
        assert_eq!(app.event(&third).await["status"], "skipped", "one repeat has arrived there");
        assert_eq!(server.seen().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_while_its_first_waits_or_runs_is_skipped() {
    let (app, server) = hub(json!({ "paused": true })).await;
    let target = app.ask("GET", "/api/targets", Value::Null).await["items"][0]["id"].clone();
    let pause = async |paused: bool| {
        app.ask("PATCH", &format!("/api/targets/{target}"), json!({ "paused": paused })).await
    };
    let _paused = pause(true).await;
    let go = Arc::new(Notify::new());
    server.will([Answer::When(Arc::clone(&go))]);
    let first = id(&app.github("hub", "1", None, "{}").await);
    app.status(&first, "pending").await;
    let second = id(&app.github("hub", "1", None, "{}").await);
    assert_eq!(delivery(&app.event(&second).await), [&json!("skipped"), &json!(DUPLICATE)]);
    let _resumed = pause(false).await;
    server.wait_for(1).await;
    app.status(&first, "processing").await;
    let third = id(&app.github("hub", "1", None, "{}").await);
    assert_eq!(app.event(&third).await["status"], "skipped");
    go.notify_one();
    app.status(&first, "completed").await;
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_goes_to_a_target_that_never_had_its_first() {
    let (app, server) = hub(json!({})).await;
    let first = id(&app.github("hub", "1", None, "{}").await);
    app.status(&first, "completed").await;
    let late = LocalServer::start().await;
    app.target(Some("hub"), &late.url(), json!({})).await;
    let again = id(&app.github("hub", "1", None, "{}").await);
    let event = app.status(&again, "completed").await;
    let states: Vec<_> =
        event["deliveries"].as_array().unwrap().iter().map(|one| one["status"].clone()).collect();
    assert_eq!(states, ["skipped", "completed"]);
    assert_eq!((server.seen().len(), late.seen().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_forwards_repeats_sends_them_all() {
    let (app, server) = hub(json!({})).await;
    app.ask("PATCH", "/api/sources/hub", json!({ "on_duplicate": "forward" })).await;
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(id(&app.github("hub", "1", None, "{}").await));
    }
    server.wait_for(3).await;
    for (number, event) in all.iter().enumerate() {
        let event = app.status(event, "completed").await;
        assert_eq!(event["duplicate_of"].is_string(), number > 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skipped_repeat_is_sent_when_it_is_asked_for() {
    let (app, server) = hub(json!({})).await;
    let first = id(&app.github("hub", "1", None, "{}").await);
    app.status(&first, "completed").await;
    let repeat = id(&app.github("hub", "1", None, "{}").await);
    app.ask("POST", &format!("/api/events/{repeat}/retry"), Value::Null).await;
    app.status(&repeat, "completed").await;
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn repeats_told_by_their_content_are_flagged_and_sent_all_the_same() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    let sent = async |method: &str, target: &str, body: &str| {
        let bytes = hookmitt_stories::request(method, target, &[], body.as_bytes());
        let reply = hookmitt_stories::parse_reply(&hookmitt_stories::exchange(app.capture(), &bytes).await);
        app.event(reply.header("x-hookmitt-event-id").expect("an id")).await
    };
    let first = sent("POST", "/demo/a?b", "{}").await;
    assert!(first["dedupe_key"].as_str().unwrap().starts_with("content:"));
    let repeat = sent("POST", "/demo/a?b", "{}").await;
    assert_eq!((&repeat["duplicate_of"], &repeat["conflict"]), (&first["id"], &json!(false)));
    for (method, target, body) in [
        ("PUT", "/demo/a?b", "{}"),
        ("POST", "/demo/a", "{}"),
        ("POST", "/demo/a?", "{}"),
        ("POST", "/demo/a?b", "{} "),
        ("POST", "/other/a?b", "{}"),
    ] {
        assert_eq!(
            sent(method, target, body).await["duplicate_of"],
            Value::Null,
            "{method} {target} {body:?}"
        );
    }
    server.wait_for(7).await;
    app.status(repeat["id"].as_str().unwrap(), "completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_in_the_bin_still_counts() {
    let (app, server) = hub(json!({})).await;
    let first = id(&app.github("hub", "1", None, "{}").await);
    app.status(&first, "completed").await;
    app.ask("DELETE", &format!("/api/events/{first}"), Value::Null).await;
    let repeat = app.event(&id(&app.github("hub", "1", None, "{}").await)).await;
    assert_eq!((&repeat["duplicate_of"], &repeat["status"]), (&json!(first), &json!("skipped")));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_copy_neither_owns_a_key_nor_is_skipped() {
    let (app, server) = hub(json!({})).await;
    let first = id(&app.github("hub", "1", None, "{\"n\":1}").await);
    app.status(&first, "completed").await;
    let edit = json!({ "set": { "/n": 2 }, "headers": [["X-GitHub-Delivery", "2"]] });
    let copy =
        app.ask("POST", &format!("/api/events/{first}/replay"), edit).await["items"][0]["event_id"].clone();
    let copy = app.status(copy.as_str().unwrap(), "completed").await;
    assert_eq!(
        (&copy["parent"], &copy["via"], &copy["dedupe_key"]),
        (&json!(first), &json!("edit"), &json!("id:2"))
    );
    let genuine = app.event(&id(&app.github("hub", "2", None, "{\"n\":3}").await)).await;
    assert_eq!(genuine["duplicate_of"], Value::Null);
    server.wait_for(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_of_any_length_are_told_apart() {
    let (app, _server) = hub(json!({})).await;
    let long = |end: &str| format!("{}{end}", "x".repeat(400));
    for (name, repeats) in [(long("a"), false), (long("b"), false), (long("a"), true)] {
        let event = app.event(&id(&app.github("hub", &name, None, "{}").await)).await;
        assert_eq!(event["duplicate_of"].is_string(), repeats);
        assert!(event["dedupe_key"].as_str().unwrap().len() < 300);
    }
    let empty = post(app.capture(), "/hub", &[("X-GitHub-Delivery", "")], b"{}").await;
    assert_eq!(empty.status, 200);
}
