//! The index misses nothing and keeps nothing, whenever the process that writes it is killed.

use std::{collections::BTreeSet, fs, net::SocketAddr, path::Path, time::Duration};

use hookmitt_stories::{Server, Stored, eventually, post, say, seed};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::task::JoinSet;

const KILLS: usize = 20;

/// The words that events, notes and paths have.
const WORDS: [&str; 6] = ["aardvark", "bumblebee", "chinchilla", "dragonfly", "ÉCHIDNA", "flamingo"];

/// The longest time from the last change to the kill: some steps of the index.
const LONGEST: u64 = 300;

#[tokio::test(flavor = "multi_thread")]
async fn twenty_kills_while_indexing_hide_nothing_and_leave_nothing_of_what_was_deleted_for_good() {
    let mut random = SmallRng::seed_from_u64(seed());
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let mut server = Server::start(dir).await;
    server.ask("POST", "/api/sources", json!({ "slug": "kept" })).await;
    let (mut purged, mut behind) = (Vec::new(), 0);
    for round in 1..=KILLS {
        burst(&server, &mut random).await;
        change(&server, dir, &mut random).await;
        purged.extend(purge(&server, round).await);
        // More keeps coming until the kill.
        let mut posts = JoinSet::new();
        for _ in 0..4 {
            let (capture, mut random) = (server.capture, SmallRng::seed_from_u64(random.random()));
            posts.spawn(async move {
                for _ in 0..30 {
                    one(capture, &mut random).await;
                }
            });
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(0..LONGEST))).await;
        posts.abort_all();
        server.kill().await;
        behind += usize::from(!is_caught_up(dir));
        let last = Stored::open(dir).count("SELECT max(seq) FROM event");
        say(&format!("round {round}: events up to {} of {last} were indexed", indexed(dir)));

        server = Server::start(dir).await;
        assert_found(&server, dir, "at once").await;
        eventually("the index catches up", async || is_caught_up(dir).then_some(())).await;
        assert_found(&server, dir, "by the index").await;
        eventually("nothing is left of what was deleted for good", async || {
            holding(dir, &purged).is_empty().then_some(())
        })
        .await;
    }
    assert!(behind > KILLS / 4, "the kills came while the index was behind only {behind} times");
    assert!(!holding(dir, &["aardvark".to_owned()]).is_empty(), "what is kept is seen in the files");
    server.kill().await;
}

fn pick(random: &mut SmallRng) -> &'static str {
    WORDS[random.random_range(0..WORDS.len())]
}

/// Posts an event. Returns the answer's status.
async fn one(capture: SocketAddr, random: &mut SmallRng) -> u16 {
    let path = format!("/kept/{}", if random.random_ratio(1, 4) { "flamingo" } else { "" });
    let body = json!({ "id": random.random::<u64>(), "animal": pick(random) }).to_string();
    post(capture, &path, &[], body.as_bytes()).await.status
}

async fn burst(server: &Server, random: &mut SmallRng) {
    for _ in 0..random.random_range(5..20) {
        let status = one(server.capture, random).await;
        assert!((200..300).contains(&status), "{status}");
    }
}

/// Gives some events a note, and puts others into the bin or takes them out.
async fn change(server: &Server, dir: &Path, random: &mut SmallRng) {
    let last = Stored::open(dir).count("SELECT max(seq) FROM event");
    for _ in 0..10 {
        let path = format!("/api/events/%23{}", random.random_range(1..=last));
        // What was deleted for good can't be changed, which is as well.
        let _answer = match random.random_range(0..4) {
            0 => server.call("DELETE", &path, &Value::Null).await,
            1 => server.call("POST", &format!("{path}/restore"), &Value::Null).await,
            _ => server.call("PATCH", &path, &json!({ "note": pick(random) })).await,
        };
    }
}

/// Deletes an event for good that was indexed for a while, or not at all. Returns the words that only it had.
async fn purge(server: &Server, round: usize) -> [String; 4] {
    let words = ["path", "body", "note", "tag"].map(|part| format!("purged-{part}-of-round-{round}."));
    let [path, body, note, tag] = &words;
    let reply = post(server.capture, &format!("/kept/{path}"), &[], body.as_bytes()).await;
    let id = reply.header("x-hookmitt-event-id").unwrap().to_owned();
    let event = format!("/api/events/{id}");
    server.ask("PATCH", &event, json!({ "note": note, "tags": [tag] })).await;
    if round.is_multiple_of(2) {
        let found = format!("/api/events?q={body}");
        eventually("it is found", async || {
            let page = server.ask("GET", &found, Value::Null).await;
            (!page["items"].as_array().unwrap().is_empty()).then_some(())
        })
        .await;
    }
    server.call("DELETE", &event, &Value::Null).await;
    let gone = server.ask("DELETE", &format!("/api/trash/{id}"), Value::Null).await;
    assert_eq!(gone["gone"], 1);
    words
}

/// Checks that a search for each word finds the events that have it, and no other.
async fn assert_found(server: &Server, dir: &Path, when: &str) {
    for word in WORDS.map(str::to_lowercase) {
        let mut found = BTreeSet::new();
        let mut next = String::new();
        loop {
            let page =
                server.ask("GET", &format!("/api/events?q={}{next}", encoded(&word)), Value::Null).await;
            found
                .extend(page["items"].as_array().unwrap().iter().map(|event| event["seq"].as_i64().unwrap()));
            match page["next_cursor"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => break,
            }
        }
        let texts = Stored::open(dir).texts().into_iter();
        let having = texts.filter(|(_, text)| text.to_lowercase().contains(&word)).map(|(seq, _)| seq);
        assert_eq!(found, having.collect(), "{word} {when}");
    }
}

fn encoded(word: &str) -> String {
    word.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// Returns up to which number the index has all events.
fn indexed(dir: &Path) -> i64 {
    let done = Connection::open(dir.join("search.db"))
        .and_then(|db| db.query_row("SELECT value FROM meta WHERE key = 'done'", [], |row| row.get(0)));
    done.unwrap_or(0)
}

fn is_caught_up(dir: &Path) -> bool {
    let stored = Stored::open(dir);
    let waits = stored.count("SELECT count(*) FROM changed");
    waits == 0 && indexed(dir) >= stored.count("SELECT max(seq) FROM event")
}

/// Returns the files that hold one of these words, of the inbox and of the index.
fn holding(dir: &Path, words: &[String]) -> Vec<String> {
    let names = ["inbox.db", "inbox.db-wal", "search.db", "search.db-wal"];
    let holds = |name: &&str| {
        let bytes = fs::read(dir.join(name)).unwrap_or_default();
        words.iter().any(|word| memchr::memmem::find(&bytes, word.as_bytes()).is_some())
    };
    names.into_iter().filter(holds).map(str::to_owned).collect()
}
