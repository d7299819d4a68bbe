//! Devices of one tunnel: listed, limited in number, and revoked by the device that opened it (Threats 9 and 12).

use hookmitt_event::Timestamp;
use hookmitt_seal::{KeyPair, Opener};
use hookmitt_stories::{App, Ran, RelayProcess, eventually, hookmitt};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::tunnel::{Set, arrived, connected, id_of, set, tunnel};

/// Starts another app that joins the tunnel.
async fn joined(set: &Set) -> App {
    let app = App::start().await;
    let id = tunnel(&set.app).await.unwrap()["id"].clone();
    let invited = set.app.ask("POST", &format!("/api/tunnels/{id}/invite"), Value::Null).await;
    app.ask("POST", "/api/tunnels", json!({ "invite": invited["invite"] })).await;
    app.source("s", json!({})).await;
    connected(&app).await;
    app
}

async fn path(app: &App) -> String {
    format!("/api/tunnels/{}/devices", tunnel(app).await.unwrap()["id"])
}

async fn devices(app: &App) -> Vec<Value> {
    let listed = app.ask("GET", &path(app).await, Value::Null).await;
    listed["items"].as_array().unwrap().clone()
}

/// Returns the device id of an app.
async fn own_id(app: &App) -> String {
    let devices = devices(app).await;
    let own = devices.iter().find(|device| device["this"] == true).expect("it takes part");
    own["id"].as_str().unwrap().to_owned()
}

async fn revoke(by: &App, device: &str) -> (u16, Value) {
    by.call("DELETE", &format!("{}/{device}", path(by).await), Value::Null).await
}

/// Waits until the relay seals letters for each of the current devices in the form that they can read.
async fn introduced(set: &Set, devices: usize) {
    let store = Connection::open(set.dir.path().join("relay.db")).unwrap();
    let count = "SELECT count(*) FROM device WHERE proof IS NOT NULL";
    eventually("every device has said what it is", async || {
        let shown: usize = store.query_row(count, [], |row| row.get(0)).unwrap();
        (shown == devices).then_some(())
    })
    .await;
}

