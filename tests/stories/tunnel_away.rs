//! What becomes of the times in which an app and its relay were not connected.

use std::{fs, path::Path};

use hookmitt_event::Timestamp;
use hookmitt_stories::{App, LocalServer, RelayProcess, eventually, post, relay_token};
use serde_json::{Value, json};

use super::tunnel::{Set, arrived, connected, id_of, set, tunnel};

#[tokio::test(flavor = "multi_thread")]
async fn what_waited_while_the_app_was_away_is_caught_up_in_order_and_counted() {
    let Set { dir, relay, app } = set(&[]).await;
    app.source("s", json!({})).await;
    let set = Set { dir, relay, app };
    let first = set.post("s", &[], b"before").await;
    arrived(&set.app, &id_of(&first)).await;
    let Set { dir, relay, app } = set;
    let folder = app.stop().await;
    let mut ids = Vec::new();
    for number in 0..37 {
        let reply = post(relay.address, "/acme-dev/s", &[], format!("{number}").as_bytes()).await;
        assert_eq!(reply.status, 202, "the relay answers while nobody is there");
        ids.push(id_of(&reply));
    }
    let address = relay.address.to_string();
    relay.process.kill().await;
    let relay = RelayProcess::start_at(dir.path(), &address, &[]).await;

    let app = App::start_on(folder).await;
    let gap = eventually("it is caught up", async || {
        let gaps = app.ask("GET", "/api/gaps", Value::Null).await;
        gaps["items"].get(0).cloned()
    })
    .await;
    assert_eq!((&gap["why"], &gap["caught_up"], &gap["lost"]), (&json!("app_closed"), &json!(37), &json!(0)));
    assert_eq!((&gap["first_seq"], &gap["last_seq"]), (&json!(2), &json!(38)));
    assert_eq!(gap["label"], "acme-dev");
    let mut events = app.events().await;
    events.reverse();
    let stored: Vec<_> =
        events.iter().skip(1).map(|event| event["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(stored, ids, "each once, in order");
    drop(relay);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_relay_is_told_and_so_is_what_came_of_it() {
    let set = set(&[]).await;
    set.app.source("s", json!({})).await;
    arrived(&set.app, &id_of(&set.post("s", &[], b"before").await)).await;
    let Set { dir, relay, app } = set;
    let address = relay.address.to_string();
    relay.process.kill().await;
    let offline =
        eventually("it is noticed", async || tunnel(&app).await.filter(|one| one["gap"].is_object())).await;
    assert!(offline["gap"]["until"].is_null() && offline["state"] != "connected", "{offline}");
    let refused = eventually("the reason is found", async || {
        tunnel(&app).await.filter(|one| one["gap"]["why"] == "connection_refused")
    })
    .await;
    assert_eq!((&refused["why"], &refused["hindrance"]), (&refused["gap"]["why"], &refused["gap"]["why"]));
    assert_eq!(refused["since"], refused["gap"]["from"], "{refused}");
    let relay = RelayProcess::start_at(dir.path(), &address, &[]).await;
    connected(&app).await;
    let set = Set { dir, relay, app };
    arrived(&set.app, &id_of(&set.post("s", &[], b"after").await)).await;
    assert_eq!(set.app.events().await.len(), 2);
}

/// Sends an event for the source `old`, which is gone when the app comes back. Returns the event as it is stored then.
async fn comes_too_late(set: Set, headers: &[(&str, &str)]) -> (Set, Value) {
    let Set { dir, relay, app } = set;
    let folder = app.stop().await;
    let reply = post(relay.address, "/acme-dev/old", headers, b"2").await;
    assert_eq!(reply.status, 202);
    // As if the source had been removed while the event was on its way.
    let away = hookmitt_inbox::Inbox::open(folder.path(), std::sync::Arc::new(hookmitt_clock::MachineClock))
        .unwrap();
    away.remove_source("old".parse().unwrap(), Timestamp::now()).await.unwrap();
    drop(away);
    let app = App::start_on(folder).await;
    let event = arrived(&app, &id_of(&reply)).await;
    assert_eq!((&event["source"], &event["status"]), (&json!("unassigned"), &json!("skipped")), "{event}");
    (Set { dir, relay, app }, event)
}

fn to_move(event: &Value) -> String {
    format!("/api/events/{}/move", event["id"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_a_source_that_is_gone_is_kept_as_unassigned_and_not_forwarded() {
    let (set, server) = (set(&[]).await, LocalServer::start().await);
    set.app.source("old", json!({})).await;
    set.app.target(None, &server.url(), json!({})).await;
    arrived(&set.app, &id_of(&set.post("old", &[], b"1").await)).await;
    server.wait_for(1).await;
    let (set, event) = comes_too_late(set, &[]).await;
    let sources = set.app.ask("GET", "/api/sources", Value::Null).await;
    assert_eq!(sources["items"].as_array().unwrap().len(), 1, "a tunnel makes no other source (Threat 3)");
    for name in ["unassigned", "made-up"] {
        let reply = post(set.relay.address, &format!("/acme-dev/{name}"), &[], b"3").await;
        assert_eq!(reply.status, 404, "{name}");
    }
    assert_eq!(server.seen().len(), 1);

    set.app.source("new", json!({})).await;
    let path = to_move(&event);
    let asked = || set.app.call("POST", &path, json!({ "source": "new" }));
    let (first, second) = tokio::join!(asked(), asked());
    let (moved, late) = if first.0 == 200 { (first.1, second) } else { (second.1, first) };
    assert!(matches!(late.0, 400 | 404), "it is moved once, whoever asks twice: {late:?}");
    assert_eq!((&moved["source"], &moved["received_at"]), (&json!("new"), &event["received_at"]));
    assert_eq!(server.wait_for(2).await[1].body(), b"2", "it goes to the source's targets");
    let listed = set.app.events().await;
    assert!(listed.iter().all(|one| one["source"] != "unassigned"), "{listed:?}");
    let (status, refused) = asked().await;
    assert_eq!(status, 400, "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("it was moved or deleted"), "{refused}");
    let (status, refused) = set.app.call("POST", &to_move(&moved), json!({ "source": "new" })).await;
    assert_eq!(status, 400, "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_what_a_web_page_sent_is_not_forwarded_after_a_move_either() {
    let (set, server) = (set(&[]).await, LocalServer::start().await);
    set.app.source("old", json!({})).await;
    set.app.target(None, &server.url(), json!({})).await;
    let (set, event) = comes_too_late(set, &[("origin", "https://evil.example")]).await;
    set.app.source("new", json!({})).await;
    let (status, refused) = set.app.call("POST", &to_move(&event), json!({ "source": "unassigned" })).await;
    assert_eq!(status, 400, "{refused}");
    let moved = set.app.ask("POST", &to_move(&event), json!({ "source": "new" })).await;
    let moved = set.app.status(moved["id"].as_str().unwrap(), "skipped").await;
    assert_eq!((&moved["source"], &moved["browser"]), (&json!("new"), &json!(true)), "{moved}");
    assert!(server.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_waited_at_a_relay_that_forgot_this_device_nothing_is_claimed() {
    let set = set(&[]).await;
    set.app.source("s", json!({})).await;
    arrived(&set.app, &id_of(&set.post("s", &[], b"before").await)).await;
    let Set { dir, relay, app } = set;
    let folder = app.stop().await;
    assert_eq!(post(relay.address, "/acme-dev/s", &[], b"waits").await.status, 202);
    let tokens = relay_token(dir.path(), &["list", "--json"]).await.exits(0).json();
    let token = tokens[0]["id"].as_str().unwrap();
    let revoke = async || relay_token(dir.path(), &["revoke", token, "--json"]).await.exits(0).json();
    assert_eq!(revoke().await, revoke().await, "it was revoked once");

    let app = App::start_on(folder).await;
    let refused = async || tunnel(&app).await.filter(|tunnel| tunnel["state"] == "refused");
    let refused = eventually("the relay refuses the device", refused).await;
    assert_eq!(refused["error"]["code"], "unknown-device");
    assert_eq!((&refused["gap"]["until"], &refused["gap"]["lost"]), (&Value::Null, &Value::Null));
    let id = &refused["id"];
    let gaps = app.ask("GET", &format!("/api/tunnels/{id}/gaps"), Value::Null).await;
    assert_eq!(gaps["items"][0]["lost"], Value::Null);
    let urls = app.ask("GET", "/api/urls", Value::Null).await;
    assert_eq!(urls["items"][0]["public"], json!([]), "its URL leads nowhere");
    let removed = app.ask("DELETE", &format!("/api/tunnels/{id}"), Value::Null).await;
    assert_eq!(removed, json!({ "relay_told": true }), "it needs no word of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_a_data_directory_is_told_from_a_relay_that_breaks_off() {
    let Set { dir: _dir, relay: _relay, app } = set(&[]).await;
    let folder = app.stop().await;
    // SQLite removes its log when the last connection closes, so the copy is complete.
    let is_closed = || !fs::read_dir(folder.path()).unwrap().any(|entry| is_log(&entry.unwrap()));
    eventually("the inbox is closed", async || is_closed().then_some(())).await;
    let copy = tempfile::tempdir().unwrap();
    copied(folder.path(), copy.path());
    let (first, second) = (App::start_on(folder).await, App::start_on(copy).await);
    let told = async || {
        let tunnels = [tunnel(&first).await, tunnel(&second).await];
        let code = |one: &Option<Value>| one.as_ref().map(|one| one["error"]["code"].clone());
        tunnels.iter().any(|one| code(one) == Some(json!("connected-elsewhere"))).then_some(tunnels)
    };
    let tunnels = eventually("one of them is told", told).await;
    let refused = tunnels.iter().flatten().find(|one| one["state"] == "refused").unwrap();
    assert!(
        refused["error"]["hint"].as_str().unwrap().contains("a copy of this data directory"),
        "{refused}"
    );
}

fn is_log(file: &fs::DirEntry) -> bool {
    file.file_name().to_string_lossy().ends_with("-wal")
}

fn copied(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&target).unwrap();
            copied(&entry.path(), &target);
        } else if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tunnel_that_is_turned_off_says_so_and_catches_up_when_it_is_on_again() {
    let set = set(&[]).await;
    set.app.source("s", json!({})).await;
    arrived(&set.app, &id_of(&set.post("s", &[], b"1").await)).await;
    let id = tunnel(&set.app).await.unwrap()["id"].clone();
    let one = format!("/api/tunnels/{id}");
    set.app.ask("PATCH", &one, json!({ "enabled": false })).await;
    eventually("it is off", async || tunnel(&set.app).await.filter(|tunnel| tunnel["state"] == "off")).await;
    let reply = set.post("s", &[], b"2").await;
    set.app.ask("PATCH", &one, json!({ "enabled": true, "label": "renamed" })).await;
    arrived(&set.app, &id_of(&reply)).await;
    let gap = eventually("its gap is over", async || {
        let gaps = set.app.ask("GET", &format!("{one}/gaps"), Value::Null).await;
        gaps["items"].get(0).filter(|gap| !gap["until"].is_null()).cloned()
    })
    .await;
    assert_eq!(
        (&gap["why"], &gap["caught_up"], &gap["label"]),
        (&json!("off"), &json!(1), &json!("renamed"))
    );
}
