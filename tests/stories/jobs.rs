//! Jobs: what is deleted, restored and retried by search, and what becomes of it when somebody or something ends it.

use std::time::Duration;

use hookmitt_stories::{App, Load, Process, Server, Stored, post};
use serde_json::{Value, json};

use super::listen::{command, folder, run, serving};

const DELETED: &str = "SELECT count(*) FROM event WHERE deleted_at IS NOT NULL";

/// A running `hookmitt serve` with this many events or some more, and how many there are.
async fn full(dir: &std::path::Path, count: usize) -> (Server, u64) {
    let server = Server::start(dir).await;
    server.delivers().await;
    let load = Load::start(server.capture, "/shop/order", 32, Duration::ZERO);
    load.more(count).await;
    drop(load.end().await);
    let events = server.ask("GET", "/api/stats", Value::Null).await["events"].as_u64().expect("a number");
    (server, events)
}

/// Waits until the first job has done something, and is not yet done.
async fn under_way(server: &Server) {
    loop {
        let job = server.ask("GET", "/api/jobs", Value::Null).await["items"][0].clone();
        assert!(job.is_null() || job["state"] == "waiting" || job["state"] == "running", "too late: {job}");
        if job["done"].as_u64() > Some(0) {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_killed_in_the_middle_goes_on_in_another_process_without_a_gap() {
    let folder = folder();
    let dir = folder.path();
    let (server, events) = full(dir, 6_000).await;
    let begun = server.ask("POST", "/api/delete", json!({ "q": "order" })).await;
    assert_eq!((&begun["job"]["kind"], &begun["job"]["asked_by"]), (&json!("delete"), &json!("api")));
    under_way(&server).await;
    server.kill().await;
    let stored = Stored::open(dir);
    let done = stored.count("SELECT done FROM job");
    assert_eq!(stored.count(DELETED), done, "what is counted is done");
    assert!(done > 0 && done.cast_unsigned() < events, "{done} of {events}");

    let job = run(dir, &["jobs", "resume", "1", "--json"]).await.exits(0).json().remove(0);
    assert_eq!(
        (&job["state"], &job["done"], &job["total"]),
        (&json!("done"), &json!(events), &json!(events))
    );
    assert_eq!(job["result"]["events"], events, "each event once");
    assert_eq!(stored.count(DELETED).cast_unsigned(), events);
    let again = run(dir, &["jobs", "resume", "1"]).await.exits(2);
    assert!(again.err.contains("job 1 is done: it can't be resumed"), "{}", again.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_cancels_a_job_and_says_how_to_go_on() {
    let folder = folder();
    let dir = folder.path();
    let (server, events) = full(dir, 6_000).await;
    let deleting = Process::start(command(dir, &["delete", "--where", "order", "--yes"]));
    under_way(&server).await;
    let ran = deleting.stop().await.exits(130);
    assert!(ran.err.contains("cancelled at ") && ran.err.contains("`hookmitt jobs resume 1`"), "{}", ran.err);
    let job = server.ask("GET", "/api/jobs/1", Value::Null).await;
    assert_eq!((&job["state"], &job["asked_by"]), (&json!("cancelled"), &json!("cli")));
    let stored = Stored::open(dir);
    assert_eq!(stored.count(DELETED).cast_unsigned(), job["done"].as_u64().expect("a number"));

    // What comes meanwhile was not meant.
    post(server.capture, "/shop/order", &[], b"later").await;
    run(dir, &["jobs", "resume", "1"]).await.exits(0);
    assert_eq!(stored.count(DELETED).cast_unsigned(), events);
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_serve_that_ends_stops_its_jobs() {
    let folder = folder();
    let dir = folder.path();
    let (server, _) = full(dir, 6_000).await;
    server.ask("POST", "/api/delete", json!({ "q": "order" })).await;
    under_way(&server).await;
    let pid = server.pid().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
    assert!(server.ended().await.success());
    let shown = run(dir, &["jobs", "show", "1"]).await.exits(0);
    assert!(shown.text().contains("stopped"), "{}", shown.text());
    assert!(shown.err.contains("`hookmitt jobs resume 1`"), "{}", shown.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_events_are_changed_at_the_command_line_only_if_that_is_meant() {
    let folder = folder();
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    for number in 0..101 {
        post(capture, "/shop/order", &[], number.to_string().as_bytes()).await;
    }
    let empty = run(dir, &["delete", "--where", " "]).await.exits(2);
    assert!(empty.err.contains("the search is empty"), "{}", empty.err);
    let many = run(dir, &["delete", "--where", "order"]).await.exits(2);
    assert!(many.err.contains("more than 100 events match") && many.err.contains("--yes"), "{}", many.err);
    let ran = run(dir, &["delete", "--where", "order", "--yes"]).await.exits(0);
    let said = "101 events deleted\nto undo: `hookmitt jobs undo 1`";
    assert_eq!((ran.out.as_slice(), ran.err.trim()), (&b""[..], said));

    let unasked = run(dir, &["delete", "--undo", "--where", "order"]).await.exits(2);
    assert!(unasked.err.contains("more than 100 events match"), "{}", unasked.err);
    let undone = run(dir, &["delete", "--undo", "--where", "is:deleted order", "--yes", "--json"])
        .await
        .exits(0)
        .json();
    assert_eq!((undone.len(), &undone[0]["kind"], &undone[0]["done"]), (1, &json!("restore"), &json!(101)));
    let none = run(dir, &["retry", "--where", "nothing is called so"]).await.exits(0);
    assert_eq!(none.err.trim(), "0 events retried");
    let failed = run(dir, &["retry", "--where", "order", "--yes"]).await.exits(1);
    assert!(failed.err.contains("it hasn't been sent to a target yet"), "{}", failed.err);
    assert!(failed.err.contains("`hookmitt jobs show 4` lists all that failed"), "{}", failed.err);

    let listed = run(dir, &["jobs", "--json"]).await.exits(0).json();
    let kinds: Vec<_> = listed.iter().map(|job| job["kind"].as_str().expect("a kind")).collect();
    assert_eq!(kinds, ["retry", "retry", "restore", "delete"]);
    let shown = run(dir, &["jobs", "show", "4", "--json"]).await.exits(0).json().remove(0);
    assert_eq!(shown["failures"].as_array().map(Vec::len), Some(101));
    let negated = run(dir, &["delete", "--where", "-path:/order"]).await.exits(0);
    assert_eq!(negated.err.trim(), "0 events deleted");
    let again = run(dir, &["delete", "--where", "order", "--yes"]).await.exits(0);
    assert!(again.err.contains("`hookmitt jobs undo 6`"), "{}", again.err);
    let back = run(dir, &["jobs", "undo", "6"]).await.exits(0);
    assert!(back.err.contains("101 events restored"), "{}", back.err);
    let ended = run(dir, &["jobs", "cancel", "4"]).await.exits(2);
    assert!(ended.err.contains("job 4 is done already"), "{}", ended.err);
    let unknown = run(dir, &["jobs", "show", "9"]).await.exits(2);
    assert!(unknown.err.contains("there is no job 9"), "{}", unknown.err);
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_few_named_events_are_answered_at_once_and_more_become_a_job() {
    let app = App::start().await;
    for body in 0..11 {
        app.catch("demo", &[], &body.to_string()).await;
    }
    let names: Vec<_> = (1..=11).map(|number| format!("#{number}")).collect();
    let moved = app.ask("POST", "/api/delete", json!({ "events": names[..2] })).await;
    assert_eq!(moved["items"].as_array().map(Vec::len), Some(2), "{moved}");
    assert_eq!(app.events().await.len(), 9);
    app.ask("POST", "/api/restore", json!({ "events": names[..2] })).await;
    assert_eq!(app.events().await.len(), 11);

    let (status, begun) = app.call("POST", "/api/delete", json!({ "events": names })).await;
    assert_eq!((status, &begun["job"]["asked"]["events"]), (202, &json!(11)), "{begun}");
    for order in [json!({}), json!({ "q": "x", "events": ["#1"] }), json!({ "q": "  " })] {
        let (status, problem) = app.call("POST", "/api/delete", order.clone()).await;
        assert_eq!(status, 400, "{order}: {problem}");
    }
    let (status, problem) = app.call("GET", "/api/jobs/99", Value::Null).await;
    assert_eq!((status, &problem["code"]), (404, &json!("unknown-job")));
    let (status, problem) = app.call("GET", "/api/jobs?state=odd", Value::Null).await;
    assert_eq!(status, 400, "{problem}");
}
