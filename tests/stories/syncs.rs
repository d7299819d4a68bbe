//! A kill can't reveal a missing fsync, because the system keeps what was written. So these stories check the system
//! calls: the log is synced before each 2xx, here and at a relay.

use std::{collections::HashMap, net::SocketAddr, path::Path, sync::Arc};

use hookmitt_stories::{
    Answer, Device, LocalServer, RelayProcess, Server, eventually, lacking, offer, post, serve, under,
};
use serde_json::json;
use tokio::{process::Command, sync::Notify};

const POSTS: usize = 20;

/// The logs of an inbox, of its index, and of a relay.
const INBOX: &str = "inbox.db-wal";
const INDEX: &str = "search.db-wal";
const MAILBOX: &str = "relay.db-wal";

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_synced_before_each_acknowledgement() {
    let Some(trace) = traced("FULL").await else { return };
    assert_synced(&trace, POSTS, INBOX);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledgement_without_a_sync_would_be_noticed() {
    let Some(trace) = traced("OFF").await else { return };
    let wrong = syncs_before_answers(&trace, POSTS, INBOX).expect_err("without syncs it must fail");
    assert_eq!(wrong, "answer 1 left before a sync of the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relays_log_is_synced_before_each_acknowledgement() {
    let Some(trace) = traced_relay("FULL").await else { return };
    // The opening of the tunnel is acknowledged, too.
    assert_synced(&trace, 1 + POSTS, MAILBOX);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relays_acknowledgement_without_a_sync_would_be_noticed() {
    let Some(trace) = traced_relay("OFF").await else { return };
    let wrong = syncs_before_answers(&trace, 1 + POSTS, MAILBOX).expect_err("without syncs it must fail");
    assert_eq!(wrong, "answer 1 left before a sync of the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_takes_one_sync_while_others_wait() {
    if !has_strace().await {
        return;
    }
    let (folder, local) = (tempfile::tempdir().expect("a temporary folder"), LocalServer::start().await);
    let (file, go) = (folder.path().join("trace"), Arc::new(Notify::new()));
    local.will([Answer::When(Arc::clone(&go))]);
    let server = Server::spawn(under(&strace(&file), &serve(&folder.path().join("data")))).await;
    server.ask("POST", "/api/targets", json!({ "url": local.url() })).await;
    post_all(server.capture, "/demo").await;
    local.wait_for(1).await;
    go.notify_one();
    local.wait_for(POSTS).await;
    server.kill().await;
    let trace = ended(&file).await;
    let syncs_of =
        |log: &str| trace.lines().filter(|line| line.contains("fdatasync(") && line.contains(log)).count();
    let (syncs, indexing) = (syncs_of(INBOX), syncs_of(INDEX));
    // One for each request and one for each attempt, and a few that set up the source and the target. Beside each step of
    // the index, two more: one names it, the other forgets what it has taken over.
    let most = 2 * POSTS + 10 + 2 * indexing;
    assert!((2 * POSTS..most).contains(&syncs), "{syncs} syncs, {indexing} of the index\n{trace}");
}

#[test]
fn a_sync_that_is_still_under_way_does_not_count() {
    let syncs = |trace: &str| syncs_before_answers(trace, POSTS, INBOX);
    let whole =
        "7 fdatasync(9</d/inbox.db-wal>) = 0\n8 writev(5<TCP:[a:1->b:2]>, \"HTTP/1.1 2\"..., 3) = 3\n";
    assert_eq!(syncs(&whole.repeat(POSTS)), Ok(POSTS));
    let begun = "7 fdatasync(9</d/inbox.db-wal> <unfinished ...>\n";
    let answered = "8 writev(5<TCP:[a:1->b:2]>, \"HTTP/1.1 2\"..., 3 <unfinished ...>\n";
    let ended = "7 <... fdatasync resumed>) = 0\n8 <... writev resumed>) = 3\n";
    let in_time = format!("{begun}7 <... fdatasync resumed>) = 0\n{answered}8 <... writev resumed>) = 3\n");
    assert_eq!(syncs(&in_time.repeat(POSTS)), Ok(POSTS));
    let late = format!("{begun}{answered}{ended}").repeat(POSTS);
    assert_eq!(syncs(&late), Err("answer 1 left before a sync of the log".to_owned()));
    let failed = whole.replace(">) = 0", ">) = -1 EIO (Input/output error)");
    assert_eq!(syncs(&failed), Err("answer 1 left before a sync of the log".to_owned()));
}

fn assert_synced(trace: &str, answers: usize, log: &str) {
    let syncs = syncs_before_answers(trace, answers, log).unwrap_or_else(|wrong| panic!("{wrong}\n{trace}"));
    assert!(syncs >= answers, "{syncs} syncs for {answers} answers");
}

/// Serves under strace, posts events one after the other, and returns strace's output in the order of events.
/// Returns `None` if there is no strace here and none is required.
async fn traced(synchronous: &str) -> Option<String> {
    if !has_strace().await {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("trace");
    let mut command = under(&strace(&file), &serve(&folder.path().join("data")));
    command.env("HOOKMITT_TEST_SYNCHRONOUS", synchronous);
    let server = Server::spawn(command).await;
    post_all(server.capture, "/demo").await;
    let port = server.capture.port();
    server.kill().await;
    Some(written(&file, port).await)
}

/// Like [`traced`], for a relay.
async fn traced_relay(synchronous: &str) -> Option<String> {
    if !has_strace().await {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, data) = (folder.path().join("trace"), folder.path().join("data"));
    let token = RelayProcess::token(&data).await;
    let mut command = under(&strace(&file), &RelayProcess::command(&data, "127.0.0.1:0", &[]));
    command.env("HOOKMITT_TEST_SYNCHRONOUS", synchronous);
    let relay = RelayProcess::spawn(command).await;
    let device = Device::open(relay.address, &token, Some("acme")).await;
    let _line = device.offering(vec![offer("demo")]).await;
    post_all(relay.address, "/acme/demo").await;
    relay.process.kill().await;
    Some(written(&file, relay.address.port()).await)
}

async fn has_strace() -> bool {
    let has = Command::new("strace").arg("--version").output().await.is_ok();
    if !has {
        lacking("strace", "apt-get install -y strace");
    }
    has
}

async fn post_all(address: SocketAddr, target: &str) {
    for number in 0..POSTS {
        let reply = post(address, target, &[], format!("{{\"number\":{number}}}").as_bytes()).await;
        assert_eq!(reply.status, 202, "{}", String::from_utf8_lossy(&reply.body));
    }
}

/// Returns strace's output once it has ended: syncs, and what was sent from this port.
async fn written(file: &Path, port: u16) -> String {
    let (whole, port) = (ended(file).await, format!(":{port}->"));
    // The API's answers don't matter here.
    let ours = whole.lines().filter(|line| !line.contains("<TCP") || line.contains(&port));
    ours.map(|line| format!("{line}\n")).collect()
}

/// Returns strace's output once it has ended.
async fn ended(file: &Path) -> String {
    eventually("strace ends", async || {
        let text = std::fs::read_to_string(file).ok()?;
        text.trim_end().ends_with("+++ killed by SIGKILL +++").then_some(text)
    })
    .await
}

/// The tracer is a grandchild (`-D`), so the process that we start and end is `serve` itself.
fn strace(file: &Path) -> Vec<String> {
    let traced = "--trace=fdatasync,fsync,write,writev,sendto,sendmsg";
    let file = file.to_str().expect("a path in UTF-8");
    ["strace", "-D", "-f", "-qq", "-yy", "-s", "16", traced, "-o", file].map(str::to_owned).to_vec()
}

/// Checks that the log was synced before each of the expected answers. Returns how often it was synced.
fn syncs_before_answers(trace: &str, expected: usize, log: &str) -> Result<usize, String> {
    let mut under_way: HashMap<&str, &str> = HashMap::new();
    let (mut syncs, mut answers, mut is_synced) = (0, 0, false);
    for line in trace.lines() {
        let (thread, call) = line.split_once(' ').unwrap_or((line, ""));
        let call = call.trim_start();
        // An answer counts when its call begins, a sync when its call has ended.
        if is_answer(call) {
            answers += 1;
            if !is_synced {
                return Err(format!("answer {answers} left before a sync of the log"));
            }
            is_synced = false;
        }
        if call.ends_with("<unfinished ...>") {
            under_way.insert(thread, call);
            continue;
        }
        let begun = if call.starts_with("<... ") { under_way.remove(thread).unwrap_or("") } else { call };
        if is_sync(begun, log) && call.ends_with("= 0") {
            syncs += 1;
            is_synced = true;
        }
    }
    if answers == expected { Ok(syncs) } else { Err(format!("{answers} answers, not {expected}")) }
}

fn is_answer(call: &str) -> bool {
    ["write(", "writev(", "sendto(", "sendmsg("].iter().any(|name| call.starts_with(name))
        && call.contains("<TCP")
        && call.contains("\"HTTP/1.1 2")
}

fn is_sync(call: &str, log: &str) -> bool {
    (call.starts_with("fdatasync(") || call.starts_with("fsync(")) && call.contains(log)
}
