//! Acknowledged means stored, whatever happens to the process; and the write-ahead log stays small.

use std::{
    collections::HashSet,
    path::Path,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hookmitt_event::{EventId, HeaderLines, Request, Timestamp};
use hookmitt_inbox::{Filter, Inbox, NewEvent, Route, SourceSettings};
use hookmitt_sqlite::LOG_LIMIT;
use hookmitt_stories::{LocalServer, Server, Stored, eventually, say, seed};
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::SmallRng};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::{process::Command, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::dedupe_order::{self, by_id};

const KILLS: usize = 20;
const ACKNOWLEDGED: u64 = 1_000;
const IN_FLIGHT: u64 = 32;

/// The longest time that a round of load may take on a slow machine.
const ROUND: Duration = Duration::from_secs(60);

/// A line of the ledger: an event that was answered with a 2xx.
struct Acknowledged {
    event: String,
    sha256: String,
    source: String,
}

/// The result of a round of load.
struct Round {
    acknowledged: Vec<Acknowledged>,
    in_flight: u64,
    unanswered: u64,
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_event_survives_twenty_kills_under_load() {
    let mut random = SmallRng::seed_from_u64(seed());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let local = LocalServer::start().await;
    let mut server = Server::start(folder.path()).await;
    for source in ["kept", "delivered"] {
        server.ask("POST", "/api/sources", json!({ "slug": source })).await;
    }
    let target = json!({ "source": "delivered", "url": local.url(), "order": "parallel:8" });
    server.ask("POST", "/api/targets", target).await;

    let (mut all, mut kills) = (Vec::new(), 0);
    for round in 1..=2 * KILLS {
        let Round { acknowledged, in_flight, unanswered } =
            load_and_kill(&server, &mut random, folder.path()).await;
        assert!(!server.ended().await.success(), "round {round}: it ended well");
        let count = acknowledged.len() as u64;
        say(&format!(
            "round {round}: {count} acknowledged, {in_flight} in flight, {unanswered} of them never answered"
        ));
        // A kill counts only if it left enough requests unanswered, because only then it came under load for certain.
        kills += usize::from(count >= ACKNOWLEDGED && unanswered >= IN_FLIGHT);

        server = Server::start(folder.path()).await;
        let stored = Stored::open(folder.path());
        assert_all_stored(&stored, &acknowledged);
        nothing_waits(&stored).await;
        all.extend(acknowledged);
        if kills == KILLS {
            break;
        }
    }
    assert_eq!(kills, KILLS, "too few kills came under load");
    let stored = Stored::open(folder.path());
    assert_eq!(stored.check(), "ok");
    assert_all_stored(&stored, &all);
    assert_delivered(&stored, &all, &local);
    // The API returns the same bytes.
    for acknowledged in all.iter().step_by(all.len() / 100) {
        let event = server.ask("GET", &format!("/api/events/{}", acknowledged.event), Value::Null).await;
        assert_eq!(
            (&event["sha256"], &event["source"]),
            (&json!(acknowledged.sha256), &json!(acknowledged.source))
        );
        let body =
            server.call("GET", &format!("/api/events/{}/body", acknowledged.event), &Value::Null).await;
        assert_eq!(sha256(&body.body), acknowledged.sha256);
    }
    server.kill().await;
}

/// Starts a process that posts events and kills the server at a moment of its choice.
async fn load_and_kill(server: &Server, random: &mut SmallRng, folder: &Path) -> Round {
    let file = folder.join("ledger");
    let enough = ACKNOWLEDGED + random.random_range(0..1_000);
    let arguments = [
        server.capture.to_string(),
        server.pid().to_string(),
        random.next_u64().to_string(),
        enough.to_string(),
        IN_FLIGHT.to_string(),
    ];
    let ledger = Command::new(env!("CARGO_BIN_EXE_ledger"))
        .args(arguments)
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the ledger starts");
    let ended = tokio::time::timeout(ROUND, ledger.wait_with_output()).await;
    let output = ended.expect("the load ends in time").expect("output");
    let why = String::from_utf8_lossy(&output.stderr);
    let counted: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no counts: {why}"));
    assert_eq!(counted["refused"], 0, "{counted}");
    let lines = std::fs::read_to_string(&file).expect("a ledger");
    let acknowledged: Vec<_> = lines.lines().map(acknowledged).collect();
    assert_eq!(counted["acknowledged"], acknowledged.len());
    let count = |name: &str| counted[name].as_u64().expect("a number");
    Round { acknowledged, in_flight: count("in_flight"), unanswered: count("unanswered") }
}

fn acknowledged(line: &str) -> Acknowledged {
    let [event, sha256, source] = line.split(' ').collect::<Vec<_>>()[..] else {
        panic!("not a line: {line}")
    };
    Acknowledged { event: event.to_owned(), sha256: sha256.to_owned(), source: source.to_owned() }
}

fn assert_all_stored(stored: &Stored, acknowledged: &[Acknowledged]) {
    for Acknowledged { event, sha256, .. } in acknowledged {
        assert_eq!(stored.sha256(event).as_ref(), Some(sha256), "event {event}");
    }
}

async fn nothing_waits(stored: &Stored) {
    eventually("every delivery ends", async || {
        (stored.count("SELECT count(*) FROM delivery WHERE state IN (0, 1)") == 0).then_some(())
    })
    .await;
}

/// Checks that each event of the source with a target has one completed delivery, and that its bytes arrived.
fn assert_delivered(stored: &Stored, all: &[Acknowledged], local: &LocalServer) {
    let deliveries = stored.deliveries();
    let seen: HashSet<_> = local
        .seen()
        .iter()
        .map(|request| (request.header("x-hookmitt-event-id").expect("an event id"), sha256(request.body())))
        .collect();
    let wanted: Vec<_> = all.iter().filter(|acknowledged| acknowledged.source == "delivered").collect();
    assert!(wanted.len() > KILLS, "{} events had a target", wanted.len());
    for Acknowledged { event, sha256, .. } in wanted {
        assert_eq!(deliveries.get(event), Some(&vec![2]), "deliveries of event {event}");
        assert!(
            seen.contains(&(event.clone(), sha256.clone())),
            "event {event} never reached the local server"
        );
    }
    // Events that were stored but not acknowledged before the kill were delivered as well.
    assert!(deliveries.values().flatten().all(|state| *state == 2), "{deliveries:?}");
}

/// Stores 40,000 events of 3 KiB, as fast as the inbox takes them.
#[tokio::test(flavor = "multi_thread")]
async fn the_write_ahead_log_stays_within_its_bound_under_sustained_load() {
    let watched = watched(Load { events: 40_000, width: 256, size: 3 * 1_024 }).await;
    assert!(watched.pages > 0, "no reader got a turn");
    assert!(watched.largest_log <= LOG_LIMIT, "the log grew to {} bytes", watched.largest_log);
}

/// Stores the largest bodies that are accepted, as many at once as may be in flight.
#[tokio::test(flavor = "multi_thread")]
async fn the_largest_bodies_arriving_together_do_not_push_the_log_past_its_bound() {
    let watched = watched(Load { events: 24, width: 10, size: 25 * 1_024 * 1_024 }).await;
    assert!(watched.largest_log <= LOG_LIMIT, "the log grew to {} bytes", watched.largest_log);
}

/// What to store, and how many events at a time.
#[derive(Clone, Copy)]
struct Load {
    events: u64,
    width: u64,
    size: usize,
}

/// What was observed under load.
struct Watched {
    largest_log: u64,
    pages: u64,
}

/// Stores directly into an inbox while two readers page through it, and measures the log after each commit.
async fn watched(load: Load) -> Watched {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inbox =
        Inbox::open(folder.path(), std::sync::Arc::new(hookmitt_clock::MachineClock)).expect("an inbox");
    let added =
        inbox.add_source("load".parse().expect("a slug"), SourceSettings::default(), false, Timestamp::now());
    let source = added.await.expect("a source").row;
    let log = folder.path().join("inbox.db-wal");
    let mut commits = inbox.commits();
    let stop = CancellationToken::new();
    let mut beside = JoinSet::new();
    for _ in 0..2 {
        beside.spawn(turn_pages(inbox.clone(), stop.clone()));
    }
    let next = Arc::new(AtomicU64::new(0));
    let mut writers = JoinSet::new();
    for _ in 0..load.width {
        writers.spawn(store(inbox.clone(), source, load, Arc::clone(&next)));
    }
    let mut largest_log = 0;
    while !writers.is_empty() {
        tokio::select! {
            _ = commits.changed() => largest_log = largest_log.max(std::fs::metadata(&log).map_or(0, |log| log.len())),
            Some(ended) = writers.join_next() => ended.expect("stored"),
        }
    }
    stop.cancel();
    let pages = beside.join_all().await.into_iter().sum();
    assert_eq!(
        Stored::open(folder.path()).count("SELECT count(*) FROM event"),
        i64::try_from(load.events).expect("few")
    );
    say(&format!(
        "{} × {} bytes: log at most {} KiB, {pages} pages read",
        load.events,
        load.size,
        largest_log >> 10
    ));
    Watched { largest_log, pages }
}

async fn store(inbox: Inbox, source: i64, load: Load, next: Arc<AtomicU64>) {
    while next.fetch_add(1, Ordering::Relaxed) < load.events {
        inbox.store(arrival(source, vec![0x5a; load.size])).await.expect("stored");
    }
}

async fn turn_pages(inbox: Inbox, stop: CancellationToken) -> u64 {
    let (mut pages, mut cursor) = (0, None);
    while !stop.is_cancelled() {
        let page = inbox.list(Filter::default(), cursor, 100).await.expect("a page");
        cursor = page.next;
        pages += 1;
    }
    pages
}

fn arrival(source: i64, body: Vec<u8>) -> NewEvent {
    let key = by_id(&EventId::fresh().to_string());
    let arrival = dedupe_order::arrival(source, key, Timestamp::now());
    let headers = [("Host", "127.0.0.1"), ("Content-Type", "application/octet-stream")];
    let request = Request {
        path: "/hook".to_owned(),
        headers: HeaderLines::from_pairs(headers).expect("header lines"),
        body: Bytes::from(body),
        ..arrival.request
    };
    NewEvent { request, route: Route::Nowhere, ..arrival }
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
