//! Clocks that are set while hookmitt runs: nothing is lost, sent twice or stranded.

use std::{path::Path, sync::Arc, time::Duration};

use hookmitt_clock::{Clock as _, MachineClock};
use hookmitt_stories::{
    Answer, CLOCK_STEPS, FakeClock, LocalServer, Ran, Reply, Server, Stored, eventually, exchange, hookmitt,
    parse_reply, post, serve,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

const HOUR: i64 = 3_600;
const WEEK: i64 = 7 * 24 * HOUR;

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
    for (number, step) in CLOCK_STEPS.into_iter().enumerate() {
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
    let all = i64::try_from(IN_FLIGHT + CLOCK_STEPS.len()).unwrap();
    eventually("everything is delivered", async || {
        (stored.count("SELECT count(*) FROM delivery WHERE state = 2") == all).then_some(())
    })
    .await;
    assert_eq!((slow.seen().len(), failing.seen().len()), (IN_FLIGHT, 2 * CLOCK_STEPS.len()), "once each");
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
async fn a_code_and_a_session_end_by_the_clock_and_the_token_never() {
    let Some(clock) = FakeClock::right() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = serve(folder.path());
    clock.rules(&mut command);
    let server = Server::spawn(command).await;
    let session = swap(&server, &code(folder.path()).await).await.expect("a session");
    for step in CLOCK_STEPS {
        clock.off_by(0);
        let before = code(folder.path()).await;
        clock.off_by(step);
        let is_good = swap(&server, &before).await.is_some();
        assert_eq!(is_good, step < 60, "a code of a minute, after {step} s");
        assert_eq!(status(&server, &session).await, if step < WEEK { 200 } else { 401 }, "after {step} s");
        let fresh = swap(&server, &code(folder.path()).await).await.expect("the API's token goes on");
        assert_eq!(status(&server, &fresh).await, 200, "after {step} s");
    }
}

/// Returns a one-time code from the server on a data directory.
async fn code(data_dir: &Path) -> String {
    let mut command = hookmitt(data_dir);
    command.args(["url", "--ui"]);
    let url = Ran::of(command).await.exits(0).text().trim().to_owned();
    url.split_once("/#code=").unwrap_or_else(|| panic!("no code: {url}")).1.to_owned()
}

/// Exchanges a one-time code for a session token, as a browser does.
async fn swap(server: &Server, code: &str) -> Option<String> {
    let origin = format!("Origin: http://{}", server.api);
    let reply = browser(server, "POST /api/session", &origin, &json!({ "code": code }).to_string()).await;
    (reply.status == 200).then(|| reply.json()["token"].as_str().expect("a token").to_owned())
}

/// Returns the status of the API's answer to a request with this session token.
async fn status(server: &Server, session: &str) -> u16 {
    browser(server, "GET /api/sources", &format!("Authorization: Bearer {session}"), "").await.status
}

async fn browser(server: &Server, asked: &str, line: &str, body: &str) -> Reply {
    let (host, length) = (server.api, body.len());
    let request = format!(
        "{asked} HTTP/1.1\r\nHost: {host}\r\n{line}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    parse_reply(&exchange(host, request.as_bytes()).await)
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
    tokio::time::sleep(span).await; // a fixed sleep, because the suspension's length is what is tested
    signal(server, "CONT").await;
}

async fn signal(server: &Server, name: &str) {
    let pid = server.pid().to_string();
    let sent = tokio::process::Command::new("kill").args(["-s", name, &pid]).status().await;
    assert!(sent.unwrap().success());
}

/// Waits for a sweep; each sweep stores the reading of the inbox's clock.
async fn sweep(stored: &Stored) {
    let clock = || stored.count("SELECT value FROM meta WHERE key = 'clock'");
    let before = clock();
    eventually("a sweep", async || (clock() != before).then_some(())).await;
}
