//! The sources that a relay knows and accepts events for: those chosen for its tunnel (Threat 12).

use std::{net::SocketAddr, path::Path};

use hookmitt_stories::{Process, Ran, RelayProcess, eventually, hookmitt, post};
use serde_json::{Value, json};

/// Runs `hookmitt …` with this standard input.
async fn typed(data_dir: &Path, arguments: &[&str], input: &str) -> Ran {
    let mut command = hookmitt(data_dir);
    command.args(arguments).env_remove("HOOKMITT_RELAY_TOKEN");
    Ran::with_input(command, input.as_bytes()).await
}

async fn serve(data_dir: &Path) -> Process {
    let mut command = hookmitt(data_dir);
    command.args(["serve", "--no-open", "--port", "0", "--api-port", "0"]);
    let mut process = Process::start(command);
    process.capture().await;
    process
}

/// Waits until the relay answers requests to a source with this status.
async fn answers(relay: SocketAddr, source: &str, status: u16) {
    eventually(&format!("the relay answers {status} for {source}"), async || {
        let reply = post(relay, &format!("/acme/{source}"), &[], b"{}").await;
        (reply.status == status).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_12_a_relay_learns_of_the_chosen_sources_alone_and_reaches_no_other() {
    let (at_relay, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data = data.path();
    let token = RelayProcess::token(at_relay.path()).await;
    let relay = RelayProcess::start(at_relay.path(), &[]).await;
    for slug in ["shop", "private"] {
        typed(data, &["source", "add", slug], "").await.exits(0);
    }
    let url = format!("http://{}", relay.address);
    let added = typed(data, &["tunnel", "add", &url, "--name", "acme"], &token).await.exits(0);
    assert!(added.err.contains("the relay serves every source"), "{}", added.err);
    let serving = serve(data).await;
    answers(relay.address, "private", 202).await;
    answers(relay.address, "shop", 202).await;
    let status = typed(data, &["tunnel", "status", "acme"], "").await.exits(0).text();
    assert!(status.contains("all, including those you add later"), "{status}");

    // Chosen while connected: the relay forgets the other source.
    let edited = typed(data, &["tunnel", "edit", "acme", "--source", "shop"], "").await.exits(0).text();
    assert!(edited.contains("sources") && edited.contains("shop") && !edited.contains("all, "), "{edited}");
    answers(relay.address, "private", 404).await;
    answers(relay.address, "shop", 202).await;

    // All sources again. What waits for a source that is no longer chosen belongs to no source, and goes nowhere.
    typed(data, &["tunnel", "edit", "acme", "--all-sources"], "").await.exits(0);
    answers(relay.address, "private", 202).await;
    serving.stop().await;
    let waits = post(relay.address, "/acme/private", &[], b"{\"waits\":1}").await;
    let id = waits.header("x-hookmitt-event-id").unwrap().to_owned();
    typed(data, &["target", "add", "private", "http://127.0.0.1:9"], "").await.exits(0);
    typed(data, &["tunnel", "edit", "acme", "--source", "shop"], "").await.exits(0);
    let _serving = serve(data).await;
    let event = eventually("what waited is here", async || {
        let shown = typed(data, &["show", &id, "--json"], "").await;
        (shown.code == 0).then(|| shown.json().remove(0))
    })
    .await;
    assert_eq!((&event["source"], &event["status"]), (&json!("unassigned"), &json!("captured")), "{event:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cant_be_chosen_is_said_with_the_next_step() {
    let (at_relay, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data = data.path();
    let token = RelayProcess::token(at_relay.path()).await;
    let relay = RelayProcess::start(at_relay.path(), &[]).await;
    let url = format!("http://{}", relay.address);
    typed(data, &["source", "add", "shop"], "").await.exits(0);
    let unknown = typed(data, &["tunnel", "add", &url, "--source", "shpo"], &token).await.exits(2);
    assert!(unknown.err.contains("shpo"), "{}", unknown.err);
    let none = typed(data, &["tunnel", "list", "--json"], "").await.exits(0).json();
    assert_eq!(none, Vec::<Value>::new(), "the relay was not asked");
    let two = ["tunnel", "add", "--smee", "https://smee.io/x", "--source", "shop", "--source", "other"];
    let two = typed(data, &two, "").await.exits(2);
    assert!(two.err.contains("serves one source"), "{}", two.err);
    let added = ["tunnel", "add", &url, "--name", "acme", "--source", "shop"];
    let added = typed(data, &added, &token).await.exits(0);
    assert!(added.err.contains("the relay serves only shop"), "{}", added.err);
    typed(data, &["tunnel", "edit", "acme"], "").await.exits(2);
}
