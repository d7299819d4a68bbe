//! Events are compressed by the process that delivers, and no byte of them is lost, whenever it is killed.

use std::{collections::HashMap, net::SocketAddr, path::Path};

use hookmitt_stories::{Server, Stored, eventually, post, say, seed};
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::SmallRng};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

const KILLS: usize = 20;

/// How many events come before packing begins, which waits until there are 2 MiB, and leaves them alone for some seconds.
const BEFORE: usize = 220;

/// How many are sent at a time.
const WIDTH: usize = 20;

const RAW: &str = "SELECT count(*) FROM raw";
const PACKED: &str = "SELECT count(*) FROM packed";

/// The ids of acknowledged events, with the SHA-256 of what was sent.
type Ledger = HashMap<String, String>;

#[tokio::test(flavor = "multi_thread")]
async fn every_byte_comes_back_although_the_owner_is_killed_while_it_packs() {
    let mut random = SmallRng::seed_from_u64(seed());
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path()).await;
    server.ask("POST", "/api/sources", json!({ "slug": "kept" })).await;
    let mut all = Ledger::new();
    for round in 1..=KILLS {
        while all.len() < round * BEFORE {
            all.extend(burst(server.capture, &mut random).await);
        }
        let packed = Stored::open(folder.path()).count(PACKED);
        eventually("it packs", async || (Stored::open(folder.path()).count(PACKED) > packed).then_some(()))
            .await;
        // More come while it packs, and the kill comes after a random number of them.
        for _ in 0..random.random_range(0..4) {
            all.extend(burst(server.capture, &mut random).await);
        }
        server.kill().await;
        let stored = Stored::open(folder.path());
        say(&format!("round {round}: {} packed, {} not yet", stored.count(PACKED), stored.count(RAW)));
        assert_whole(folder.path(), &all);
        server = Server::start(folder.path()).await;
    }
    let stored = Stored::open(folder.path());
    let few = BEFORE as i64;
    eventually("all but a few are packed", async || (stored.count(RAW) < few).then_some(())).await;
    assert_whole(folder.path(), &all);
    for (event, sha256) in all.iter().take(50) {
        let body = server.call("GET", &format!("/api/events/{event}/body"), &Value::Null).await.body;
        assert_eq!(&hex::encode(Sha256::digest(&body)), sha256, "event {event}");
    }
    server.kill().await;
}

/// Posts some events at once, and returns those that were acknowledged: all of them.
async fn burst(capture: SocketAddr, random: &mut SmallRng) -> Ledger {
    let mut posts = JoinSet::new();
    for _ in 0..WIDTH {
        let body = body(random);
        posts.spawn(async move {
            let reply = post(capture, "/kept", &[("Content-Type", "application/json")], &body).await;
            assert!((200..300).contains(&reply.status), "{reply:?}");
            let event = reply.header("x-hookmitt-event-id").expect("an id").to_owned();
            (event, hex::encode(Sha256::digest(&body)))
        });
    }
    posts.join_all().await.into_iter().collect()
}

/// Returns a body that can be compressed, or one that can't but isn't so large that it stays where it is.
fn body(random: &mut SmallRng) -> Vec<u8> {
    if random.random_ratio(1, 10) {
        let mut bytes = vec![0; random.random_range(0..50_000)];
        random.fill_bytes(&mut bytes);
        return bytes;
    }
    let item = |random: &mut SmallRng| json!({ "id": random.next_u64(), "object": "item", "created": true });
    let items: Vec<_> = (0..random.random_range(1..250)).map(|_| item(random)).collect();
    json!({ "items": items }).to_string().into_bytes()
}

/// Checks that every event is there byte for byte, in one place.
fn assert_whole(data_dir: &Path, all: &Ledger) {
    let stored = Stored::open(data_dir);
    assert_eq!(stored.check(), "ok");
    for (event, sha256) in all {
        assert_eq!(stored.sha256(event).as_ref(), Some(sha256), "event {event}");
    }
    assert_eq!(stored.count("SELECT count(*) FROM raw JOIN packed USING (seq)"), 0);
    assert_eq!(stored.count("SELECT (SELECT count(*) FROM raw) + (SELECT count(*) FROM packed)"), {
        stored.count("SELECT count(*) FROM event")
    });
}
