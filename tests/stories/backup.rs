//! Backups are made while everything runs, and restored in one step.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use hookmitt_stories::{Load, LocalServer, Process, Ran, Server, Stored, post, seed};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::listen::{command, folder, run};

/// How often a command is killed at a random moment.
const KILLS: usize = 20;

fn count(file: &Path, sql: &str) -> i64 {
    Connection::open(file).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

fn check(file: &Path) -> String {
    Connection::open(file).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Runs a command, and returns how long it took.
async fn timed(dir: &Path, typed: &[&str]) -> Duration {
    let begun = Instant::now();
    run(dir, typed).await.exits(0);
    begun.elapsed()
}

const EVENTS: &str = "SELECT count(*) FROM event";

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_made_while_events_come_in() {
    let (folder, out) = (folder(), folder());
    let (dir, file) = (folder.path(), out.path().join("inbox.backup"));
    let file_name = file.to_str().unwrap();
    let server = Server::start(dir).await;
    server.delivers().await;
    let load = Load::start(server.capture, "/shop/order", 8, Duration::ZERO);
    load.more(1_000).await;
    let before = load.count();
    run(dir, &["backup", file_name]).await.exits(0);
    let acknowledged = load.end().await;
    acknowledged.are_here(dir);

    assert_eq!(names(out.path()), ["inbox.backup"]);
    let events = count(&file, EVENTS);
    assert!(events >= i64::try_from(before).unwrap(), "{events} of {before} that were acknowledged before");
    assert_eq!(check(&file), "ok");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let again = run(dir, &["backup", file_name]).await.exits(2);
    assert!(again.err.contains("exists already") && again.err.contains("--force"), "{}", again.err);
    run(dir, &["backup", file_name, "--force"]).await.exits(0);
    assert!(count(&file, EVENTS) >= events);
    let audit = run(dir, &["audit", "--what", "backed_up", "--json"]).await.exits(0).json();
    assert_eq!((audit.len(), &audit[0]["who"]), (2, &json!("cli")));
    assert_eq!(audit[0]["detail"]["file"], json!(file_name), "and not the part that it was written into");
    server.kill().await;

    // Neither the inbox nor what belongs to it is replaced.
    let inbox = dir.join("inbox.db");
    let refused = run(dir, &["backup", inbox.to_str().unwrap(), "--force"]).await.exits(2);
    assert!(refused.err.contains("belongs to the inbox itself"), "{}", refused.err);
    acknowledged.are_here(dir);

    // Without a running hookmitt the command does it itself.
    run(dir, &["backup", file_name, "--force"]).await.exits(0);
    assert_eq!(count(&file, EVENTS), Stored::open(dir).count(EVENTS));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_neither_a_page_nor_a_program_chooses_a_file_that_is_written() {
    let (folder, out) = (folder(), folder());
    let server = Server::start(folder.path()).await;
    let file = out.path().join("made");
    let answer = server.call("POST", "/api/backup", &json!({ "file": file })).await;
    assert_eq!(answer.status, 404, "the port that has a token knows no such route");
    assert!(names(out.path()).is_empty());
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_holds_no_secret_and_a_restore_says_what_is_needed() {
    let (folder, out, other) = (folder(), folder(), folder());
    let (dir, file) = (folder.path(), out.path().join("b.db"));
    let file_name = file.to_str().unwrap();
    let local = LocalServer::start().await;
    let server = Server::start(dir).await;
    server.delivers().await;
    server.ask("POST", "/api/sources", json!({ "slug": "shop", "provider": "github" })).await;
    let set = command(dir, &["secret", "set", "shop", "--label", "main"]);
    Ran::with_input(set, b"planted-value").await.exits(0);
    let target = json!({ "source": "shop", "url": local.url(), "paused": true });
    let target = server.ask("POST", "/api/targets", target).await["id"].to_string();
    server.ask("PATCH", &format!("/api/targets/{target}"), json!({ "paused": true })).await;
    for number in 0..3 {
        post(server.capture, "/shop/x", &[], number.to_string().as_bytes()).await;
    }
    run(dir, &["backup", file_name]).await.exits(0);
    let bytes = std::fs::read(&file).unwrap();
    assert!(!bytes.windows(13).any(|window| window == b"planted-value"));
    run(dir, &["target", "resume", &target]).await.exits(0);
    assert_eq!(local.wait_for(3).await.len(), 3);
    post(server.capture, "/shop/x", &[], b"after the backup").await;

    let used = run(dir, &["restore", file_name, "--yes"]).await.exits(3);
    assert!(used.err.contains("a hookmitt uses"), "{}", used.err);
    server.kill().await;
    let asked = run(dir, &["restore", file_name]).await.exits(2);
    assert!(
        asked.err.contains("the inbox that is there has") && asked.err.contains("--yes"),
        "{}",
        asked.err
    );
    let restored = run(dir, &["restore", file_name, "--yes"]).await.exits(0);
    assert!(restored.err.contains("restored 3 events"), "{}", restored.err);
    assert!(restored.err.contains(&format!("`hookmitt target resume {target}`")), "{}", restored.err);
    assert!(!restored.err.contains("the secret"), "it is still in the vault here: {}", restored.err);
    let kept: Vec<_> = names(dir).into_iter().filter(|name| name.contains("before-restore")).collect();
    assert_eq!((kept.len(), count(&dir.join(&kept[0]), EVENTS)), (1, 4));

    // What was sent after the backup is not sent again by itself, and no number is given out again.
    let server = Server::start(dir).await;
    server.delivers().await;
    post(server.capture, "/shop/x", &[], b"new").await;
    let events = server.ask("GET", "/api/events", Value::Null).await["items"].clone();
    assert_eq!((&events[0]["seq"], events.as_array().unwrap().len()), (&json!(5), 4));
    assert_eq!(local.seen().len(), 3 + 1, "nothing but what was captured before the restore");
    server.kill().await;

    let restored = run(other.path(), &["restore", file_name]).await.exits(0);
    assert!(restored.err.contains("`hookmitt secret set shop --label main`"), "{}", restored.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_backup_is_refused_and_the_inbox_stays() {
    let (folder, out) = (folder(), folder());
    let dir = folder.path();
    let server = Server::start(dir).await;
    post(server.capture, "/shop/x", &[], b"1").await;
    server.kill().await;
    let file = out.path().join("file");
    let refused = async |words: &str, code| {
        let ran = run(dir, &["restore", file.to_str().unwrap(), "--yes"]).await.exits(code);
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
        assert_eq!(Stored::open(dir).count(EVENTS), 1);
        assert!(!names(dir).iter().any(|name| name.contains("restor")), "{:?}", names(dir));
    };
    refused("No such file", 2).await;
    std::fs::write(&file, "no database, whatever its length is ".repeat(100)).unwrap();
    refused("not a database", 2).await;
    std::fs::remove_file(&file).unwrap();
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE a (b); PRAGMA user_version = 3").unwrap();
    refused("it is no inbox", 2).await;
    std::fs::remove_file(&file).unwrap();
    run(dir, &["backup", file.to_str().unwrap()]).await.exits(0);
    Connection::open(&file).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    refused("has schema 99", 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_a_backup_and_the_earlier_one_stays() {
    let mut random = SmallRng::seed_from_u64(seed());
    let (folder, out) = (folder(), folder());
    let (dir, file) = (folder.path(), out.path().join("b.db"));
    let server = Server::start(dir).await;
    post(server.capture, "/shop/order", &[], b"first").await;
    run(dir, &["backup", file.to_str().unwrap()]).await.exits(0);
    let earlier = std::fs::read(&file).unwrap();
    for _ in 0..200 {
        let mut body = vec![0; 250_000];
        random.fill(body.as_mut_slice());
        post(server.capture, "/shop/order", &[], &body).await;
    }
    let made = Process::start(command(dir, &["backup", file.to_str().unwrap(), "--force"]));
    while server.ask("GET", "/api/jobs", Value::Null).await["items"][0]["state"] != "running" {}
    let ran = made.stop().await.exits(130);
    assert!(ran.err.contains("cancelled"), "{}", ran.err);
    assert_eq!(server.ask("GET", "/api/jobs/2", Value::Null).await["state"], "cancelled");
    assert_eq!(names(out.path()), ["b.db"], "nothing else is left");
    assert!(std::fs::read(&file).unwrap() == earlier, "the earlier backup is as it was");
    server.kill().await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_giving_back_what_a_backup_replaced() {
    const LARGE: u64 = 1 << 40; // of holes alone; in steps it would take half an hour
    let (folder, out) = (folder(), folder());
    let (dir, file) = (folder.path(), out.path().join("b.db"));
    let server = Server::start(dir).await;
    std::fs::File::create(&file).unwrap().set_len(LARGE).unwrap();
    let made = Process::start(command(dir, &["backup", file.to_str().unwrap(), "--force"]));
    while std::fs::metadata(&file).unwrap().len() == LARGE {
        tokio::task::yield_now().await;
    }
    let ran = made.stop().await.exits(0);
    assert!(ran.err.contains("written to"), "{}", ran.err);
    assert_eq!((names(out.path()), check(&file)), (vec!["b.db".to_owned()], "ok".to_owned()));
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_killed_leaves_no_half_file() {
    let mut random = SmallRng::seed_from_u64(seed());
    let (folder, out) = (folder(), folder());
    let (dir, file) = (folder.path(), out.path().join("b.db"));
    let server = Server::start(dir).await;
    let load = Load::start(server.capture, "/shop/order", 8, Duration::ZERO);
    load.more(2_000).await;
    let acknowledged = load.end().await;
    server.kill().await;
    let longest = timed(dir, &["backup", file.to_str().unwrap()]).await;
    std::fs::remove_file(&file).unwrap();
    let mut half = 0;
    for round in 1..=KILLS {
        let made = Process::start(command(dir, &["backup", file.to_str().unwrap()]));
        tokio::time::sleep(random.random_range(Duration::ZERO..longest)).await;
        made.kill().await;
        if file.exists() {
            assert_eq!(check(&file), "ok", "round {round}");
            assert!(count(&file, EVENTS) >= 2_000, "round {round}");
            std::fs::remove_file(&file).unwrap();
        } else {
            half += 1;
        }
    }
    assert!(half > 0, "no kill came in time");
    acknowledged.are_here(dir);
    assert_eq!(Stored::open(dir).check(), "ok");
    run(dir, &["backup", file.to_str().unwrap()]).await.exits(0);
    assert_eq!(names(out.path()), ["b.db"], "what the killed ones left is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_is_killed_leaves_the_old_inbox_or_the_new_one() {
    let mut random = SmallRng::seed_from_u64(seed());
    let (folder, out, other) = (folder(), folder(), folder());
    let (dir, file) = (folder.path(), out.path().join("b.db"));
    let server = Server::start(dir).await;
    let load = Load::start(server.capture, "/shop/order", 8, Duration::ZERO);
    load.more(1_000).await;
    drop(load.end().await);
    run(dir, &["backup", file.to_str().unwrap()]).await.exits(0);
    let new = count(&file, EVENTS);
    let mut restored = 0;
    post(server.capture, "/shop/x", &[], b"after the backup").await;
    server.kill().await;
    let longest = timed(other.path(), &["restore", file.to_str().unwrap()]).await;
    for round in 1..=KILLS {
        let old = Stored::open(dir).count(EVENTS);
        let restoring = Process::start(command(dir, &["restore", file.to_str().unwrap(), "--yes"]));
        tokio::time::sleep(random.random_range(Duration::ZERO..longest * 3 / 2)).await;
        restoring.kill().await;
        // The next process opens it as usual.
        let listed = run(dir, &["events", "--json"]).await.exits(0).json().len();
        let listed = i64::try_from(listed).unwrap();
        assert!(listed == old || listed == new, "round {round}: {listed} events, of {old} or {new}");
        assert_eq!(Stored::open(dir).check(), "ok", "round {round}");
        restored += usize::from(listed == new);
        let server = Server::start(dir).await;
        post(server.capture, "/shop/x", &[], format!("round {round}").as_bytes()).await;
        server.kill().await;
    }
    assert!(restored > 0, "every kill came too soon");
    run(dir, &["restore", file.to_str().unwrap(), "--yes"]).await.exits(0);
    assert!(!names(dir).iter().any(|name| name.ends_with("restoring")), "{:?}", names(dir));
}
