//! A damaged inbox: nothing is acknowledged that isn't stored, and the next start recovers what can be read.

use std::{
    fs::File,
    io::{Seek as _, SeekFrom, Write as _},
    path::Path,
};

use hookmitt_stories::{Reply, Server, post};
use rusqlite::Connection;
use serde_json::Value;

use super::listen::{folder, run};

/// The size of a page in bytes.
const PAGE: u64 = 4_096;

/// Overwrites the first page of an index of the inbox.
fn damage(dir: &Path, index: &str) {
    let path = dir.join("inbox.db");
    let db = Connection::open(&path).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: u64 = db.query_row(sql, [index], |row| row.get(0)).unwrap();
    drop(db);
    let mut file = File::options().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start((page - 1) * PAGE)).unwrap();
    file.write_all(&[0xab; PAGE as usize]).unwrap();
}

/// Ends a process at once, and takes what is in the log into the file.
async fn end(mut server: Server, dir: &Path) {
    server.process.kill().await.unwrap();
    let db = Connection::open(dir.join("inbox.db")).unwrap();
    let _as_far_as_it_goes = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
}

fn assert_refused(reply: &Reply) {
    let told = reply.json();
    assert_eq!((reply.status, &told["code"]), (503, &"inbox-damaged".into()), "{told}");
    assert!(told["hint"].as_str().unwrap().contains("start hookmitt again"), "{told}");
    assert!(reply.header("retry-after").is_some());
    assert_eq!(reply.header("x-hookmitt-event-id"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_inbox_acknowledges_nothing_until_the_next_start_recovers_it() {
    let folder = folder();
    let dir = folder.path();
    let server = Server::start(dir).await;
    for number in 0..40 {
        let body = format!("body {number}");
        assert_eq!(post(server.capture, "/demo", &[], body.as_bytes()).await.status, 202);
    }
    end(server, dir).await;

    let server = Server::start(dir).await;
    server.delivers().await;
    damage(dir, "event_id");
    for _ in 0..5 {
        assert_refused(&post(server.capture, "/demo", &[], b"refused").await);
    }
    let stats = server.ask("GET", "/api/stats", Value::Null).await;
    assert_eq!(stats["events"], 40, "what can be read is still shown");
    assert!(stats["warnings"].to_string().contains("the inbox is damaged"), "{stats}");
    end(server, dir).await;

    let server = Server::start(dir).await;
    assert_eq!(post(server.capture, "/demo", &[], b"after").await.status, 202);
    let stats = server.ask("GET", "/api/stats", Value::Null).await;
    assert_eq!(stats["events"], 41, "an index is made anew from the events: {stats}");
    assert!(stats["warnings"].to_string().contains("0 have lost their body"), "{stats}");
    server.delivers().await;
    run(dir, &["backup", dir.join("copy").to_str().unwrap()]).await.exits(0);
}
