//! An app and a relay: what a provider posts to the public URL arrives, is verified and answered as if sent directly.

use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp};
use hookmitt_stories::{
    App, LocalServer, RelayProcess, Reply, eventually, exchange, parse_reply, post, request, signature,
};
use hookmitt_verify::{PairKind, PublicForm, SignBy, TestKeyPair, provider, sign};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::{
    handshake_rows::ROWS,
    handshakes::{asked, discord, source},
    respond::says,
};

/// A relay, and an app with a tunnel through it.
pub(super) struct Set {
    pub(super) dir: TempDir,
    pub(super) relay: RelayProcess,
    pub(super) app: App,
}

pub(super) async fn set(flags: &[&str]) -> Set {
    let dir = tempfile::tempdir().unwrap();
    let token = RelayProcess::token(dir.path()).await;
    let relay = RelayProcess::start(dir.path(), flags).await;
    let app = App::start().await;
    let order = json!({ "relay": format!("http://{}", relay.address), "token": token, "name": "acme-dev" });
    app.ask("POST", "/api/tunnels", order).await;
    connected(&app).await;
    Set { dir, relay, app }
}

/// Returns the tunnel once it is connected.
pub(super) async fn connected(app: &App) -> Value {
    eventually("the tunnel is connected", async || {
        tunnel(app).await.filter(|one| one["state"] == "connected")
    })
    .await
}

pub(super) async fn tunnel(app: &App) -> Option<Value> {
    let tunnels = app.ask("GET", "/api/tunnels", Value::Null).await;
    tunnels["items"].get(0).cloned()
}

impl Set {
    /// Posts to a source at its public URL, as soon as the relay knows the source.
    pub(super) async fn post(&self, source: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let target = format!("/acme-dev/{source}");
        let reply = async || Some(post(self.relay.address, &target, headers, body).await);
        eventually("the relay knows the source", async || reply().await.filter(|reply| reply.status != 404))
            .await
    }

    pub(super) async fn send(&self, source: &str, asked: &Request) -> Reply {
        let bytes = on_the_wire(source, asked);
        let reply = async || Some(parse_reply(&exchange(self.relay.address, &bytes).await));
        eventually("the relay knows the source", async || reply().await.filter(|reply| reply.status != 404))
            .await
    }
}

/// Returns the bytes of a request to a source of the tunnel, for the host that the request names.
pub(super) fn on_the_wire(source: &str, asked: &Request) -> Vec<u8> {
    let host = asked.headers.get_str("host").unwrap_or("127.0.0.1");
    let others = asked.headers.iter().filter(|line| !line.name.eq_ignore_ascii_case("host"));
    let lines: Vec<_> =
        others.map(|line| (line.name.to_owned(), String::from_utf8_lossy(line.value).into_owned())).collect();
    let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let query = asked.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    let bytes = request(&asked.method, &format!("/acme-dev/{source}{query}"), &lines, &asked.body);
    let split = b"Host: 127.0.0.1\r\n";
    let at = bytes.windows(split.len()).position(|part| part == split).unwrap();
    [&bytes[..at], format!("Host: {host}\r\n").as_bytes(), &bytes[at + split.len()..]].concat()
}

/// Returns the event with this id, once it is in the inbox.
pub(super) async fn arrived(app: &App, id: &str) -> Value {
    let path = format!("/api/events/{id}");
    eventually("the event is in the inbox", async || {
        let (status, event) = app.call("GET", &path, Value::Null).await;
        (status == 200).then_some(event)
    })
    .await
}

