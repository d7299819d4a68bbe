//! `hookmitt replay` on the command line: stopped by Ctrl-C, and with edits that a signature doesn't survive.

use std::{path::Path, sync::Arc};

use hookmitt_stories::{Answer, LocalServer, Process, eventually, post};
use serde_json::Value;
use tokio::sync::Notify;

use super::listen::{command, folder, github, run, serving};

/// As many requests as a URL gets at a time.
const AT_ONCE: usize = 8;

/// Returns how many deliveries of the last event have each of these states.
async fn states<const N: usize>(data_dir: &Path, wanted: [&str; N]) -> [usize; N] {
    let shown = run(data_dir, &["show", "last", "--json", "--no-body"]).await.exits(0).json().remove(0);
    let deliveries = shown["deliveries"].as_array().cloned().unwrap_or_default();
    wanted.map(|state| deliveries.iter().filter(|delivery| delivery["status"] == state).count())
}

/// Starts to replay the last event very often, presses Ctrl-C while the first requests are answered, and returns what
/// the command said.
async fn stopped(data_dir: &Path, server: &LocalServer) -> String {
    let gates = [(); AT_ONCE].map(|()| Arc::new(Notify::new()));
    server.will(gates.iter().map(|gate| Answer::When(Arc::clone(gate))));
    let arguments = ["replay", "last", "--to", &server.url(), "--times", "1000"];
    let replay = Process::start(command(data_dir, &arguments));
    server.wait_for(AT_ONCE).await;
    replay.signal("INT").await;
    eventually("the rest is stopped", async || {
        (states(data_dir, ["skipped"]).await == [1_000 - AT_ONCE]).then_some(())
    })
    .await;
    gates.iter().for_each(|gate| gate.notify_one());
    replay.end().await.exits(130).err
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_what_is_not_being_sent_and_says_how_many_went_out() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    post(capture, "/demo", &[], b"{}").await;
    let said = stopped(dir, &server).await;
    assert!(said.contains("stopped: 8 of 1000 were sent"), "{said}");
    eventually("what was under way is finished", async || {
        (states(dir, ["completed", "skipped"]).await == [AT_ONCE, 1_000 - AT_ONCE]).then_some(())
    })
    .await;
    let event = run(dir, &["show", "last", "--json"]).await.exits(0).json().remove(0);
    assert_eq!(event["status"], "completed", "what was stopped on purpose is no failure");
    let again = run(dir, &["retry", "last"]).await.exits(0).text();
    assert!(again.contains("not sent  it didn't fail"), "{again}");
    assert_eq!(server.seen().len(), AT_ONCE);
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_a_replay_that_the_command_delivers_itself() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    post(capture, "/demo", &[], b"{}").await;
    serve.stop().await.exits(0);
    let said = stopped(dir, &server).await;
    assert!(said.contains("stopped: 8 of 1000 were sent"), "{said}");
    assert_eq!(states(dir, ["completed", "skipped", "pending"]).await, [AT_ONCE, 1_000 - AT_ONCE, 0]);
    assert_eq!(server.seen().len(), AT_ONCE);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_a_signature_does_not_survive_offers_to_sign_again() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    github(capture, "gh", "s3cret", "d1", "{\"action\":\"opened\"}").await;
    post(capture, "/demo", &[], b"{\"action\":\"opened\"}").await;
    let (url, note) = (server.url(), "--resign");
    let noted = async |event: &str, edit: &[&str]| {
        let arguments = [&["replay", event, "--to", &url], edit].concat();
        run(dir, &arguments).await.exits(0).err.contains(note)
    };
    let set = ["--set", "/action=closed"];
    assert!(noted("#1", &set).await, "without a secret, too");
    assert!(!noted("#1", &["--header", "X-Other: 1"]).await, "that line isn't signed");
    assert!(!noted("#1", &[&set[..], &["--resign"]].concat()).await);
    assert!(!noted("#1", &[]).await);
    assert!(!noted("#2", &set).await, "it was never signed");
    let ran = run(dir, &["replay", "#1", "--to", &url, "--set", "/action=closed", "--json"]).await.exits(0);
    assert!(ran.err.contains("note:") && ran.json().iter().all(Value::is_object), "{}", ran.err);
    serve.stop().await.exits(0);
}
