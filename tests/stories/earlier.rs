//! Files of earlier versions still open: an app's inbox and vault, and relay stores with letters for that app.
//! `scripts/earlier-copies.sh` made the copies; each version with different formats has a folder of its own.

use std::path::Path;

use hookmitt_stories::{
    LocalServer, Process, RelayProcess, Server, Stored, eventually, free_port, lacking, nats_server,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

/// The versions of which there are copies, by commit.
const VERSIONS: [&str; 1] = ["4d3d8d7"];

/// The fields of an event that may never change, whatever a later version does with it.
const LASTING: [&str; 13] = [
    "id",
    "seq",
    "source",
    "method",
    "path",
    "query",
    "http_version",
    "remote",
    "headers",
    "size",
    "sha256",
    "received_at",
    "via",
];

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_inbox_and_its_vault_open() {
    for version in VERSIONS {
        let folder = unpacked(version, "app").await;
        let before: Vec<Value> =
            lines(&std::fs::read_to_string(copies(version).join("events.jsonl")).unwrap());
        assert_eq!(before.len(), 15);
        let local = LocalServer::start().await;
        let app = Server::start(folder.path()).await;

        let after = app.ask("GET", "/api/events?limit=100", Value::Null).await;
        let lasting = |event: &Value| LASTING.map(|name| event[name].clone());
        let after: Vec<_> = after["items"].as_array().unwrap().iter().map(lasting).collect();
        assert_eq!(after, before.iter().map(lasting).collect::<Vec<_>>(), "{version}");
        for event in &before {
            let id = event["id"].as_str().unwrap();
            let sha256 = Stored::open(folder.path()).sha256(id);
            assert_eq!(sha256.as_deref(), event["sha256"].as_str(), "{version}: {id}");
        }

        // The vault returns its secrets: a valid event is valid when it is verified again with them.
        let valid = before.iter().find(|event| event["verdict"] == "valid").unwrap();
        let id = valid["id"].as_str().unwrap();
        let judged = app.ask("POST", &format!("/api/events/{id}/verify"), json!({})).await;
        assert_eq!(
            (&judged["verdict"], &judged["secret_label"]),
            (&json!("valid"), &json!("default")),
            "{judged}"
        );

        // The delivery that waited for its target goes out.
        let targets = app.ask("GET", "/api/targets", Value::Null).await;
        let target =
            targets["items"].as_array().unwrap().iter().find(|target| target["source"] == "plain").unwrap();
        let path = format!("/api/targets/{}", target["id"]);
        app.ask("PATCH", &path, json!({ "url": local.url() })).await;
        let seen = local.wait_for(1).await;
        assert_eq!(seen[0].body(), b"waits for its target");
        assert_eq!(Stored::open(folder.path()).check(), "ok");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_that_wait_in_an_earlier_relays_sqlite_store_come_in() {
    for version in VERSIONS {
        let (at_app, at_relay) = (unpacked(version, "app").await, unpacked(version, "relay-sqlite").await);
        let store = format!("sqlite:{}", at_relay.path().join("relay.db").display());
        let relay = relay(at_relay.path(), &store).await;
        comes_in(at_app.path(), &relay, "in-sqlite", &["waits at sqlite"]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_that_wait_in_an_earlier_relays_nats_store_come_in() {
    let Some(program) = nats_server() else { return lacking("nats-server", "apt-get install nats-server") };
    for version in VERSIONS {
        let (at_app, at_nats) = (unpacked(version, "app").await, unpacked(version, "relay-nats").await);
        let port = free_port();
        let mut command = Command::new(&program);
        command.args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"]).arg(at_nats.path());
        let mut nats = Process::start(command);
        nats.says("Server is ready").await;
        let at_relay = tempfile::tempdir().unwrap();
        let store = format!("nats://127.0.0.1:{port}?prefix=earlier&shards=2");
        let relay = relay(at_relay.path(), &store).await;
        // The last letter is stored in parts.
        let large = "\0".repeat(700_000);
        comes_in(at_app.path(), &relay, "in-nats", &["waits at nats", &large]).await;
    }
}

/// Connects the app with its stored keys, and receives what waits: a signed event, and these bodies for `plain`.
async fn comes_in(data_dir: &Path, relay: &RelayProcess, tunnel: &str, bodies: &[&str]) {
    let db = rusqlite::Connection::open(data_dir.join("inbox.db")).unwrap();
    let moved = "UPDATE tunnel SET url = ?2 WHERE label = ?1";
    assert_eq!(db.execute(moved, (tunnel, format!("http://{}", relay.address))).unwrap(), 1);
    // The other tunnel's relay doesn't run here.
    db.execute("UPDATE tunnel SET enabled = 0 WHERE label <> ?1", [tunnel]).unwrap();
    drop(db);
    let app = Server::start(data_dir).await;
    let count = 15 + 1 + bodies.len();
    let events = eventually("what waited is here", async || {
        let events = app.ask("GET", "/api/events?limit=100", Value::Null).await;
        let events = events["items"].as_array().unwrap().clone();
        (events.len() >= count).then_some(events)
    })
    .await;
    assert_eq!(events.len(), count);
    let came: Vec<_> = events[..=bodies.len()].iter().rev().collect();
    assert!(came.iter().all(|event| event["via"] == "tunnel"), "{came:#?}");
    let signed = came.iter().find(|event| event["source"] == "github").unwrap();
    assert_eq!(signed["verdict"], "valid", "{signed:#}");
    let plain: Vec<_> = came.iter().filter(|event| event["source"] == "plain").collect();
    assert_eq!((&plain[0]["path"], &plain[0]["query"]), (&json!("/a//b"), &json!("c=%2F")));
    let odd: Vec<_> = plain[0]["headers"].as_array().unwrap().iter().filter(|line| is_odd(line)).collect();
    assert_eq!(odd, [&json!(["X-Odd", "a"]), &json!(["x-odd", "b"])]);
    for (event, body) in plain.iter().zip(bodies) {
        let path = format!("/api/events/{}/body", event["id"].as_str().unwrap());
        assert_eq!(app.call("GET", &path, &Value::Null).await.body, body.as_bytes());
    }
}

fn is_odd(line: &Value) -> bool {
    line[0].as_str().is_some_and(|name| name.eq_ignore_ascii_case("x-odd"))
}

async fn relay(data_dir: &Path, store: &str) -> RelayProcess {
    RelayProcess::start(data_dir, &["--store", store]).await
}

/// Returns the folder with a version's copies.
fn copies(version: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("earlier").join(version)
}

/// Unpacks a copy into a temporary folder.
pub(super) async fn unpacked(version: &str, name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(copies(version).join(format!("{name}.tar.gz"))).arg("-C").arg(folder.path());
    assert!(tar.status().await.unwrap().success());
    folder
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
