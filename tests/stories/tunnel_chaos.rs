//! Relay and app are killed at random under load: what was acknowledged is here, once, in its order.

use std::{
    collections::HashMap,
    net::SocketAddr,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hookmitt_stories::{RelayProcess, Reply, Server, Stored, eventually, read_reply, request, say, seed};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, task::JoinSet};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 20;
const SENDERS: usize = 8;
/// So many acknowledgements pass before the next kill, at least and at most.
const BETWEEN: std::ops::Range<usize> = 50..250;

/// Whom a round kills.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Relay,
    App,
    Both,
}

/// What the senders have seen.
#[derive(Default)]
struct Ledger {
    /// Event ids that were answered with a 2xx, and the SHA-256 of what was sent.
    acknowledged: Mutex<HashMap<String, String>>,
    count: AtomicUsize,
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_random_relay_and_app_lose_nothing_and_double_nothing() {
    let mut random = SmallRng::seed_from_u64(seed());
    let (at_relay, at_app) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let token = RelayProcess::token(at_relay.path()).await;
    let mut relay = RelayProcess::start(at_relay.path(), &[]).await;
    let mut app = Server::start(at_app.path()).await;
    let address = relay.address;
    app.ask("POST", "/api/sources", json!({ "slug": "s" })).await;
    let order = json!({ "relay": format!("http://{address}"), "token": token, "name": "acme" });
    app.ask("POST", "/api/tunnels", order).await;
    eventually("the relay knows the source", async || {
        let reply = send(address, b"first").await?;
        (reply.status == 202).then_some(())
    })
    .await;

    let (ledger, stop) = (Arc::new(Ledger::default()), CancellationToken::new());
    let mut senders = JoinSet::new();
    for sender in 0..SENDERS {
        senders.spawn(keep_sending(sender, address, Arc::clone(&ledger), stop.clone()));
    }
    for round in 1..=ROUNDS {
        let enough = ledger.count.load(Ordering::Relaxed) + random.random_range(BETWEEN);
        let reached = async || (ledger.count.load(Ordering::Relaxed) >= enough).then_some(());
        eventually("senders are answered", reached).await;
        let victim = [Victim::Relay, Victim::App, Victim::Both][random.random_range(0..3)];
        say(&format!("round {round}: {victim:?} after {enough} acknowledgements"));
        if matches!(victim, Victim::App | Victim::Both) {
            app.kill().await;
            app = Server::start(at_app.path()).await;
        }
        if matches!(victim, Victim::Relay | Victim::Both) {
            relay.process.kill().await;
            relay = RelayProcess::start_at(at_relay.path(), &address.to_string(), &[]).await;
        }
    }
    stop.cancel();
    while let Some(sender) = senders.join_next().await {
        sender.unwrap();
    }
    let acknowledged = std::mem::take(&mut *ledger.acknowledged.lock().unwrap());
    drained(&app, at_app.path(), &acknowledged).await;
    app.kill().await;

    let stored = Stored::open(at_app.path());
    for (event, sha256) in &acknowledged {
        assert_eq!(stored.sha256(event).as_ref(), Some(sha256), "event {event}");
    }
    let doubled = "SELECT count(*) - count(DISTINCT body) FROM event WHERE body <> 'first'";
    assert_eq!((stored.count(doubled), stored.check().as_str()), (0, "ok"));
    assert_in_order(at_app.path(), acknowledged.len());
}

/// Each sender waits for its answer before it sends the next, so its numbers grow in the inbox.
fn assert_in_order(folder: &Path, at_least: usize) {
    let bodies = Stored::open(folder).bodies();
    let mut last: HashMap<String, u64> = HashMap::new();
    let mut seen = 0;
    for body in bodies {
        let Some((sender, number)) = body.split_once(' ') else { continue };
        let number: u64 = number.trim_end_matches('.').parse().unwrap();
        if let Some(before) = last.insert(sender.to_owned(), number) {
            assert!(before < number, "sender {sender}: {number} came after {before}");
        }
        seen += 1;
    }
    assert!(seen >= at_least, "{seen} of at least {at_least}");
}

/// Waits until all that was acknowledged is here, and nothing is left at the relay.
async fn drained(app: &Server, folder: &Path, acknowledged: &HashMap<String, String>) {
    let stored = Stored::open(folder);
    eventually("what was acknowledged is here", async || {
        acknowledged.keys().all(|event| stored.sha256(event).is_some()).then_some(())
    })
    .await;
    eventually("the relay has nothing left", async || {
        let tunnels = app.ask("GET", "/api/tunnels", Value::Null).await;
        let tunnel = &tunnels["items"][0];
        let empty = tunnel["waiting"]["letters"] == 0 && tunnel["to_acknowledge"] == 0;
        (tunnel["state"] == "connected" && empty).then_some(())
    })
    .await;
}

/// Sends one after the other; what was not answered is not sent again.
async fn keep_sending(sender: usize, address: SocketAddr, ledger: Arc<Ledger>, stop: CancellationToken) {
    let mut number = 0_u64;
    while !stop.is_cancelled() {
        number += 1;
        let body = format!("{sender} {number}{}", ".".repeat(1_000));
        match send(address, body.as_bytes()).await {
            Some(reply) if reply.status == 202 => {
                let event = reply.header("x-hookmitt-event-id").expect("an id").to_owned();
                let sha256 = hex::encode(Sha256::digest(&body));
                ledger.acknowledged.lock().unwrap().insert(event, sha256);
                ledger.count.fetch_add(1, Ordering::Relaxed);
            }
            Some(reply) => assert!(reply.status >= 500, "{} {:?}", reply.status, reply.body),
            None => tokio::time::sleep(Duration::from_millis(5)).await, // nobody listens: the pace of the next try
        }
    }
}

/// Posts on a connection of its own; none where it broke.
async fn send(address: SocketAddr, body: &[u8]) -> Option<Reply> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(&request("POST", "/acme/s", &[], body)).await.ok()?;
    read_reply(&mut stream).await
}
