//! Clocks that are set while we work: nothing is lost, sent twice or stranded.

use std::{path::Path, sync::Arc, time::Duration};

use hookmitt_clock::{Clock as _, MachineClock};
use hookmitt_stories::{
    Answer, Device, FakeClock, LocalServer, RelayProcess, Reply, Server, Stored, eventually, offer, post,
    serve,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const STEPS: [i64; 8] = [70, -70, HOUR, -HOUR, 45 * DAY, -45 * DAY, 365 * DAY, -365 * DAY];

const IN_FLIGHT: usize = 12;

#[tokio::test(flavor = "multi_thread")]
async fn no_step_of_the_clock_sends_twice_what_is_in_flight_or_strands_a_retry() {
    let Some(clock) = FakeClock::right() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = serve(folder.path());
    clock.rules(&mut command);
    let server = Server::spawn(command).await;
    let (slow, failing) = (LocalServer::start().await, LocalServer::start().await);
    let never = Arc::new(Notify::new());
    slow.will((0..IN_FLIGHT).map(|_| Answer::When(Arc::clone(&never))));
    target(&server, "slow", &slow, json!({ "order": "parallel:12", "timeout_ms": 600_000 })).await;
    target(&server, "failing", &failing, json!({ "retry_base_ms": 500, "retry_cap_ms": 500 })).await;
    for number in 0..IN_FLIGHT {
        assert_stored(&post(server.capture, "/slow", &[], format!("{number}").as_bytes()).await);
    }
    slow.wait_for(IN_FLIGHT).await;

    let stored = Stored::open(folder.path());
    let mut off = 0;
    for (number, step) in STEPS.into_iter().enumerate() {
        failing.will([Answer::Status(503)]);
        assert_stored(&post(server.capture, "/failing", &[], format!("{step}").as_bytes()).await);
        let received_at = stored.count("SELECT received_at FROM event ORDER BY seq DESC LIMIT 1");
        let by = (received_at - MachineClock.now().as_micros()) / 1_000_000 - off;
        assert!(by.abs() < 60, "it goes by the clock that we set: {by} s");
        off = step;
        failing.wait_for(2 * number + 1).await;
        clock.off_by(step);
        failing.wait_for(2 * number + 2).await;
    }
    suspend(&server, Duration::from_secs(61)).await;
    for _ in 0..2 {
        sweep(&stored).await;
    }
    assert_eq!(slow.seen().len(), IN_FLIGHT, "none is sent again while it is in flight");

    (0..IN_FLIGHT).for_each(|_| never.notify_one());
    let all = i64::try_from(IN_FLIGHT + STEPS.len()).unwrap();
    eventually("everything is delivered", async || {
        (stored.count("SELECT count(*) FROM delivery WHERE state = 2") == all).then_some(())
    })
    .await;
    assert_eq!((slow.seen().len(), failing.seen().len()), (IN_FLIGHT, 2 * STEPS.len()), "once each");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_that_waited_when_the_clock_was_set_back_comes_after_a_restart() {
    let Some(clock) = FakeClock::right() else { return };
    let (folder, failing) = (tempfile::tempdir().unwrap(), LocalServer::start().await);
    let mut command = serve(folder.path());
    clock.rules(&mut command);
    let server = Server::spawn(command).await;
    target(&server, "failing", &failing, json!({ "retry_base_ms": 2_000, "retry_cap_ms": 2_000 })).await;
    failing.will([Answer::Status(503)]);
    assert_stored(&post(server.capture, "/failing", &[], b"{}").await);
    let stored = Stored::open(folder.path());
    eventually("the attempt is written down", async || {
        (stored.count("SELECT count(*) FROM attempt") == 1).then_some(())
    })
    .await;
    server.kill().await;
    clock.off_by(-HOUR);
    let mut command = serve(folder.path());
    clock.rules(&mut command);
    let _server = Server::spawn(command).await;
    failing.wait_for(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_9_a_relay_whose_clock_is_put_right_deletes_no_letter() {
    let Some(clock) = FakeClock::right() else { return };
    clock.off_by(-45 * DAY); // a board without a clock of its own
    let folder = tempfile::tempdir().unwrap();
    let mut command = RelayProcess::command(folder.path(), "127.0.0.1:0", &[]);
    clock.rules(&mut command);
    let relay = RelayProcess::spawn(command).await;
    let token = RelayProcess::token(folder.path()).await;
    let device = Device::open(relay.address, &token, Some("acme-dev")).await;
    drop(device.offering(vec![offer("s")]).await);
    for number in 0..20 {
        let reply = post(relay.address, "/acme-dev/s", &[], format!("{number}").as_bytes()).await;
        assert_eq!(reply.status, 202, "{}", reply.json());
    }
    clock.off_by(0);
    relay_sweep(folder.path()).await;
    assert_eq!(device.connect().await.depth.letters, 20, "every one that was acknowledged");
}

async fn target(server: &Server, source: &str, local: &LocalServer, mut order: Value) {
    server.ask("POST", "/api/sources", json!({ "slug": source })).await;
    order["source"] = source.into();
    order["url"] = local.url().into();
    server.ask("POST", "/api/targets", order).await;
}

fn assert_stored(reply: &Reply) {
    assert!((200..300).contains(&reply.status), "{}", reply.json());
}

/// Stops the process for a while, as a suspended machine does.
async fn suspend(server: &Server, span: Duration) {
    signal(server, "STOP").await;
    tokio::time::sleep(span).await; // what is waited for is the time itself
    signal(server, "CONT").await;
}

async fn signal(server: &Server, name: &str) {
    let pid = server.pid().to_string();
    let sent = tokio::process::Command::new("kill").args(["-s", name, &pid]).status().await;
    assert!(sent.unwrap().success());
}

/// Waits for a sweep: each writes down how far the inbox's clock is.
async fn sweep(stored: &Stored) {
    let clock = || stored.count("SELECT value FROM meta WHERE key = 'clock'");
    let before = clock();
    eventually("a sweep", async || (clock() != before).then_some(())).await;
}

/// Waits for a sweep of the relay, which comes once a minute.
async fn relay_sweep(folder: &Path) {
    let store = rusqlite::Connection::open(folder.join("relay.db")).unwrap();
    let clock = || store.query_row("SELECT store FROM clock", [], |row| row.get::<_, i64>(0)).unwrap();
    let before = clock();
    let swept = async {
        while clock() == before {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), swept).await.expect("a sweep");
}
