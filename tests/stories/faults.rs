//! A fault of this machine is never mistaken for an answer of the local server, and nothing hangs or is sent twice.

use std::{path::Path, sync::Arc};

use hookmitt_stories::{Answer, LocalServer, Ran, Server, Stored, eventually, hookmitt, post};
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::sync::Notify;

#[tokio::test(flavor = "multi_thread")]
async fn a_2xx_that_could_not_be_written_down_is_written_once_it_can_be_and_not_sent_again() {
    let (folder, local) = (tempfile::tempdir().unwrap(), LocalServer::start().await);
    let server = Server::start(folder.path()).await;
    target(&server, "demo", &local.url()).await;
    let gate = Arc::new(Notify::new());
    local.will([Answer::When(Arc::clone(&gate))]);
    let id = posted(&server, "demo").await;
    local.wait_for(1).await;

    let other = locked(folder.path());
    gate.notify_one(); // the local server answers 200, and the inbox can't be written
    eventually("the process says so", async || {
        server.said().contains("the outcome of an attempt can't be stored yet").then_some(())
    })
    .await;
    let refused = post(server.capture, "/demo", &[], b"{}").await;
    assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("inbox-busy")));
    other.execute_batch("ROLLBACK").unwrap();

    let delivery = completed(&server, &id).await;
    assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1, "{delivery}");
    assert_eq!(delivery["attempts"][0]["response_status"], 200, "{delivery}");
    posted(&server, "demo").await; // the next event goes out only after the first
    local.wait_for(2).await;
    assert_eq!(local.seen()[0].header("x-hookmitt-event-id").as_deref(), Some(&*id));
    assert_ne!(local.seen()[1].header("x-hookmitt-event-id").as_deref(), Some(&*id), "not sent again");
}

#[tokio::test(flavor = "multi_thread")]
async fn senders_that_meet_a_locked_inbox_are_told_so_together() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path()).await;
    posted(&server, "demo").await;
    let other = locked(folder.path());
    let asked = (0..40).map(|_| post(server.capture, "/demo", &[], b"{}"));
    // One after the other, the requests would take over three minutes; `eventually` waits only one.
    let replies = hookmitt_stories::within("all are answered", futures_util::future::join_all(asked)).await;
    assert!(replies.iter().all(|reply| reply.status == 503 && reply.header("retry-after").is_some()));
    other.execute_batch("ROLLBACK").unwrap();
    posted(&server, "demo").await;
    assert_eq!(Stored::open(folder.path()).count("SELECT count(*) FROM event"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_that_does_not_answer_is_named_by_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path()).await;
    server.delivers().await;
    signal(&server, "STOP").await;
    let mut command = hookmitt(folder.path());
    command.arg("events");
    let ran = Ran::of(command).await.exits(3);
    signal(&server, "CONT").await;
    let said = ran.err;
    assert!(said.contains(&format!("(process {}) doesn't answer", server.pid())), "{said}");
    assert!(said.contains("kill -CONT"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_whose_lock_was_replaced_delivers_only_with_the_one_that_is_there() {
    let (folder, local) = (tempfile::tempdir().unwrap(), LocalServer::start().await);
    let server = Server::start(folder.path()).await;
    target(&server, "demo", &local.url()).await;
    server.delivers().await;
    let path = folder.path().join("owner.lock");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "").unwrap();
    let theirs = std::fs::File::open(&path).unwrap();
    theirs.try_lock().unwrap(); // as another process would do
    eventually("it notices at its next sweep", async || {
        server.said().contains("the owner's lock was replaced").then_some(())
    })
    .await;
    let id = posted(&server, "demo").await;
    drop(theirs);
    local.wait_for(1).await;
    completed(&server, &id).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), server.pid().to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_takes_over_a_replaced_lock_waits_for_the_process_that_delivers_still() {
    const IN_FLIGHT: usize = 4;
    let (folder, local) = (tempfile::tempdir().unwrap(), LocalServer::start().await);
    let first = Server::start(folder.path()).await;
    target(&first, "demo", &local.url()).await;
    let order = json!({ "order": "parallel:4" });
    first.ask("PATCH", "/api/targets/1", order).await;
    first.delivers().await;
    let second = Server::start(folder.path()).await;
    let gate = Arc::new(Notify::new());
    local.will((0..IN_FLIGHT).map(|_| Answer::When(Arc::clone(&gate))));
    for _ in 0..IN_FLIGHT {
        posted(&first, "demo").await;
    }
    local.wait_for(IN_FLIGHT).await;

    let path = folder.path().join("owner.lock");
    std::fs::write(folder.path().join("new"), "").unwrap();
    std::fs::rename(folder.path().join("new"), &path).unwrap();
    eventually("the second waits", async || second.said().contains("waiting for that process").then_some(()))
        .await;
    eventually("the first notices", async || first.said().contains("lock was replaced").then_some(())).await;
    (0..IN_FLIGHT).for_each(|_| gate.notify_one());
    second.delivers().await;
    let id = posted(&first, "demo").await;
    completed(&second, &id).await;
    assert_eq!(local.seen().len(), IN_FLIGHT + 1, "each once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_to_a_url_where_nobody_ever_answers_ends() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path()).await;
    let id = posted(&server, "demo").await;
    let mut command = hookmitt(folder.path());
    command.args(["replay", &id, "--to", "http://127.0.0.1:9/"]);
    Ran::of(command).await.exits(3);
    let stored = Stored::open(folder.path());
    let failed = async {
        while stored.count("SELECT count(*) FROM delivery WHERE state = 3") == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(100), failed).await.expect("it ends");
    let event = server.ask("GET", &format!("/api/events/{id}"), Value::Null).await;
    let said = event["deliveries"][0]["last_error"].as_str().unwrap();
    assert!(said.starts_with("no answer from http://127.0.0.1:9/ for 60 s"), "{said}");
}

/// Locks the inbox as another program would, until the connection is dropped.
fn locked(data_dir: &Path) -> Connection {
    let db = Connection::open(data_dir.join("inbox.db")).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    db
}

async fn target(server: &Server, source: &str, url: &str) {
    server.ask("POST", "/api/sources", json!({ "slug": source })).await;
    server.ask("POST", "/api/targets", json!({ "source": source, "url": url })).await;
}

async fn posted(server: &Server, source: &str) -> String {
    let reply = post(server.capture, &format!("/{source}"), &[], b"{}").await;
    assert!((200..300).contains(&reply.status), "{}", reply.json());
    reply.json()["id"].as_str().unwrap().to_owned()
}

/// Waits until an event's delivery is completed.
async fn completed(server: &Server, id: &str) -> Value {
    eventually("it is completed", async || {
        let event = server.ask("GET", &format!("/api/events/{id}"), Value::Null).await;
        let delivery = event["deliveries"][0].clone();
        (delivery["status"] == "completed").then_some(delivery)
    })
    .await
}

async fn signal(server: &Server, name: &str) {
    let pid = server.pid().to_string();
    let sent = tokio::process::Command::new("kill").args(["-s", name, &pid]).status().await;
    assert!(sent.unwrap().success());
}
