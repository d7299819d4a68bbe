//! A kill can't see a missing fsync, for the system keeps what was written. So the system calls are looked at: the log
//! is synced before each 2xx.

use std::{collections::HashMap, path::Path};

use hookmitt_stories::{Server, eventually, lacking, post, serve, under};
use tokio::process::Command;

const POSTS: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_synced_before_each_acknowledgement() {
    let Some(trace) = traced("FULL").await else { return };
    let syncs = syncs_before_answers(&trace).unwrap_or_else(|wrong| panic!("{wrong}\n{trace}"));
    assert!(syncs >= POSTS, "{syncs} syncs for {POSTS} posts");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledgement_without_a_sync_would_be_noticed() {
    let Some(trace) = traced("OFF").await else { return };
    let wrong = syncs_before_answers(&trace).expect_err("without syncs it must fail");
    assert_eq!(wrong, "answer 1 left before a sync of the log");
}

#[test]
fn a_sync_that_is_still_under_way_does_not_count() {
    let whole =
        "7 fdatasync(9</d/inbox.db-wal>) = 0\n8 writev(5<TCP:[a:1->b:2]>, \"HTTP/1.1 2\"..., 3) = 3\n";
    assert_eq!(syncs_before_answers(&whole.repeat(POSTS)), Ok(POSTS));
    let begun = "7 fdatasync(9</d/inbox.db-wal> <unfinished ...>\n";
    let answered = "8 writev(5<TCP:[a:1->b:2]>, \"HTTP/1.1 2\"..., 3 <unfinished ...>\n";
    let ended = "7 <... fdatasync resumed>) = 0\n8 <... writev resumed>) = 3\n";
    let in_time = format!("{begun}7 <... fdatasync resumed>) = 0\n{answered}8 <... writev resumed>) = 3\n");
    assert_eq!(syncs_before_answers(&in_time.repeat(POSTS)), Ok(POSTS));
    let late = format!("{begun}{answered}{ended}").repeat(POSTS);
    assert_eq!(syncs_before_answers(&late), Err("answer 1 left before a sync of the log".to_owned()));
    let failed = whole.replace(">) = 0", ">) = -1 EIO (Input/output error)");
    assert_eq!(syncs_before_answers(&failed), Err("answer 1 left before a sync of the log".to_owned()));
}

/// Serves under strace, posts one after the other, and answers what strace wrote, in the order in which it happened.
/// `None`: there is no strace here, and need not be.
async fn traced(synchronous: &str) -> Option<String> {
    if Command::new("strace").arg("--version").output().await.is_err() {
        lacking("strace", "apt-get install -y strace");
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("trace");
    let mut command = under(&strace(&file), &serve(&folder.path().join("data")));
    command.env("HOOKMITT_TEST_SYNCHRONOUS", synchronous);
    let server = Server::spawn(command).await;
    for number in 0..POSTS {
        let reply = post(server.capture, "/demo", &[], format!("{{\"number\":{number}}}").as_bytes()).await;
        assert_eq!(reply.status, 202, "{}", String::from_utf8_lossy(&reply.body));
    }
    let port = format!(":{}->", server.capture.port());
    server.kill().await;
    let whole = eventually("strace ends", async || {
        let text = std::fs::read_to_string(&file).ok()?;
        text.trim_end().ends_with("+++ killed by SIGKILL +++").then_some(text)
    });
    // What the API answers is none of our concern here.
    let whole = whole.await;
    let ours = whole.lines().filter(|line| !line.contains("<TCP") || line.contains(&port));
    Some(ours.map(|line| format!("{line}\n")).collect())
}

/// The tracer is a grandchild (`-D`): what we start, and end, is `serve` itself.
fn strace(file: &Path) -> Vec<String> {
    let traced = "--trace=fdatasync,fsync,write,writev,sendto,sendmsg";
    let file = file.to_str().expect("a path in UTF-8");
    ["strace", "-D", "-f", "-qq", "-yy", "-s", "16", traced, "-o", file].map(str::to_owned).to_vec()
}

/// Checks that the log was synced between each answer and the one before. Answers how often it was synced.
fn syncs_before_answers(trace: &str) -> Result<usize, String> {
    let mut under_way: HashMap<&str, &str> = HashMap::new();
    let (mut syncs, mut answers, mut is_synced) = (0, 0, false);
    for line in trace.lines() {
        let (thread, call) = line.split_once(' ').unwrap_or((line, ""));
        let call = call.trim_start();
        // A call counts as answered where it begins, as synced where it has ended.
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
        if is_sync(begun) && call.ends_with("= 0") {
            syncs += 1;
            is_synced = true;
        }
    }
    if answers == POSTS { Ok(syncs) } else { Err(format!("{answers} answers to {POSTS} posts")) }
}

fn is_answer(call: &str) -> bool {
    ["write(", "writev(", "sendto(", "sendmsg("].iter().any(|name| call.starts_with(name))
        && call.contains("<TCP")
        && call.contains("\"HTTP/1.1 2")
}

fn is_sync(call: &str) -> bool {
    (call.starts_with("fdatasync(") || call.starts_with("fsync(")) && call.contains("inbox.db-wal")
}
