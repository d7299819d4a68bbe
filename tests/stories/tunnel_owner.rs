//! Two processes on one data directory: one runs the tunnels, and the other takes them over when that one dies.

use std::time::Duration;

use hookmitt_stories::{Load, RelayProcess, Server, eventually, hookmitt};
use serde_json::{Value, json};

use super::tunnel_chaos::{connected, drained, offered, open, tunnel};

#[tokio::test(flavor = "multi_thread")]
async fn when_the_one_that_has_the_tunnel_is_killed_the_other_drains_it() {
    let (at_relay, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let token = RelayProcess::token(at_relay.path()).await;
    let relay = RelayProcess::start(at_relay.path(), &[]).await;
    let first = Server::start(folder.path()).await;
    first.delivers().await;
    let second = Server::start(folder.path()).await;
    // The first process carries out what the second is asked to do.
    open(&second, &format!("http://{}", relay.address), &token).await;
    connected(&first).await;
    offered(&relay).await;
    let seen = tunnel(&second).await;
    assert_eq!((&seen["state"], &seen["error"]["code"]), (&json!("off"), &json!("other-process")), "{seen}");

    let load = Load::start(relay.address, "/acme/s", 4, Duration::from_millis(5));
    load.more(100).await;
    first.kill().await;
    load.more(100).await;
    eventually("the second has the tunnel", async || {
        (tunnel(&second).await["state"] == "connected").then_some(())
    })
    .await;
    load.more(100).await;
    let acknowledged = load.end().await;
    drained(&second, folder.path(), &acknowledged).await;
    let gaps = second.ask("GET", "/api/gaps", Value::Null).await;
    let gap = &gaps["items"][0];
    assert_eq!((&gap["why"], &gap["lost"]), (&json!("app_closed"), &json!(0)), "{gaps}");
    assert!(gap["caught_up"].as_u64().unwrap() > 0, "{gap}");

    // Commands find the new owner.
    let mut status = hookmitt(folder.path());
    status.args(["tunnel", "status", "acme", "--json"]);
    let told = hookmitt_stories::Ran::of(status).await.exits(0).json().remove(0);
    assert_eq!((&told["state"], &told["error"]), (&json!("connected"), &Value::Null));
    second.kill().await;
    acknowledged.are_here(folder.path());
}
