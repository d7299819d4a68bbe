//! Relay and app are killed at random under load, and the network between them misbehaves as networks do: every
//! acknowledged event arrives once and in order, and the state shown is true.

use std::{path::Path, time::Duration};

use hookmitt_event::Timestamp;
use hookmitt_stories::{
    Acknowledged, Between, Cut, Load, RelayProcess, Server, Weather, eventually, post, say, seed,
};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng, seq::SliceRandom as _};
use serde_json::{Value, json};

const ROUNDS: usize = 20;
const SENDERS: usize = 8;

/// How long senders pause: these stories test a bad network, not a high load.
const REST: Duration = Duration::from_millis(20);

/// How soon the app must notice a dead connection: after 15 s of silence, plus what a slow machine may need. Any other
/// limit that would notice it is a minute or more.
const DEAD: Duration = Duration::from_secs(40);

/// What a round kills.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Relay,
    App,
    Both,
}

/// What a round does to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    Cut(Cut),
    Weather(Weather),
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_random_relay_and_app_lose_nothing_and_double_nothing() {
    let mut random = SmallRng::seed_from_u64(seed());
    let (at_relay, at_app) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let token = RelayProcess::token(at_relay.path()).await;
    let mut relay = RelayProcess::start(at_relay.path(), &[]).await;
    let mut app = Server::start(at_app.path()).await;
    let address = relay.address;
    open(&app, &format!("http://{address}"), &token).await;
    offered(&relay).await;

    let load = Load::start(address, "/acme/s", SENDERS, Duration::ZERO);
    for round in 1..=ROUNDS {
        load.some(&mut random, 50..250).await;
        let victim = [Victim::Relay, Victim::App, Victim::Both][random.random_range(0..3)];
        say(&format!("round {round}: {victim:?} after {} acknowledgements", load.count()));
        if matches!(victim, Victim::App | Victim::Both) {
            app.kill().await;
            app = Server::start(at_app.path()).await;
        }
        if matches!(victim, Victim::Relay | Victim::Both) {
            relay.process.kill().await;
            relay = RelayProcess::start_at(at_relay.path(), &address.to_string(), &[]).await;
        }
    }
    let acknowledged = load.end().await;
    drained(&app, at_app.path(), &acknowledged).await;
    app.kill().await;
    acknowledged.are_here(at_app.path());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_cuts_delays_and_half_opens_loses_nothing_and_is_not_believed_for_long() {
    let mut random = SmallRng::seed_from_u64(seed());
    let (at_relay, at_app) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let token = RelayProcess::token(at_relay.path()).await;
    let relay = RelayProcess::start(at_relay.path(), &[]).await;
    let between = Between::to(relay.address).await;
    let app = Server::start(at_app.path()).await;
    open(&app, &format!("http://{}", between.address), &token).await;
    offered(&relay).await;

    let load = Load::start(relay.address, "/acme/s", SENDERS, REST);
    for trouble in troubles(&mut random) {
        connected(&app).await;
        load.some(&mut random, 20..120).await;
        say(&format!("{trouble:?} after {} acknowledgements", load.count()));
        match trouble {
            Trouble::Weather(weather) => {
                between.is(weather);
                load.some(&mut random, 50..250).await;
                between.is(Weather::Fair);
            }
            Trouble::Cut(Cut::HalfOpen) => half_open(&between, &app, &load).await,
            Trouble::Cut(cut) => {
                let before = between.accepted();
                assert_eq!(between.cut(cut), 1, "the app has one connection");
                eventually("the app calls again", async || (between.accepted() > before).then_some(())).await;
            }
        }
    }
    let acknowledged = load.end().await;
    drained(&app, at_app.path(), &acknowledged).await;
    let gaps = gaps(&app).await;
    assert!(gaps.iter().all(|gap| gap["lost"] == 0 && gap["until"].is_string()), "{gaps:#?}");
    app.kill().await;
    acknowledged.are_here(at_app.path());
}

/// Returns each trouble twice, and a half-open connection once because it takes 15 s, in random order.
fn troubles(random: &mut SmallRng) -> Vec<Trouble> {
    let latency = Duration::from_millis(random.random_range(20..400));
    let weathers = [Weather::Slow(latency), Weather::StalledDown, Weather::StalledUp].map(Trouble::Weather);
    let mut troubles =
        [weathers.to_vec(), [Cut::Fin, Cut::Reset].map(Trouble::Cut).to_vec()].concat().repeat(2);
    troubles.push(Trouble::Cut(Cut::HalfOpen));
    troubles.shuffle(random);
    troubles
}

/// Makes the connection half-open. The app notices it, says so, reconnects by itself, and reports what came of it.
async fn half_open(between: &Between, app: &Server, load: &Load) {
    // An earlier gap may still be catching up and be reported later, but its own time is over.
    let cut = Timestamp::now();
    assert_eq!(between.cut(Cut::HalfOpen), 1, "the app has one connection");
    let before = load.count();
    let noticed = tokio::time::timeout(DEAD, async {
        eventually("the connection is noticed to be dead", async || {
            let missed = load.count() - before;
            let tunnel = tunnel(app).await;
            (tunnel["state"] != "connected").then_some((tunnel, missed))
        })
        .await
    });
    let (tunnel, missed) = noticed.await.expect("a dead connection is not shown as one");
    let now = Timestamp::now();

    let gap = eventually("the gap is over", async || {
        gaps(app).await.into_iter().find(|gap| time(&gap["until"]).is_some_and(|until| until > cut))
    })
    .await;
    // The gap starts when the relay was last heard, not when the silence was noticed.
    let from = time(&gap["from"]).unwrap();
    assert!(now.since(from) >= Duration::from_secs(14), "{gap}");
    // Each sender may have got one more acknowledgement for an event that had just come through.
    let caught_up = usize::try_from(gap["caught_up"].as_u64().unwrap()).unwrap();
    assert!(missed > SENDERS && caught_up + SENDERS >= missed, "{missed} were missed: {gap}");
    assert_eq!(gap["lost"], 0, "{gap}");
    // If the first call after it fails, too, that call's reason counts: the relay may be busy ending the old connection.
    assert!(["no_answer", "relay"].iter().any(|why| gap["why"] == *why), "{gap}");
    // The relay was silent, or one answer is missing that was requested shortly before.
    let code = &tunnel["error"]["code"];
    assert!(["relay-silent", "relay-slow"].iter().any(|told| code == told), "{tunnel}");
}

fn time(written: &Value) -> Option<Timestamp> {
    written.as_str()?.parse().ok()
}

/// Adds a source and opens a tunnel for the app.
pub(super) async fn open(app: &Server, relay: &str, token: &str) {
    app.ask("POST", "/api/sources", json!({ "slug": "s" })).await;
    app.ask("POST", "/api/tunnels", json!({ "relay": relay, "token": token, "name": "acme" })).await;
}

pub(super) async fn offered(relay: &RelayProcess) {
    eventually("the relay knows the source", async || {
        (post(relay.address, "/acme/s", &[], b"first").await.status == 202).then_some(())
    })
    .await;
}

pub(super) async fn tunnel(app: &Server) -> Value {
    app.ask("GET", "/api/tunnels", Value::Null).await["items"][0].take()
}

pub(super) async fn connected(app: &Server) {
    eventually("the tunnel is connected", async || (tunnel(app).await["state"] == "connected").then_some(()))
        .await;
}

/// Returns the gaps that are over and in which events came.
async fn gaps(app: &Server) -> Vec<Value> {
    app.ask("GET", "/api/gaps", Value::Null).await["items"].as_array().unwrap().clone()
}

/// Waits until everything that was acknowledged is in the inbox, and nothing is left at the relay.
pub(super) async fn drained(app: &Server, folder: &Path, acknowledged: &Acknowledged) {
    acknowledged.arrive(folder).await;
    eventually("the relay has nothing left", async || {
        let tunnel = tunnel(app).await;
        let empty = tunnel["waiting"]["letters"] == 0 && tunnel["to_acknowledge"] == 0;
        (tunnel["state"] == "connected" && empty).then_some(())
    })
    .await;
}