pub(super) fn id_of(reply: &Reply) -> String {
    reply.header("x-hookmitt-event-id").expect("an id").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_through_a_relay_is_judged_stored_and_delivered_byte_for_byte() {
    let (set, server) = (set(&["--trusted-proxy", "127.0.0.1"]).await, LocalServer::start().await);
    let app = &set.app;
    app.source("github", json!({ "provider": "github" })).await;
    app.secret("github", "default", "s3cret").await;
    app.target(Some("github"), &server.url(), json!({})).await;
    let body = br#"{ "zen":  "Keep it logically awesome." }"#;
    let signed = format!("sha256={}", signature("s3cret", body));
    let headers = [
        ("X-GitHub-Event", "ping"),
        ("X-Hub-Signature-256", signed.as_str()),
        ("X-Forwarded-For", "203.0.113.9"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-Host", "relay.acme.dev"),
    ];
    let before = Timestamp::now();
    let reply = set.post("github//a/../b%2Fc?x=1", &headers, body).await;
    assert_eq!(reply.status, 200);
    let event = arrived(app, &id_of(&reply)).await;
    assert_eq!((&event["via"], &event["verdict"]), (&json!("tunnel"), &json!("valid")), "{event}");
    assert_eq!(event["answered"], json!({ "by": "relay", "status": null, "after_ms": null }));
    assert_eq!((&event["path"], &event["query"]), (&json!("//a/../b%2Fc"), &json!("x=1")));
    assert_eq!(event["url"], "https://relay.acme.dev/acme-dev/github//a/../b%2Fc?x=1");
    assert_eq!(event["sha256"], hex::encode(Sha256::digest(body)));
    let forwarded = json!([
        ["X-Forwarded-For", "203.0.113.9"],
        ["X-Forwarded-Proto", "https"],
        ["X-Forwarded-Host", "relay.acme.dev"]
    ]);
    assert_eq!(event["forwarded"], forwarded, "not part of the request");
    assert!(!event["headers"].to_string().contains("X-Forwarded"), "not in it");
    assert!(event["remote"].as_str().unwrap().contains("203.0.113.9"), "{}", event["remote"]);
    let received: Timestamp = event["received_at"].as_str().unwrap().parse().unwrap();
    assert!(received >= before && received <= Timestamp::now());

    let seen = server.wait_for(1).await.remove(0);
    assert_eq!((seen.body(), seen.line()), (&body[..], "POST //a/../b%2Fc?x=1 HTTP/1.1".to_owned()));
    eventually("the relay has nothing left", async || {
        let tunnel = tunnel(app).await?;
        (tunnel["waiting"]["letters"] == 0 && tunnel["to_acknowledge"] == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_provider_hears_through_the_relay_what_it_wants() {
    let set = set(&["--hold", "30s"]).await;
    for (place, row) in ROWS.iter().enumerate() {
        let (slug, what) = (format!("s{place}"), format!("{} {}", row.provider, row.name));
        source(&set.app, &slug, row).await;
        let reply = set.send(&slug, &asked(row)).await;
        let (status, headers, body) = row.answer;
        let body = body
            .replace("@hmac:a-plain-token@", &signature(row.secret.unwrap_or_default(), b"a-plain-token"));
        assert_eq!(
            (reply.status, String::from_utf8_lossy(&reply.body)),
            (status, body.as_str().into()),
            "{what}"
        );
        for (name, value) in headers {
            assert_eq!(reply.header(name), Some(*value), "{what}");
        }
        let event = arrived(&set.app, &id_of(&reply)).await;
        assert_eq!((&event["via"], &event["handshake"]), (&json!("tunnel"), &json!(row.name)), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_rejects_answers_401_through_the_relay() {
    let set = set(&["--hold", "30s"]).await;
    let app = &set.app;
    app.source("strict", json!({ "provider": "github", "on_invalid": "reject" })).await;
    app.secret("strict", "default", "s3cret").await;
    let forged = [("X-GitHub-Event", "ping"), ("X-Hub-Signature-256", "sha256=00")];
    let reply = set.post("strict", &forged, b"{}").await;
    assert_eq!((reply.status, &reply.json()["code"]), (401, &json!("invalid-signature")));
    assert_eq!(arrived(app, &id_of(&reply)).await["verdict"], "invalid", "kept all the same");
    let signed = format!("sha256={}", signature("s3cret", b"{}"));
    let genuine = [("X-GitHub-Event", "ping"), ("X-Hub-Signature-256", signed.as_str())];
    assert_eq!(set.post("strict", &genuine, b"{}").await.status, 200);

    let pair = TestKeyPair::generate(PairKind::Ed25519).unwrap();
    app.source("bot", json!({ "provider": "discord" })).await;
    app.secret("bot", "default", &pair.public(PublicForm::Hex).unwrap()).await;
    let ping = r#"{"application_id":"1","id":"2","type":1,"version":1}"#;
    let signed = discord(&pair, ping);
    let headers: Vec<_> = signed.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let pong = set.post("bot", &headers, ping.as_bytes()).await;
    assert_eq!((pong.status, pong.json()), (200, json!({ "type": 1 })));
    let forged = set.post("bot", &headers, br#"{"application_id":"1","id":"3","type":1,"version":1}"#).await;
    assert_eq!(forged.status, 401, "Discord takes no URL that lets this pass");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_signs_its_url_verifies_by_the_public_one() {
    let set = set(&["--public-url", "https://relay.acme.dev"]).await;
    assert_eq!(tunnel(&set.app).await.unwrap()["public_url"], "https://relay.acme.dev/acme-dev");
    set.app.source("sms", json!({ "provider": "twilio" })).await;
    set.app.secret("sms", "default", "an-auth-token").await;
    let unsigned = Request {
        method: "POST".to_owned(),
        path: "/in".to_owned(),
        query: Some("a=1".to_owned()),
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs([
            ("Host", "relay.acme.dev"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ])
        .unwrap(),
        body: "Body=Ahoy&From=%2B15550001111".into(),
    };
    let by = SignBy {
        url: Some("https://relay.acme.dev/acme-dev/sms/in?a=1"),
        ..SignBy::new(provider("twilio").unwrap(), b"an-auth-token", Timestamp::now())
    };
    let signed = sign(&by, &unsigned).unwrap();
    let reply = set.send("sms/in", &signed).await;
    let event = arrived(&set.app, &id_of(&reply)).await;
    assert_eq!(event["url"], "https://relay.acme.dev/acme-dev/sms/in?a=1");
    assert_eq!(event["verdict"], "valid", "{}", event["causes"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_is_no_target_of_its_own_tunnel() {
    let set = set(&["--public-url", "https://relay.acme.dev"]).await;
    let own = [format!("http://{}/acme-dev/s", set.relay.address), "https://RELAY.acme.dev/other".to_owned()];
    for url in own {
        let (status, problem) = set.app.call("POST", "/api/targets", json!({ "url": url })).await;
        assert_eq!((status, &problem["code"]), (400, &json!("own-address")), "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_teammates_app_gets_every_event_too_and_a_removed_tunnel_gets_none() {
    let set = set(&[]).await;
    set.app.source("s", json!({})).await;
    let id = tunnel(&set.app).await.unwrap()["id"].clone();
    let invitation = set.app.ask("POST", &format!("/api/tunnels/{id}/invite"), Value::Null).await;
    let mate = App::start().await;
    let joined =
        mate.ask("POST", "/api/tunnels", json!({ "invite": invitation["invite"], "label": "team" })).await;
    assert_eq!((&joined["label"], &joined["tunnel"]), (&json!("team"), &json!("acme-dev")));
    let (status, problem) =
        mate.call("POST", "/api/tunnels", json!({ "invite": invitation["invite"] })).await;
    assert_eq!((status, &problem["code"]), (409, &json!("tunnel-joined")));
    mate.source("s", json!({})).await;
    connected(&mate).await;
    let reply = set.post("s", &[], b"for both").await;
    let (here, there) = (arrived(&set.app, &id_of(&reply)).await, arrived(&mate, &id_of(&reply)).await);
    assert_eq!(here["sha256"], there["sha256"]);

    let id = tunnel(&mate).await.unwrap()["id"].clone();
    mate.ask("DELETE", &format!("/api/tunnels/{id}"), Value::Null).await;
    assert_eq!(tunnel(&mate).await, None);
    let id = tunnel(&set.app).await.unwrap()["id"].clone();
    eventually("the relay hands letters to one device", async || {
        let devices = set.app.ask("GET", &format!("/api/tunnels/{id}/devices"), Value::Null).await;
        (devices["items"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;
    let reply = set.post("s", &[], b"for one").await;
    arrived(&set.app, &id_of(&reply)).await;
    assert_eq!(mate.events().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_teammate_with_other_sources_neither_closes_ours_nor_answers_for_them() {
    let set = set(&["--hold", "30s"]).await;
    set.app.source("strict", json!({ "provider": "github", "on_invalid": "reject" })).await;
    set.app.secret("strict", "default", "s3cret").await;
    let id = tunnel(&set.app).await.unwrap()["id"].clone();
    let invitation = set.app.ask("POST", &format!("/api/tunnels/{id}/invite"), Value::Null).await;
    let mate = App::start().await;
    mate.ask("POST", "/api/tunnels", json!({ "invite": invitation["invite"] })).await;
    mate.source("theirs", json!({})).await;
    connected(&mate).await;
    let reply = set.post("theirs", &[], b"for the mate").await;
    assert_eq!(arrived(&mate, &id_of(&reply)).await["source"], "theirs");
    assert_eq!(arrived(&set.app, &id_of(&reply)).await["source"], "unassigned");

    let forged = [("X-GitHub-Event", "ping"), ("X-Hub-Signature-256", "sha256=00")];
    for number in 0..10 {
        let reply = set.post("strict", &forged, format!("{{\"n\":{number}}}").as_bytes()).await;
        assert_eq!(reply.status, 401, "who has the source answers");
        assert_eq!(arrived(&mate, &id_of(&reply)).await["source"], "unassigned");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_teammate_without_the_key_or_a_local_server_leaves_the_answer_to_who_has_them() {
    let (set, server) = (set(&["--hold", "30s"]).await, LocalServer::start().await);
    let app = &set.app;
    app.source("strict", json!({ "provider": "github", "on_invalid": "reject" })).await;
    app.secret("strict", "default", "s3cret").await;
    app.source("command", json!({ "answer": { "respond": "app" } })).await;
    app.target(Some("command"), &server.url(), json!({})).await;
    let id = tunnel(app).await.unwrap()["id"].clone();
    let invitation = app.ask("POST", &format!("/api/tunnels/{id}/invite"), Value::Null).await;
    let mate = App::start().await;
    mate.source("strict", json!({ "provider": "github" })).await;
    mate.source("command", json!({ "answer": { "status": 299 } })).await;
    mate.ask("POST", "/api/tunnels", json!({ "invite": invitation["invite"] })).await;
    connected(&mate).await;

    let forged = [("X-GitHub-Event", "ping"), ("X-Hub-Signature-256", "sha256=00")];
    for number in 0..5 {
        let body = format!("{{\"n\":{number}}}");
        assert_eq!(set.post("strict", &forged, body.as_bytes()).await.status, 401);
        server.will([says("201 Created", "text/plain", "rain")]);
        let reply = set.post("command", &[], body.as_bytes()).await;
        assert_eq!((reply.status, &reply.body[..]), (201, &b"rain"[..]));
        arrived(&mate, &id_of(&reply)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sleeping_relay_and_a_wrong_token_are_said_in_words() {
    let set = set(&[]).await;
    let relay = format!("http://{}", set.relay.address);
    let refused = async |order: Value| {
        let (status, problem) = set.app.call("POST", "/api/tunnels", order).await;
        (status, problem["code"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(refused(json!({ "relay": relay })).await, (400, "no-relay-token".to_owned()));
    assert_eq!(refused(json!({})).await.0, 400);
    let plain = refused(json!({ "relay": "http://relay.example.com", "token": "x" })).await;
    assert_eq!(plain, (400, "relay-without-tls".to_owned()));
    assert_eq!(refused(json!({ "relay": relay, "token": "hmr_wrong" })).await.0, 400);
    assert_eq!(refused(json!({ "invite": "hookmitt-invite:x" })).await, (400, "bad-invite".to_owned()));
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = refused(json!({ "relay": format!("http://{nobody}"), "token": "x" })).await;
    assert_eq!(gone, (502, "relay-unreachable".to_owned()));
    let folder = set.app.stop().await;
    let keys = std::fs::read_to_string(folder.path().join("tunnels/secrets.json")).unwrap();
    assert_eq!(keys.matches("tunnel-").count(), 1, "keys of tunnels that came to nothing are not kept");
}
