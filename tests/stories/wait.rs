//! `hookmitt wait`: a script goes on once an event is there.

use std::sync::Arc;

use hookmitt_stories::{Answer, LocalServer, Process, post};
use serde_json::json;
use tokio::sync::Notify;

use super::listen::{command, folder, github, run, serving};

#[tokio::test(flavor = "multi_thread")]
async fn a_script_goes_on_once_what_it_waits_for_is_there() {
    let folder = folder();
    let (serve, capture) = serving(folder.path()).await;
    post(capture, "/shop", &[], b"needle, but before").await;
    let mut wait =
        Process::start(command(folder.path(), &["wait", "source:shop verdict:unsigned the needle"]));
    wait.says("waiting for 1 event").await;
    post(capture, "/shop", &[], b"the other").await;
    post(capture, "/demo", &[], b"the needle").await;
    github(capture, "shop", "s3cret", "d1", "{\"a\":\"the needle\"}").await;
    post(capture, "/shop", &[], b"here is the needle").await;
    let text = wait.end().await.exits(0).text();
    assert!(text.contains("#5") && !text.contains("#4") && !text.contains("#2"), "{text}");

    let since =
        run(folder.path(), &["wait", "type:push", "--since", "1h", "--json", "--timeout", "0s"]).await;
    let found = since.exits(0).json();
    assert_eq!((found.len(), &found[0]["seq"]), (1, &json!(4)), "what came before counts since then");
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_are_counted_and_each_is_told_once_when_it_comes_to_match() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    run(dir, &["target", "add", "*", &server.url()]).await.exits(0);
    let gate = Arc::new(Notify::new());
    server.will([Answer::When(Arc::clone(&gate)), Answer::Status(404), Answer::Status(200)]);
    let search = ["wait", "status:completed", "--count", "2"];
    let mut wait = Process::start(command(dir, &search));
    wait.says("waiting for 2 events").await;
    for body in ["held", "refused", "fine"] {
        post(capture, "/demo", &[], body.as_bytes()).await;
    }
    server.wait_for(1).await;
    assert!(!wait.out().contains('#'), "nothing is completed yet: {}", wait.out());
    gate.notify_one();
    let text = wait.end().await.exits(0).text();
    let rows: Vec<_> = text.lines().filter_map(|line| line.trim_start().split(' ').next()).collect();
    assert_eq!(rows, ["#", "#1", "#3"], "{text}");
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_works_before_anything_serves_and_sees_what_another_process_does() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let dir = folder.path();
    run(dir, &["target", "add", "demo", &server.url(), "--create"]).await.exits(0);
    let mut wait = Process::start(command(dir, &["wait", "status:completed", "--timeout", "60s"]));
    wait.says("waiting for 1 event").await;
    let (serve, capture) = serving(dir).await;
    post(capture, "/demo", &[], b"{}").await;
    assert!(wait.end().await.exits(0).text().contains("#1"));
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_come_is_said_with_exit_1() {
    let folder = folder();
    let dir = folder.path();
    run(dir, &["source", "add", "shop"]).await.exits(0);
    let late = run(dir, &["wait", "source:shpo", "--timeout", "10ms"]).await.exits(1);
    assert!(late.err.contains("0 of 1 event arrived within 10 ms"), "{}", late.err);
    assert!(late.err.contains("no source shpo") && late.err.contains("similar names: shop"), "{}", late.err);
    let late = run(dir, &["wait", "--timeout", "10ms", "--json"]).await.exits(1);
    let error: serde_json::Value = serde_json::from_str(late.err.trim()).unwrap();
    assert_eq!((&error["code"], late.out.len()), (&json!("timed-out"), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_it() {
    let folder = folder();
    let mut wait = Process::start(command(folder.path(), &["wait"]));
    wait.says("waiting").await;
    let ended = wait.stop().await.exits(130);
    assert!(!ended.err.contains("error"), "{}", ended.err);
}
