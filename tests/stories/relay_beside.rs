//! Several relays, each a process, on a cluster of three real NATS servers behind a load balancer: any relay takes any
//! request, the app is connected to any one of them, and killing a relay loses nothing.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{
    Balancer, Cluster, Device, Load, RelayProcess, Reply, Server, eventually, lacking, nats_server, offer,
    post, relay_token, signature,
};
use hookmitt_verify::{PairKind, PublicForm, TestKeyPair};
use hookmitt_wire::AppFrame;
use serde_json::{Value, json};

use super::{
    handshakes::discord,
    tunnel_chaos::{connected, drained, open, tunnel},
};

/// The number of senders.
const SENDERS: usize = 6;

/// How many events pass between two kills.
const MORE: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn relays_and_nodes_killed_under_load_lose_nothing_and_double_nothing_in_the_inbox() {
    let Some(program) = nats_server() else { return lacking("nats-server", "apt-get install nats-server") };
    let cluster = Arc::new(Cluster::start(&program, 3));
    let store = format!("{}?shards=2", cluster.url());
    let (dir, at_app) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let made = relay_token(dir.path(), &["create", "--store", &store]).await.exits(0);
    let mut relays =
        vec![relay(dir.path(), "127.0.0.1:0", &store).await, relay(dir.path(), "127.0.0.1:0", &store).await];
    for relay in &relays {
        assert!(relay.process.err().contains("sync_interval: always"), "{}", relay.process.err());
    }
    let addresses: Vec<_> = relays.iter().map(|relay| relay.address).collect();
    let front = Balancer::before(addresses.clone()).await;
    let app = Server::start(at_app.path()).await;
    open(&app, &format!("http://{}", front.address), made.text().trim()).await;
    let bot = sources_that_hold(&app).await;
    connected(&app).await;
    offered(&addresses).await;

    let load = Load::start(front.address, "/acme/s", SENDERS, Duration::ZERO);
    for at in [0, 1] {
        load.more(MORE).await;
        relays.remove(at).process.kill().await;
        load.more(MORE).await;
        connected(&app).await; // this can only be to the other relay
        relays.insert(at, relay(dir.path(), &addresses[at].to_string(), &store).await);
        for address in &addresses {
            held(*address, &bot).await;
        }
        cluster.kill(at);
        load.more(MORE).await;
        let again = Arc::clone(&cluster);
        tokio::task::spawn_blocking(move || again.restart(at)).await.unwrap();
    }
    load.more(MORE).await;
    let acknowledged = load.end().await;
    drained(&app, at_app.path(), &acknowledged).await;
    assert_eq!(tunnel(&app).await["error"], Value::Null);
    app.kill().await;
    acknowledged.are_here(at_app.path());
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_nobody_waits_for_hold_up_nobody() {
    let Some(program) = nats_server() else { return lacking("nats-server", "apt-get install nats-server") };
    let cluster = Cluster::start(&program, 1);
    let (store, dir) = (cluster.url(), tempfile::tempdir().unwrap());
    let made = relay_token(dir.path(), &["create", "--store", &store]).await.exits(0);
    let relay = relay(dir.path(), "127.0.0.1:0", &store).await;
    let device = Device::open(relay.address, made.text().trim(), Some("acme")).await;
    let mut line = device.offering(vec![offer("s")]).await;
    for number in 0..1_000_u64 {
        let mut event = [0; 16];
        event[..8].copy_from_slice(&number.to_be_bytes());
        line.say(&AppFrame::Answer { event, status: 200, headers: Vec::new(), body: "".into() }).await;
    }
    // One after the other, these would take minutes.
    assert_eq!(line.pong().await.letters, 0);
}

async fn relay(dir: &Path, address: &str, store: &str) -> RelayProcess {
    RelayProcess::start_at(dir, address, &["--store", store, "--hold", "30s"]).await
}

/// Adds a source whose provider must get a 401, and one whose provider wants its challenge back.
async fn sources_that_hold(app: &Server) -> TestKeyPair {
    let pair = TestKeyPair::generate(PairKind::Ed25519).unwrap();
    for (provider, secret) in
        [("discord", pair.public(PublicForm::Hex).unwrap()), ("slack", "hush".to_owned())]
    {
        app.ask("POST", "/api/sources", json!({ "slug": provider, "provider": provider })).await;
        let path = format!("/api/sources/{provider}/secrets/default");
        app.ask("PUT", &path, json!({ "value_base64": STANDARD.encode(secret) })).await;
    }
    pair
}

/// Waits until every relay knows every source.
async fn offered(relays: &[SocketAddr]) {
    for relay in relays {
        for source in ["s", "discord", "slack"] {
            let target = format!("/acme/{source}");
            eventually("the relays take the sources", async || {
                (post(*relay, &target, &[], b"first").await.status != 404).then_some(())
            })
            .await;
        }
    }
}

/// Checks that the app answers, whichever relay a provider asks.
async fn held(relay: SocketAddr, bot: &TestKeyPair) {
    let ping = r#"{"application_id":"1","id":"2","type":1,"version":1}"#;
    let forged = TestKeyPair::generate(PairKind::Ed25519).unwrap();
    for (pair, status) in [(bot, 200), (&forged, 401)] {
        let headers = discord(pair, ping);
        assert_eq!(asked(relay, "/acme/discord", &headers, ping).await.status, status, "of {relay}");
    }
    let body = r#"{"token":"x","type":"url_verification","challenge":"c-1"}"#;
    let at = hookmitt_event::Timestamp::now().as_seconds().to_string();
    let signed = format!("v0={}", signature("hush", format!("v0:{at}:{body}").as_bytes()));
    let headers = vec![("X-Slack-Signature", signed), ("X-Slack-Request-Timestamp", at)];
    let reply = asked(relay, "/acme/slack", &headers, body).await;
    assert_eq!((reply.status, String::from_utf8_lossy(&reply.body)), (200, "c-1".into()), "of {relay}");
}

async fn asked(relay: SocketAddr, target: &str, headers: &[(&str, String)], body: &str) -> Reply {
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    post(relay, target, &headers, body.as_bytes()).await
}
