//! The command line as its users meet it: the README's journey, alone and beside a running hookmitt.

use std::{path::Path, sync::Arc};

use hookmitt_stories::{Answer, Down, LocalServer, Ran, eventually, post};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{
    delivery::bodies,
    listen::{command, folder, github, run, serving},
};

async fn shown(data_dir: &Path, event: &str) -> Value {
    run(data_dir, &["show", event, "--json"]).await.exits(0).json().remove(0)
}

/// Waits until an event has this status.
async fn status(data_dir: &Path, event: &str, status: &str) -> Value {
    eventually(&format!("{event} is {status}"), async || {
        Some(shown(data_dir, event).await).filter(|event| event["status"] == status)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_readmes_journey_holds() {
    let folder = folder();
    let dir = folder.path();
    let (mut serve, capture) = serving(dir).await;
    serve.says("curl -d").await;

    let reply = post(capture, "/demo", &[("Content-Type", "text/x-Odd")], b"{\"hello\":\"mitt\"}").await;
    let id = reply.json()["id"].as_str().unwrap().to_owned();
    serve.says("#1").await;
    let list = run(dir, &["events"]).await.exits(0).text();
    assert!(
        list.contains("#1")
            && list.contains("demo")
            && list.contains("unsigned")
            && list.contains("captured"),
        "{list}"
    );
    let show = run(dir, &["show", "last"]).await.exits(0).text();
    assert!(show.contains(&id) && show.contains("hello") && show.contains("mitt"), "{show}");
    assert_eq!(run(dir, &["show", "last", "--body"]).await.exits(0).out, b"{\"hello\":\"mitt\"}");
    assert!(
        run(dir, &["show", "last", "--headers"]).await.exits(0).text().contains("Content-Type: text/x-Odd\n")
    );

    github(capture, "gh", "s3cret", "d1", "{}").await;
    assert_eq!(shown(dir, "last").await["verdict"], "no_secret");
    let set = Ran::with_input(command(dir, &["secret", "set", "gh"]), b"s3cret\n").await.exits(0);
    assert!(!set.err.contains("s3cret"), "{}", set.err);
    eventually("it is judged anew", async || (shown(dir, "last").await["verdict"] == "valid").then_some(()))
        .await;
    run(dir, &["verify", "last"]).await.exits(0);

    let server = LocalServer::start().await;
    run(dir, &["target", "add", "demo", &server.address.port().to_string()]).await.exits(0);
    post(capture, "/demo", &[], b"first").await;
    status(dir, "last", "completed").await;
    assert_eq!(bodies(&server.seen()), ["first"]);
    let down = server.down().await;
    for body in ["second", "third"] {
        post(capture, "/demo", &[], body.as_bytes()).await;
    }
    eventually("the list says that they wait", async || {
        let list = run(dir, &["events", "--status", "pending", "--json"]).await.json();
        (list.len() == 2).then_some(())
    })
    .await;
    let server = down.up();
    assert_eq!(bodies(&server.wait_for(2).await), ["second", "third"]);
    status(dir, "last", "completed").await;
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_in_flight_is_finished_before_the_end() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let gate = Arc::new(Notify::new());
    server.will([Answer::When(Arc::clone(&gate))]);
    let (mut serve, capture) = serving(folder.path()).await;
    run(folder.path(), &["source", "add", "demo"]).await.exits(0);
    run(folder.path(), &["target", "add", "demo", &server.url()]).await.exits(0);
    post(capture, "/demo", &[], b"in flight").await;
    post(capture, "/demo", &[], b"behind it").await;
    server.wait_for(1).await;
    serve.signal("INT").await;
    serve.says("finishing").await;
    gate.notify_one();
    serve.end().await.exits(0);
    let first = shown(folder.path(), "#1").await;
    assert_eq!(
        (&first["status"], first["deliveries"][0]["attempts"].as_array().map(Vec::len)),
        (&json!("completed"), Some(1))
    );
    assert_eq!(shown(folder.path(), "#2").await["status"], "pending", "nothing new is begun");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_copies_the_inbox_of_a_hookmitt_that_has_ended_needs_no_log() {
    let folder = folder();
    let (serve, capture) = serving(folder.path()).await;
    post(capture, "/demo", &[], b"kept").await;
    assert!(folder.path().join("inbox.db-wal").exists());
    let is_alone = |after: &str| {
        for file in ["inbox.db-wal", "inbox.db-shm"] {
            assert!(!folder.path().join(file).exists(), "{file} stays after {after}");
        }
    };
    serve.stop().await.exits(0);
    is_alone("serve");
    run(folder.path(), &["pin", "last"]).await.exits(0);
    is_alone("a command that opened the inbox itself");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_sigint_ends_at_once() {
    let (folder, server) = (folder(), LocalServer::start().await);
    server.will([Answer::When(Arc::default())]);
    let (mut serve, capture) = serving(folder.path()).await;
    run(folder.path(), &["target", "add", "*", &server.url()]).await.exits(0);
    post(capture, "/demo", &[], b"stuck").await;
    server.wait_for(1).await;
    serve.signal("INT").await;
    serve.says("finishing").await;
    serve.signal("INT").await;
    serve.end().await.exits(130);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_running_hookmitt_a_replay_is_delivered_by_the_command_itself() {
    let (folder, server, down) = (folder(), LocalServer::start().await, Down::somewhere());
    let (serve, capture) = serving(folder.path()).await;
    post(capture, "/demo", &[], b"again").await;
    serve.stop().await.exits(0);
    let dir = folder.path();
    let ran = run(dir, &["replay", "last", "--to", &server.url(), "--json"]).await.exits(0);
    let line = ran.json().remove(0);
    let fields: Vec<_> = line.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["event_id", "delivery_id", "status", "response_status", "error"]);
    assert_eq!(
        (&line["status"], &line["response_status"], &line["error"]),
        (&json!("completed"), &json!(200), &Value::Null)
    );
    let seen = &server.seen()[0];
    assert_eq!((seen.body(), seen.header("x-hookmitt-replay").as_deref()), (&b"again"[..], Some("true")));

    server.will([Answer::Status(404)]);
    run(dir, &["replay", "last", "--to", &server.url()]).await.exits(1);
    assert_eq!(
        run(dir, &["replay", "last", "--to", &server.url(), "--times", "2", "--json"]).await.json().len(),
        2
    );
    run(dir, &["replay", "last", "--to", &down.url()]).await.exits(3);
    assert!(run(dir, &["replay", "last"]).await.exits(2).err.contains("target"));
    let edited =
        run(dir, &["replay", "last", "--to", &server.url(), "--header", "X-New: 1", "--json"]).await.exits(0);
    let new = shown(dir, edited.json()[0]["event_id"].as_str().unwrap()).await;
    assert_eq!((&new["via"], &new["parent"]), (&json!("edit"), &line["event_id"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_waits_for_an_attempt_and_says_what_came_of_it() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let dir = folder.path();
    run(dir, &["source", "add", "demo"]).await.exits(0);
    run(dir, &["target", "add", "demo", &server.url(), "--attempts", "1"]).await.exits(0);
    server.will([Answer::Status(500), Answer::Status(404), Answer::Status(500)]);
    let (serve, capture) = serving(dir).await;
    post(capture, "/demo", &[], b"dead").await;
    status(dir, "#1", "dead_letter").await;
    post(capture, "/demo", &[], b"failed").await;
    status(dir, "#2", "failed").await;
    run(dir, &["retry", "--dead-letter", "--source", "demo"]).await.exits(1);
    run(dir, &["retry", "#1", "#2"]).await.exits(0);
    for event in ["#1", "#2"] {
        assert_eq!(shown(dir, event).await["status"], "completed");
    }
    run(dir, &["retry", "#99"]).await.exits(2);
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_sends_what_it_can_and_says_what_cannot_go_and_why() {
    let (folder, server, gone) = (folder(), LocalServer::start().await, LocalServer::start().await);
    let dir = folder.path();
    for (source, url) in [("stays", server.url()), ("goes", gone.url())] {
        run(dir, &["source", "add", source]).await.exits(0);
        run(dir, &["target", "add", source, &url, "--attempts", "1"]).await.exits(0);
    }
    run(dir, &["source", "add", "strict", "--on-invalid", "reject", "--provider", "github"]).await.exits(0);
    run(dir, &["target", "add", "strict", &server.url()]).await.exits(0);
    server.will([Answer::Status(404), Answer::Status(500)]);
    gone.will([Answer::Status(404)]);
    let (serve, capture) = serving(dir).await;
    for (path, body, became) in [
        ("/goes", "1", "failed"),
        ("/stays", "2", "failed"),
        ("/stays", "3", "dead_letter"),
        ("/strict", "4", "skipped"),
        ("/stays", "5", "completed"),
    ] {
        post(capture, path, &[], body.as_bytes()).await;
        status(dir, "last", became).await;
    }
    let targets = run(dir, &["target", "list", "--json"]).await.exits(0).json();
    let target = targets.iter().find(|target| target["source"] == "goes").unwrap()["id"].to_string();
    run(dir, &["target", "remove", &target]).await.exits(0);

    let ran = run(dir, &["retry", "#1", "#4", "#5", "#3"]).await.exits(1);
    let text = ran.text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].contains("not sent  its target was removed"), "{text}");
    assert!(lines[1].contains("not sent  its signature was rejected"), "{text}");
    assert!(lines[2].contains("not sent  it didn't fail"), "{text}");
    assert!(lines[3].contains("delivered (200)"), "what can go went: {text}");

    let all = run(dir, &["retry", "--dead-letter", "--json"]).await.exits(0).json();
    let found: Vec<_> =
        all.iter().map(|line| (line["status"].as_str().unwrap(), line["error"].clone())).collect();
    assert_eq!(found, [("failed", json!("not sent: its target was removed")), ("completed", Value::Null)]);
    assert_eq!(bodies(&server.seen()), ["2", "3", "5", "3", "2"]);
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn follow_appends_what_comes() {
    let folder = folder();
    let (serve, capture) = serving(folder.path()).await;
    post(capture, "/demo", &[], b"before").await;
    let mut follow =
        hookmitt_stories::Process::start(command(folder.path(), &["events", "--follow", "--json"]));
    follow.says("\"seq\":1,").await;
    post(capture, "/demo", &[], b"after").await;
    follow.says("\"seq\":2,").await;
    follow.signal("INT").await;
    follow.end().await;
    serve.stop().await.exits(0);
}
