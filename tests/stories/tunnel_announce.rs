//! Relays know of a source as soon as the command that made it returns, whether a hookmitt runs or not.

use std::path::Path;

use hookmitt_stories::{Ran, RelayProcess, Server, eventually, hookmitt, post};
use tempfile::TempDir;

async fn run(data: &Path, arguments: &[&str]) -> Ran {
    let mut command = hookmitt(data);
    command.args(arguments);
    Ran::of(command).await.exits(0)
}

/// A relay with a tunnel `acme`, opened by a data directory in which nothing runs.
pub(super) struct Set {
    relay_dir: TempDir,
    pub(super) relay: RelayProcess,
    pub(super) data: TempDir,
}

impl Set {
    pub(super) async fn new() -> Self {
        let (relay_dir, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let token = RelayProcess::token(relay_dir.path()).await;
        let relay = RelayProcess::start(relay_dir.path(), &[]).await;
        let mut add = hookmitt(data.path());
        add.args(["tunnel", "add", &format!("http://{}", relay.address), "--name", "acme"]);
        add.env_remove("HOOKMITT_RELAY_TOKEN");
        let added = Ran::with_input(add, format!("{token}\n").as_bytes()).await.exits(0);
        assert!(!added.err.contains("doesn't know"), "{}", added.err);
        Self { relay_dir, relay, data }
    }

    async fn calls(&self, source: &str) -> u16 {
        post(self.relay.address, &format!("/acme/{source}"), &[], b"{}").await.status
    }
}

#[tokio::test]
async fn without_a_running_hookmitt_a_relay_is_told_of_what_each_command_changes() {
    let set = Set::new().await;
    let data = set.data.path();
    assert_eq!(set.calls("shop").await, 404);
    let made = run(data, &["source", "add", "shop", "--json"]).await;
    assert_eq!(made.json()[0]["slug"], "shop");
    assert_eq!(set.calls("shop").await, 202);
    run(data, &["source", "edit", "shop", "--answer-status", "207"]).await;
    assert_eq!(set.calls("shop").await, 207);
    run(data, &["source", "remove", "shop"]).await;
    assert_eq!(set.calls("shop").await, 404);
    run(data, &["target", "add", "github", "3000"]).await;
    assert_eq!(set.calls("github").await, 200, "a source that a target makes is announced, too");
    run(data, &["tunnel", "edit", "acme", "--source", "github"]).await;
    run(data, &["source", "add", "hidden"]).await;
    assert_eq!((set.calls("github").await, set.calls("hidden").await), (200, 404));

    let serving = Server::start(data).await;
    eventually("what waited at the relay is here", async || {
        let events = run(data, &["events", "--json"]).await.json();
        (events.len() == 4).then_some(())
    })
    .await;
    drop(serving);
}

#[tokio::test]
async fn a_running_hookmitt_has_told_the_relay_when_the_command_returns() {
    let set = Set::new().await;
    let serving = Server::start(set.data.path()).await;
    serving.delivers().await;
    for number in 0..10 {
        let source = format!("s{number}");
        run(set.data.path(), &["source", "add", &source]).await;
        assert_eq!(set.calls(&source).await, 202, "{source}");
    }
    drop(serving);
}

#[tokio::test]
async fn a_relay_that_can_t_be_told_is_named_with_the_reason() {
    let set = Set::new().await;
    let (data, address) = (set.data.path(), set.relay.address.to_string());
    set.relay.process.stop().await;
    let made = run(data, &["source", "add", "shop", "--json"]).await;
    assert_eq!(made.json()[0]["slug"], "shop", "the source is made all the same");
    assert!(
        made.err.contains(&format!("{address} doesn't know of this yet: connection refused")),
        "{}",
        made.err
    );

    let relay = RelayProcess::start_at(set.relay_dir.path(), &address, &[]).await;
    let told = run(data, &["source", "add", "other"]).await;
    assert!(!told.err.contains("doesn't know"), "{}", told.err);
    assert_eq!(post(relay.address, "/acme/shop", &[], b"{}").await.status, 202, "it knows of both now");
}

#[tokio::test]
async fn the_unknown_sources_that_were_called_are_named_until_they_are_added() {
    let set = Set::new().await;
    let data = set.data.path();
    let serving = Server::start(data).await;
    serving.delivers().await;
    assert_eq!(set.calls("github").await, 404);
    let status = eventually("the name is told", async || {
        let status = run(data, &["tunnel", "status"]).await.text();
        status.contains("most recently github").then_some(status)
    })
    .await;
    let told = run(data, &["tunnel", "status"]).await.err;
    assert!(told.contains("next: `hookmitt source add github`"), "a newcomer's next step: {told}");
    assert!(status.contains("1 call for sources that don't exist here"), "{status}");
    assert!(status.contains("`hookmitt source add github`"), "{status}");
    run(data, &["source", "add", "github"]).await;
    let status = run(data, &["tunnel", "status"]).await.text();
    assert!(!status.contains("most recently"), "{status}");
    let told = run(data, &["tunnel", "status"]).await.err;
    assert!(told.contains("/acme/github to the provider, or try it: `hookmitt send github --to"), "{told}");
    drop(serving);
}
