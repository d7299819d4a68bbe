//! Events go when their time is over by the inbox's own clock, whoever is killed meanwhile, and leave nothing behind.

use std::{fs, path::Path, time::Duration};

use hookmitt_stories::{Server, Stored, eventually, post, say, seed, turn_store_clock, use_for};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::listen::{folder, run, serving};

const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

#[tokio::test(flavor = "multi_thread")]
async fn retention_is_shown_changed_and_noted_at_the_command_line() {
    let folder = folder();
    let dir = folder.path();
    run(dir, &["source", "add", "github"]).await.exits(0);
    let shown = run(dir, &["retention"]).await.exits(0).text();
    assert!(shown.contains("completed          7d") && shown.contains("dead letter        30d"), "{shown}");
    run(dir, &["retention", "--completed", "1d", "--size", "10GB", "--when-full", "prune"]).await.exits(0);
    let json =
        run(dir, &["retention", "--failed", "never", "--source", "github", "--json"]).await.exits(0).json();
    assert_eq!(json[0]["keep"]["completed"], "1d");
    assert_eq!(
        (&json[0]["size_limit"], &json[0]["when_full"]),
        (&json!(10_000_000_000_u64), &json!("prune"))
    );
    assert_eq!(json[0]["sources"], json!({ "github": { "failed": "never" } }));
    let json =
        run(dir, &["retention", "--completed", "default", "--size", "none", "--json"]).await.exits(0).json();
    assert_eq!((&json[0]["keep"]["completed"], &json[0]["size_limit"]), (&json!("7d"), &Value::Null));
    let audit = run(dir, &["audit"]).await.exits(0).text();
    assert!(audit.contains("retention changed") && audit.contains("github: failed never"), "{audit}");
    for (wrong, says) in [
        (&["retention", "--completed", "soon"][..], "12h, 7d or never"),
        (&["retention", "--size", "10"], "10GB"),
        (&["retention", "--size", "0MB"], "10GB"),
        (&["retention", "--when-full", "panic"], "warn or prune"),
        (&["retention", "--source", "nobody", "--failed", "1d"], "no source nobody"),
        (&["retention", "--source", "github", "--trash", "1d"], "--source"),
        (&["retention", "--source", "github", "--size", "1GB"], "--source"),
        (&["retention", "--source", "github", "--when-full", "warn"], "--source"),
        (&["retention", "--source", "nobody"], "--completed"),
        (&["retention", "--source", "githab", "--failed", "1d"], "github"),
    ] {
        let refused = run(dir, wrong).await.exits(2);
        assert!(refused.err.contains(says), "{wrong:?}: {}", refused.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pruning_lists_first_and_then_deletes_and_says_so() {
    let folder = folder();
    let dir = folder.path();
    run(dir, &["source", "add", "demo"]).await.exits(0);
    run(dir, &["retention", "--captured", "never"]).await.exits(0);
    let (serve, capture) = serving(dir).await;
    for number in 0..5 {
        post(capture, "/demo", &[], format!("{number}").as_bytes()).await;
    }
    run(dir, &["pin", "#1"]).await.exits(0);
    serve.stop().await.exits(0);
    turn_store_clock(dir, WEEK);
    run(dir, &["retention", "--captured", "7d"]).await.exits(0);
    let listed = run(dir, &["prune", "--dry-run", "--json"]).await.exits(0).json();
    assert_eq!(
        (&listed[0]["source"], &listed[0]["kept"], &listed[0]["events"]),
        (&json!("demo"), &json!("captured"), &json!(4))
    );
    assert_eq!(listed[0]["why"], "age");
    assert_eq!(
        (&listed[1]["total"]["events"], &listed[1]["total"]["over_limit"], &listed[1]["total"]["complete"]),
        (&json!(4), &json!(0), &json!(true))
    );
    let listed = run(dir, &["prune", "--dry-run"]).await.exits(0);
    assert!(listed.err.contains("4 events would be deleted for good"), "{}", listed.err);
    let pruned = run(dir, &["prune"]).await.exits(0);
    assert!(pruned.err.contains("deleted for good"), "{}", pruned.err);
    let left: Vec<_> = run(dir, &["events", "--json"]).await.exits(0).json();
    assert_eq!((left.len(), &left[0]["seq"]), (1, &json!(1)), "what is pinned stays");
    assert!(run(dir, &["prune", "--dry-run"]).await.exits(0).err.contains("0 events"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_size_limit_says_what_it_would_take_and_that_pins_leave_no_room() {
    let folder = folder();
    let dir = folder.path();
    run(dir, &["source", "add", "demo"]).await.exits(0);
    let (serve, capture) = serving(dir).await;
    let mut random = SmallRng::seed_from_u64(seed());
    for _ in 0..6 {
        let body: Vec<u8> = (0..500_000).map(|_| random.random()).collect();
        post(capture, "/demo", &[], &body).await;
    }
    serve.stop().await.exits(0);
    run(dir, &["pin", "#1", "#2", "#3", "#4", "#5"]).await.exits(0);
    let set = run(dir, &["retention", "--size", "1MB"]).await.exits(0);
    assert!(set.err.contains("whatever comes is deleted at once"), "{}", set.err);
    let listed = run(dir, &["prune", "--dry-run"]).await.exits(0);
    assert!(listed.text().contains("to stay within the size limit"), "{}", listed.text());
    assert!(listed.err.contains("about 1 event would be deleted for good"), "{}", listed.err);
    let checked = run(dir, &["doctor"]).await.exits(1);
    assert!(checked.text().contains("5 events"), "{}", checked.text());
    let stats = run(dir, &["stats"]).await.exits(0).text();
    assert!(stats.contains("whatever comes is deleted at once"), "{stats}");
    let raised = run(dir, &["retention", "--size", "100MB"]).await.exits(0);
    assert!(!raised.err.contains("deleted at once"), "{}", raised.err);
}

const ROUNDS: u32 = 20;

/// How many events come in each round.
const COME: i64 = 150;

#[tokio::test(flavor = "multi_thread")]
async fn whenever_it_is_killed_what_should_go_goes_and_what_should_stay_stays() {
    let (mut random, folder) = (SmallRng::seed_from_u64(seed()), tempfile::tempdir().unwrap());
    let dir = folder.path();
    let mut server = Server::start(dir).await;
    server.ask("POST", "/api/sources", json!({ "slug": "demo" })).await;
    let mut pinned = 0;
    for round in 0..ROUNDS {
        for number in 0..COME {
            let stays = number % 10 == 0;
            let word = if stays { "it-stays-pinned" } else { "it-goes-for-good" };
            let body = format!("{word} {round} {number} {}", word.repeat(random.random_range(0..200)));
            let reply = post(server.capture, "/demo", &[], body.as_bytes()).await;
            let id = reply.header("x-hookmitt-event-id").expect("an id").to_owned();
            if stays {
                server.ask("PATCH", &format!("/api/events/{id}"), json!({ "pinned": true })).await;
                pinned += 1;
            }
        }
        eventually("its clock is stored", async || has_clock(dir).then_some(())).await;
        server.kill().await;
        turn_store_clock(dir, WEEK);
        server = Server::start(dir).await;
        tokio::time::sleep(Duration::from_millis(random.random_range(0..60))).await; // a random moment to be killed at
        server.kill().await;
        let stored = Stored::open(dir);
        let (all, kept) = (stored.count("SELECT count(*) FROM event"), stored.count(PINNED));
        say(&format!("round {round}: {} left to go", all - kept));
        assert_eq!(kept, pinned, "what is pinned stays");
        assert_eq!(stored.count("SELECT sum(events) FROM tally"), all, "the totals are right");
        assert_eq!(integrity(dir), "ok");
        server = Server::start(dir).await;
    }
    server.kill().await;
    turn_store_clock(dir, WEEK);
    server = Server::start(dir).await;
    let stored = Stored::open(dir);
    eventually("all goes that should", async || {
        (stored.count("SELECT count(*) FROM event") == pinned).then_some(())
    })
    .await;
    assert_eq!(server.ask("GET", "/api/stats", Value::Null).await["events"], pinned);
    let left = async || is_anywhere(dir, b"it-goes-for-good").is_empty().then_some(());
    eventually("no file holds a word of it", left).await;
    assert!(!is_anywhere(dir, b"it-stays-pinned").is_empty());
    server.kill().await;
    assert_eq!(integrity(dir), "ok");
}

const PINNED: &str = "SELECT count(*) FROM event WHERE pinned_at IS NOT NULL";

fn has_clock(dir: &Path) -> bool {
    Stored::open(dir).count("SELECT count(*) FROM meta WHERE key = 'clock'") == 1
}

fn integrity(dir: &Path) -> String {
    let db = Connection::open(dir.join("inbox.db")).unwrap();
    db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
}

/// Returns the files that hold a text.
fn is_anywhere(dir: &Path, text: &[u8]) -> Vec<String> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()).filter(|path| path.is_file());
    let holds = |path: &std::path::PathBuf| {
        fs::read(path).is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text))
    };
    files.filter(holds).map(|path| path.display().to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn over_many_weeks_disk_and_memory_level_out() {
    let mut weeks = Vec::new();
    use_for(20, 200, |week| {
        say(&format!("{week:?}"));
        weeks.push(week.clone());
    })
    .await;
    let (middle, last) = (&weeks[14], &weeks[19]);
    assert!(last.events <= middle.events, "{middle:?} {last:?}");
    assert!(last.keys <= middle.keys + 200, "{middle:?} {last:?}");
    assert!(last.disk <= middle.disk * 5 / 4, "{middle:?} {last:?}");
    assert!(last.resident <= middle.resident * 5 / 4, "{middle:?} {last:?}");
}