fn sealing_key(set: &Set) -> [u8; 32] {
    let store = Connection::open(set.dir.path().join("relay.db")).unwrap();
    store.query_row("SELECT sealing_key FROM tunnel", [], |row| row.get(0)).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_12_a_revoked_device_is_out_at_once_and_the_others_read_on() {
    let set = set(&[]).await;
    set.app.source("s", json!({})).await;
    let (stays, goes) = (joined(&set).await, joined(&set).await);
    introduced(&set, 3).await;
    let listed = devices(&set.app).await;
    assert_eq!(listed.len(), 3);
    assert_eq!((&listed[0]["owner"], &listed[0]["this"]), (&json!(true), &json!(true)), "{listed:?}");
    assert!(listed.iter().all(|device| device["connected"] == true), "{listed:?}");
    let before = sealing_key(&set);

    let by_another = revoke(&stays, &own_id(&goes).await).await;
    assert_eq!((by_another.0, &by_another.1["code"]), (400, &json!("not-owner")), "{by_another:?}");
    let itself = revoke(&set.app, &own_id(&set.app).await).await;
    assert_eq!((itself.0, sealing_key(&set)), (400, before), "{itself:?}");

    let (status, revoked) = revoke(&set.app, &own_id(&goes).await).await;
    assert_eq!((status, &revoked["without_key"]), (200, &json!([])), "{revoked}");
    assert_ne!(sealing_key(&set), before);
    eventually("it is told that it is out", async || {
        let seen = tunnel(&goes).await.unwrap();
        (seen["state"] == "refused" && seen["error"]["code"] == "unknown-device").then_some(())
    })
    .await;
    assert_eq!(devices(&stays).await.len(), 2);

    let id = id_of(&set.post("s", &[], b"after").await);
    arrived(&set.app, &id).await;
    arrived(&stays, &id).await;
    assert_eq!(goes.call("GET", &format!("/api/events/{id}"), Value::Null).await.0, 404);
    for app in [&set.app, &stays] {
        let seen = tunnel(app).await.unwrap();
        assert_eq!((&seen["error"], &seen["spoilt"]["count"]), (&Value::Null, &json!(0)), "{seen}");
    }
    let invited = joined(&set).await;
    let id = id_of(&set.post("s", &[], b"for whoever joins later").await);
    arrived(&invited, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_12_who_was_away_gets_the_key_when_it_comes_back_and_reads_what_waited() {
    let set = set(&[]).await;
    set.app.source("s", json!({})).await;
    let (away, goes) = (joined(&set).await, joined(&set).await);
    introduced(&set, 3).await;
    let folder = away.stop().await;
    let by_the_old_key = id_of(&set.post("s", &[], b"before").await);
    arrived(&set.app, &by_the_old_key).await;
    assert_eq!(revoke(&set.app, &own_id(&goes).await).await.0, 200);
    let again = joined(&set).await;
    introduced(&set, 3).await;
    let between = id_of(&set.post("s", &[], b"between").await);
    assert_eq!(revoke(&set.app, &own_id(&again).await).await.0, 200, "the key is turned over twice");
    let by_the_new_key = id_of(&set.post("s", &[], b"after").await);

    let back = App::start_on(folder).await;
    for id in [&by_the_old_key, &between, &by_the_new_key] {
        arrived(&back, id).await;
    }
    assert_eq!(tunnel(&back).await.unwrap()["spoilt"]["count"], 0);
    let back = App::start_on(back.stop().await).await;
    connected(&back).await;
    let later = id_of(&set.post("s", &[], b"it has kept the key").await);
    arrived(&back, &later).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_12_what_is_sealed_after_a_revocation_opens_with_no_key_from_before() {
    let set = set(&[]).await;
    set.app.source("s", json!({})).await;
    let goes = joined(&set).await;
    introduced(&set, 2).await;
    let id = tunnel(&set.app).await.unwrap()["id"].clone();
    let invited = set.app.ask("POST", &format!("/api/tunnels/{id}/invite"), Value::Null).await;
    let old = hookmitt_tunnel::read_invite(invited["invite"].as_str().unwrap()).unwrap();
    let old = hookmitt_tunnel::Credentials::invited(&old).unwrap().sealing;
    assert_eq!(KeyPair::from_secret(&old).unwrap().public, sealing_key(&set), "it is the tunnel's key");
    assert_eq!(set.post("s", &[], b"the relay has its sealer ready").await.status, 202);
    assert_eq!(revoke(&set.app, &own_id(&goes).await).await.0, 200);
    let late = App::start().await;
    let joined = late.call("POST", "/api/tunnels", json!({ "invite": invited["invite"] })).await;
    assert_eq!(joined.1["code"], "unknown-code", "an invitation from before is of no use: {joined:?}");

    let Set { dir, relay, app } = set;
    let folder = app.stop().await;
    let reply = hookmitt_stories::post(relay.address, "/acme-dev/s", &[], b"after").await;
    assert_eq!(reply.status, 202);
    let store = Connection::open(dir.path().join("relay.db")).unwrap();
    let sql = "SELECT epoch, number, data FROM letter ORDER BY id DESC LIMIT 1";
    let (epoch, number, data): ([u8; 32], u32, Vec<u8>) = store
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .expect("it waits at the relay");
    assert!(Opener::new(&old, "acme-dev").unwrap().open(&epoch, number, &data).is_err());
    let back = App::start_on(folder).await;
    arrived(&back, &id_of(&reply)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_9_a_tunnel_takes_no_more_devices_than_its_relay_allows() {
    let set = set(&["--devices", "2"]).await;
    joined(&set).await;
    let id = tunnel(&set.app).await.unwrap()["id"].clone();
    let invited = set.app.ask("POST", &format!("/api/tunnels/{id}/invite"), Value::Null).await;
    let third = App::start().await;
    let refused = third.call("POST", "/api/tunnels", json!({ "invite": invited["invite"] })).await;
    assert_eq!((refused.0, &refused.1["code"]), (400, &json!("too-many-devices")), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_9_what_is_altered_in_the_relay_s_store_changes_no_event() {
    let set = set(&[]).await;
    set.app.source("s", json!({})).await;
    introduced(&set, 1).await;
    assert_eq!(set.post("s", &[], b"the source is known").await.status, 202);
    let Set { dir, relay, app } = set;
    let folder = app.stop().await;
    let before = Timestamp::now();
    let reply = hookmitt_stories::post(relay.address, "/acme-dev/s", &[], b"waits").await;
    let store = Connection::open(dir.path().join("relay.db")).unwrap();
    let altered = "UPDATE letter SET received_at = received_at - 600000000, held = 1 - held
        WHERE id = (SELECT max(id) FROM letter)";
    assert_eq!(store.execute(altered, []).unwrap(), 1, "one letter waits");

    let app = App::start_on(folder).await;
    let event = arrived(&app, &id_of(&reply)).await;
    let received: Timestamp = event["received_at"].as_str().unwrap().parse().unwrap();
    assert!(received >= before, "{event}");
    let mut causes = event["causes"].as_array().unwrap().iter();
    assert!(causes.any(|cause| cause["code"] == "relay_time_doubted"), "{event}");
    let seen = tunnel(&app).await.unwrap();
    assert_eq!(seen["error"]["code"], "relay-time-doubted", "{seen}");
}

#[tokio::test]
async fn devices_are_listed_and_revoked_from_the_command_line() {
    let (at_relay, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let token = RelayProcess::token(at_relay.path()).await;
    let relay = RelayProcess::start(at_relay.path(), &[]).await;
    let serving = hookmitt_stories::Server::start(data.path()).await;
    serving.delivers().await;
    let order = json!({ "relay": format!("http://{}", relay.address), "token": token, "name": "acme-dev" });
    serving.ask("POST", "/api/tunnels", order).await;
    let typed = async |arguments: &[&str]| {
        let mut command = hookmitt(data.path());
        command.arg("tunnel").args(arguments);
        Ran::of(command).await
    };
    eventually("it is connected", async || {
        let listed = typed(&["list", "--json"]).await.exits(0).json();
        listed.into_iter().next().filter(|tunnel| tunnel["state"] == "connected")
    })
    .await;
    let own = typed(&["devices", "acme-dev", "--json"]).await.exits(0).json().remove(0);
    assert_eq!((&own["owner"], &own["this"], &own["connected"]), (&json!(true), &json!(true), &json!(true)));
    let line = typed(&["devices", "acme-dev"]).await.exits(0).text();
    assert!(line.contains("opened the tunnel, this device"), "{line}");

    let invited = typed(&["invite", "acme-dev"]).await.exits(0).text();
    let mate = tempfile::tempdir().unwrap();
    let mut join = hookmitt(mate.path());
    join.args(["tunnel", "join"]);
    Ran::with_input(join, invited.as_bytes()).await.exits(0);
    let listed = typed(&["devices", "acme-dev", "--json"]).await.exits(0).json();
    let id = listed[1]["id"].as_str().unwrap();
    let unknown = typed(&["revoke", "acme-dev", "nobody"]).await.exits(2);
    assert!(unknown.err.contains("no device \"nobody\""), "{}", unknown.err);
    let revoked = typed(&["revoke", "acme-dev", &id[..12], "--json"]).await.exits(0).json().remove(0);
    assert_eq!((&revoked["revoked"]["id"], &revoked["without_key"]), (&json!(id), &json!([])));
    assert_eq!(typed(&["devices", "acme-dev", "--json"]).await.exits(0).json().len(), 1);
}
