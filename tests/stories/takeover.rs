//! Several processes on one data directory: all capture, one delivers, and another takes over when that one dies.

use std::{collections::HashMap, sync::Arc, time::Duration};

use hookmitt_stories::{Answer, LocalServer, Seen, Server, Stored, eventually, hookmitt, post};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Well below a sweep (30 s): what takes longer was left to the sweep.
const SOON: Duration = Duration::from_secs(25);

#[tokio::test(flavor = "multi_thread")]
async fn the_second_process_stores_and_the_first_delivers() {
    let (folder, local) = (tempfile::tempdir().expect("a temporary folder"), LocalServer::start().await);
    let first = Server::start(folder.path()).await;
    first.delivers().await;
    let second = Server::start(folder.path()).await;
    eventually("the second says that another delivers", async || {
        second.said().contains("another process delivers").then_some(())
    })
    .await;
    add_target(&first, &local.url(), "sequential").await;

    // The owner has stored no event for this target itself.
    let posted = soon("the first event reaches the local server", async {
        let posted = post_to(&second, 1).await;
        local.wait_for(1).await;
        posted
    })
    .await;
    assert_eq!(delivered(&local.seen()), HashMap::from([(posted[0].clone(), 1)]));

    // Both processes capture and one delivers: every event arrives once.
    let (mut all, more) = tokio::join!(post_to(&first, 40), post_to(&second, 40));
    all.extend(more.into_iter().chain(posted));
    let stored = Stored::open(folder.path());
    soon("everything is delivered", completed(&stored, all.len())).await;
    assert_eq!(delivered(&local.seen()), all.into_iter().map(|id| (id, 1)).collect());
    for (server, delivers) in [(&first, true), (&second, false)] {
        let stats = server.ask("GET", "/api/stats", Value::Null).await;
        assert_eq!((&stats["delivers"], &stats["events"]), (&delivers.into(), &81.into()));
    }
    first.kill().await;
    second.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_one_that_delivers_is_killed_another_takes_over_with_what_it_had_begun() {
    let (folder, local) = (tempfile::tempdir().expect("a temporary folder"), LocalServer::start().await);
    let first = Server::start(folder.path()).await;
    first.delivers().await;
    let second = Server::start(folder.path()).await;
    add_target(&second, &local.url(), "parallel:4").await;

    // Some events are delivered; four are being sent and get no answer; the others wait behind them.
    let mut all = post_to(&first, 10).await;
    let stored = Stored::open(folder.path());
    soon("the first ten are delivered", completed(&stored, 10)).await;
    let never = Arc::new(Notify::new());
    local.will((0..4).map(|_| Answer::When(Arc::clone(&never))));
    let (from_first, from_second) = tokio::join!(post_to(&first, 20), post_to(&second, 20));
    all.extend(from_first.into_iter().chain(from_second));
    local.wait_for(14).await;
    assert_eq!(states(&stored), HashMap::from([(0, 36), (1, 4), (2, 10)]));
    let begun: Vec<_> = local.seen()[10..].iter().map(event_of).collect();

    first.kill().await;
    soon("the second delivers", second.delivers()).await;
    soon("everything is delivered", completed(&stored, all.len())).await;
    let delivered = delivered(&local.seen());
    assert_eq!(delivered.len(), all.len());
    for id in &all {
        let times = if begun.contains(id) { 2 } else { 1 };
        assert_eq!(delivered.get(id), Some(&times), "event {id}");
    }
    // What the dead process had begun is an attempt without an answer, because it may have arrived.
    let event = second.ask("GET", &format!("/api/events/{}", begun[0]), Value::Null).await;
    let attempts = &event["deliveries"][0]["attempts"];
    assert_eq!(attempts.as_array().map(Vec::len), Some(2), "{attempts}");
    assert_eq!((&attempts[0]["ambiguous"], &attempts[0]["response_status"]), (&json!(true), &Value::Null));
    assert_eq!((&attempts[1]["number"], &attempts[1]["response_status"]), (&json!(2), &json!(200)));

    // Commands find the new owner.
    let mut command = hookmitt(folder.path());
    let output = command.args(["replay", &all[0], "--json"]).output().await.expect("output");
    let line: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&line["status"], output.status.code()), (&"completed".into(), Some(0)), "{line}");
    second.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_was_under_way_when_everything_was_killed_is_sent_again_at_the_next_start() {
    let (folder, local) = (tempfile::tempdir().expect("a temporary folder"), LocalServer::start().await);
    let first = Server::start(folder.path()).await;
    add_target(&first, &local.url(), "sequential").await;
    local.will([Answer::When(Arc::default())]);
    let all = post_to(&first, 3).await;
    local.wait_for(1).await;
    first.kill().await;
    let stored = Stored::open(folder.path());
    assert_eq!(states(&stored), HashMap::from([(0, 2), (1, 1)]));

    let next = Server::start(folder.path()).await;
    soon("everything is delivered", completed(&stored, 3)).await;
    let order: Vec<_> = local.seen().iter().map(event_of).collect();
    assert_eq!(order, [&all[0], &all[0], &all[1], &all[2]].map(Clone::clone));
    next.kill().await;
}

async fn add_target(server: &Server, url: &str, order: &str) {
    server.ask("POST", "/api/sources", json!({ "slug": "shop" })).await;
    server.ask("POST", "/api/targets", json!({ "source": "shop", "url": url, "order": order })).await;
}

/// Posts `count` different events, one after the other. Returns their ids.
async fn post_to(server: &Server, count: usize) -> Vec<String> {
    let mut ids = Vec::with_capacity(count);
    for _ in 0..count {
        let body = json!({ "order": rand::random::<u64>() }).to_string();
        let reply = post(server.capture, "/shop", &[], body.as_bytes()).await;
        assert_eq!(reply.status, 202, "{:?}", reply.json());
        ids.push(reply.json()["id"].as_str().expect("an id").to_owned());
    }
    ids
}

fn event_of(request: &Seen) -> String {
    request.header("x-hookmitt-event-id").expect("an event id")
}

/// Returns how often each event reached the local server.
fn delivered(seen: &[Seen]) -> HashMap<String, usize> {
    let mut times = HashMap::new();
    for request in seen {
        *times.entry(event_of(request)).or_default() += 1;
    }
    times
}

/// Returns how many deliveries are in each state.
fn states(stored: &Stored) -> HashMap<i64, usize> {
    let mut states = HashMap::new();
    for state in stored.deliveries().into_values().flatten() {
        *states.entry(state).or_default() += 1;
    }
    states
}

async fn completed(stored: &Stored, count: usize) {
    eventually("deliveries are completed", async || {
        (states(stored) == HashMap::from([(2, count)])).then_some(())
    })
    .await;
}

async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, work).await.unwrap_or_else(|_| panic!("not within {SOON:?}: {what}"))
}
