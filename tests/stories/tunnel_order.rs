//! What comes through a tunnel is stored in the order in which the relay accepted it, whatever its size.

use hookmitt_stories::{App, eventually, post};
use serde_json::{Value, json};

use super::tunnel::{Set, connected, set, tunnel};

/// Much larger than a piece, and than what is decrypted on the spot.
const LARGE: usize = 12 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn large_letters_neither_overtake_nor_are_overtaken() {
    let set = set(&[]).await;
    set.app.source("s", json!({})).await;
    set.post("s", &[], b"the relay knows the source").await;
    eventually("it is here", async || (set.app.events().await.len() == 1).then_some(())).await;

    let live = take(&set, 0..24).await;
    stored(&set.app, &live).await;
    let id = tunnel(&set.app).await.unwrap()["id"].clone();
    let path = format!("/api/tunnels/{id}");
    let enable = |enabled: bool| set.app.ask("PATCH", &path, json!({ "enabled": enabled }));
    enable(false).await;
    let waited = take(&set, 24..48).await;
    enable(true).await;
    connected(&set.app).await;
    stored(&set.app, &[live, waited].concat()).await;
}

/// Posts requests one after the other; every sixth is large. Returns their paths.
async fn take(set: &Set, numbers: std::ops::Range<usize>) -> Vec<String> {
    let mut paths = Vec::new();
    for number in numbers {
        let path = format!("/{number}");
        let body = vec![b'x'; if number % 6 == 0 { LARGE } else { 10 }];
        let reply = post(set.relay.address, &format!("/acme-dev/s{path}"), &[], &body).await;
        assert_eq!(reply.status, 202, "{}", reply.json());
        paths.push(path);
    }
    paths
}

/// Waits until these are stored, and checks their order.
async fn stored(app: &App, paths: &[String]) {
    let seen = eventually("all are stored", async || {
        let events = app.events().await;
        (events.len() > paths.len()).then_some(events)
    })
    .await;
    let mut seen: Vec<(i64, Value)> =
        seen.iter().map(|event| (event["seq"].as_i64().unwrap(), event["path"].clone())).collect();
    seen.sort_by_key(|(seq, _)| *seq);
    let seen: Vec<_> = seen[1..].iter().map(|(_, path)| path.as_str().unwrap()).collect();
    assert_eq!(seen, paths);
}
