//! Exports, logs, answers, process lists and URLs never contain secrets (promise 7): secrets are planted everywhere,
//! everything is logged, and all output is searched for them.
//!
//! Output that prints a secret on request isn't searched for that secret: `relay token create`, `tunnel invite` (and
//! its route), `url --ui`, `POST /api/session`, and the URL that `serve` prints.

mod scene;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{Answer, ApiAnswer, LocalServer, ProviderApi, Ran, eventually};
use serde_json::{Value, json};

use self::scene::{
    API_KEY, ARGUMENT, BAD_KEY, DAMAGED, IN_JSON, Scene, WEBHOOK, WRONG_BEARER, WRONG_INVITE, WRONG_TOKEN,
    telling_all,
};
use super::listen::{folder, github};

#[tokio::test(flavor = "multi_thread")]
async fn promise_7_planted_secrets_come_out_nowhere() {
    let mut scene = Scene::set().await;
    secrets_are_set(&mut scene).await;
    sources_are_synced(&mut scene).await;
    tunnels_are_opened(&mut scene).await;
    scene.plant_kept_keys();
    sessions_are_opened(&mut scene).await;
    events_are_caught_sent_and_exported(&mut scene).await;
    the_api_is_asked_wrongly(&mut scene).await;
    stores_fail(&mut scene).await;
    scene.search_all().await;
}

async fn secrets_are_set(scene: &mut Scene) {
    scene.runs(&["secret", "set", "gh", "--create"], &format!("{WEBHOOK}\n")).await.exits(0);
    scene.runs(&["source", "edit", "gh", "--provider", "github"], "").await.exits(0);
    scene.runs(&["secret", "set", "gh", "--label", "env", "--env", "PLANTED"], "").await.exits(0);
    scene.runs(&["source", "add", "bot", "--provider", "discord"], "").await.exits(0);
    scene.runs(&["secret", "test-key", "bot"], "").await.exits(0);
    scene.runs(&["secret", "set", "gh", "--label", "a\u{7}b"], WEBHOOK).await.exits(2);
    scene.runs(&["secret", "set", "gh", "--label", "long"], &WEBHOOK.repeat(3_000)).await.exits(2);
    scene.runs(&["secret", "remove", "gh", "--label", "none"], "").await.exits(2);
    for as_json in [&[][..], &["--json"]] {
        scene.runs(&[&["secret", "list"], as_json].concat(), "").await.exits(0);
        scene.runs(&[&["doctor"], as_json].concat(), "").await;
        scene.runs(&[&["source", "show", "gh"], as_json].concat(), "").await.exits(0);
    }
}

async fn sources_are_synced(scene: &mut Scene) {
    // An API that repeats the key in everything that it says.
    let api = ProviderApi::start(&["localhost"], |call| {
        let line = call.header("authorization").unwrap_or_default();
        let key = line.split_once(' ').map_or(line, |(_, key)| key);
        match call.asks("status") {
            Some(status) => ApiAnswer::error(status.parse().unwrap(), &format!("no {key}, {line}")),
            None => ApiAnswer::json(&json!([{ "id": "1", "type": "a.b" }])),
        }
    });
    scene.runs(&["source", "add", "api"], "").await.exits(0);
    let file = scene.data.path().join("own.toml");
    for (status, sent) in
        [("", "\"bearer\""), ("?status=401", "\"basic\""), ("?status=500", "{ header = \"Authorization\" }")]
    {
        let connector = format!(
            "name = \"Own\"\nkey.sent = {sent}\n[list]\nitems = \"\"\nid = \"/id\"\ncall.url = \"{}/list{status}\"\n",
            api.url()
        );
        std::fs::write(&file, connector).unwrap();
        let set = ["sync", "set", "api", "--every", "off", "--connector", file.to_str().unwrap()];
        scene.runs(&set, "").await.exits(0);
        scene.runs(&["sync", "key", "api"], &format!("{API_KEY}\n")).await.exits(0);
        scene.runs(&["sync", "key", "api", "--check"], "").await;
        scene.runs(&["sync", "api"], "").await;
    }
    for arguments in [
        &["sync", "list"][..],
        &["sync", "show", "api"],
        &["sync", "report", "--syncs"],
        &["jobs"],
        &["audit"],
    ] {
        scene.runs(arguments, "").await.exits(0);
        scene.runs(&[arguments, &["--json"]].concat(), "").await.exits(0);
    }
    scene.runs(&["sync", "key", "api", ARGUMENT], "").await.exits(2);
}

async fn tunnels_are_opened(scene: &mut Scene) {
    let relay = format!("http://{}", scene.relay.address);
    scene.runs(&["tunnel", "add", &relay], WRONG_TOKEN).await.exits(2);
    scene.runs(&["tunnel", "add", "http://127.0.0.1:9"], WRONG_TOKEN).await.exits(3);
    scene.runs(&["tunnel", "add", "http://relay.example"], WRONG_TOKEN).await.exits(2);
    scene.runs(&["tunnel", "join"], WRONG_INVITE).await.exits(2);
    let repeats = LocalServer::start().await;
    let said =
        json!({ "code": "bad-token", "detail": format!("{WRONG_TOKEN} is unknown"), "hint": WRONG_TOKEN });
    let said = said.to_string();
    repeats.will([Answer::Raw(
        format!("HTTP/1.1 401 Unauthorized\r\nContent-Length: {}\r\n\r\n{said}", said.len()).into_bytes(),
    )]);
    scene.runs(&["tunnel", "add", &repeats.url()], WRONG_TOKEN).await.exits(2);
    let token = scene.relay_token.clone();
    scene.runs(&["tunnel", "add", &relay, "--name", "first"], &token).await.exits(0);
    let mut second = telling_all(scene.data.path(), &["tunnel", "add", &relay, "--name", "second", "--json"]);
    second.env("HOOKMITT_RELAY_TOKEN", &token);
    scene.runs_as(second, "tunnel add with the token of the environment", "").await.exits(0);
    scene.runs(&["tunnel", "add", &relay, "--name", "second"], &token).await.exits(2);
    let data = scene.data.path().to_owned();
    eventually("the tunnel is connected", async || {
        let listed = Ran::of(telling_all(&data, &["tunnel", "list", "--json"])).await.exits(0).json();
        listed.iter().all(|tunnel| tunnel["state"] == "connected").then_some(())
    })
    .await;
    let invite = scene.asks_for(&["tunnel", "invite", "first"]).await;
    scene.planted.plant("an invitation", invite.as_bytes());
    scene.planted.plant("an invitation's inside", &invite.as_bytes()["hookmitt-invite:".len()..]);
    for code in [0, 2] {
        let join = telling_all(scene.mate.path(), &["tunnel", "join"]);
        scene.runs_as(join, "tunnel join", &invite).await.exits(code);
    }
    let damaged = invite.replacen("hookmitt-invite:", "hookmitt-invite:e", 1);
    scene.runs(&["tunnel", "join"], &damaged).await.exits(2);
    for verb in ["list", "status"] {
        scene.runs(&["tunnel", verb, "--json"], "").await.exits(0);
        scene.runs(&["tunnel", verb], "").await.exits(0);
    }
}

async fn sessions_are_opened(scene: &mut Scene) {
    let url = scene.asks_for(&["url", "--ui"]).await;
    let code = url.split_once("#code=").expect("a code").1.to_owned();
    scene.planted.plant("a one-time code", code.as_bytes());
    let body = json!({ "code": code }).to_string();
    let asked = format!(
        "POST /api/session HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        scene.api,
        body.len()
    );
    let answer = hookmitt_stories::exchange(scene.api, asked.as_bytes()).await;
    let session: Value = hookmitt_stories::parse_reply(&answer).json();
    let session = session["token"].as_str().expect("a session's token").to_owned();
    scene.planted.plant("a session's token", session.as_bytes());
    assert_eq!(scene.calls("", "POST", "/api/session", body.as_bytes()).await, 401, "a code works once");
    assert_eq!(scene.calls(&session, "GET", "/api/stats", b"").await, 200);
    assert_eq!(scene.calls(WRONG_BEARER, "GET", "/api/stats", b"").await, 401);
    let query = format!("/api/events?token={WRONG_BEARER}&source={WRONG_BEARER}");
    assert_eq!(scene.calls(WRONG_BEARER, "GET", &query, b"").await, 401);
}

async fn events_are_caught_sent_and_exported(scene: &mut Scene) {
    let server = LocalServer::start().await;
    assert_eq!(github(scene.capture, "gh", WEBHOOK, "1", "{\"ref\":\"x\"}").await.status, 200);
    assert_eq!(github(scene.capture, "gh", "another", "2", "{\"ref\":\"y\"}").await.status, 200);
    let (up, down) = (server.url(), "http://127.0.0.1:9/".to_owned());
    scene.runs(&["verify", "last"], "").await.exits(1);
    scene.runs(&["verify", "last~1", "--json"], "").await.exits(0);
    scene.runs(&["verify", "last", "--secret-env", "LENT"], "").await.exits(1);
    for wrong in [ARGUMENT, "planted-argument-in-small-letters"] {
        let ran = scene.runs(&["verify", "last", "--secret-env", wrong], "").await.exits(2);
        assert!(!ran.err.contains(wrong), "{}", ran.err);
    }
    let key = scene.data.path().with_extension("pem");
    std::fs::write(&key, format!("-----BEGIN PRIVATE KEY-----\n{BAD_KEY}\n-----END PRIVATE KEY-----\n"))
        .unwrap();
    scene.runs(&["verify", "last", "--public-key", key.to_str().unwrap()], "").await;
    std::fs::remove_file(&key).unwrap();
    for to in [&up, &down] {
        scene.runs(&["replay", "last~1", "--to", to], "").await;
        scene.runs(&["replay", "last~1", "--resign", "--secret-label", "env", "--to", to], "").await;
        scene.runs(&["replay", "last~1", "--resign", "--secret-env", "LENT", "--to", to, "--json"], "").await;
        scene.runs(&["send", "github", "--source", "gh", "--to", to], "").await;
        scene.runs(&["send", "github", "--secret-env", "LENT", "--to", to], "").await;
        scene.runs(&["send", "discord", "--source", "bot", "--to", to], "").await;
    }
    scene.runs(&["send", "stripe", "--secret-env", "LENT", "--to", &up], "").await;
    scene.runs(&["events", "--json"], "").await.exits(0);
    for reference in ["last", "last~1", "last~2", "#1"] {
        scene.runs(&["show", reference], "").await.exits(0);
        scene.runs(&["show", reference, "--json"], "").await.exits(0);
        scene.runs(&["export", reference, "--raw"], "").await.exits(0);
    }
    let out = scene.data.path().join("exported");
    scene.runs(&["export", "--source", "gh", "--raw", "-o", out.to_str().unwrap()], "").await.exits(0);
    scene.runs(&["import", out.to_str().unwrap()], "").await.exits(0);
}

async fn the_api_is_asked_wrongly(scene: &mut Scene) {
    let bearer = scene.bearer.clone();
    let bodies = wrong_bodies();
    let routes = [
        ("PUT", "/api/sources/gh/secrets/wrong"),
        ("POST", "/api/listen"),
        ("POST", "/api/tunnels"),
        ("POST", "/api/send"),
        ("POST", "/api/session"),
        ("POST", "/api/sources"),
        ("PATCH", "/api/sources/gh"),
        ("POST", "/api/targets"),
        ("POST", "/api/events/last/replay"),
        ("POST", "/api/events/last/verify"),
        ("POST", "/api/events/last/save-secret"),
        ("POST", "/api/import"),
        ("POST", "/api/export"),
    ];
    for (method, path) in routes {
        for body in &bodies {
            // A valid secret would be stored, and a relay that is down awaited: neither request is malformed.
            let status = scene.calls(&bearer, method, path, body.as_bytes()).await;
            assert!(status >= 400, "{method} {path} {body}: {status}");
        }
        let not_text = [b"{\"value_base64\":\"\xff", IN_JSON.as_bytes()].concat();
        scene.calls(&bearer, method, path, &not_text).await;
    }
}

/// Returns bodies that no route accepts, each with a secret in it.
fn wrong_bodies() -> Vec<String> {
    let quoted = json!(IN_JSON).to_string();
    let base64 = json!(STANDARD.encode(IN_JSON)).to_string();
    vec![
        quoted.clone(),
        format!("[{quoted}]"),
        format!("{{{quoted}:1}}"),
        format!("{{\"value_base64\":[{quoted}]}}"),
        format!("{{\"value_base64\":{{\"x\":{quoted}}}}}"),
        format!("{{\"value_base64\":{quoted}}}"),
        format!("{{\"value_base64\":{base64},\"env\":\"X\"}}"),
        format!("{{\"env\":{quoted}}}"),
        format!(
            "{{\"secret_base64\":{quoted},\"url\":\"x\",\"provider\":\"github\",\"to\":\"http://127.0.0.1:9\"}}"
        ),
        format!(
            "{{\"secret_base64\":{base64},\"url\":\"http://127.0.0.1:9\",\"provider\":\"none\",\"to\":\"x\"}}"
        ),
        format!("{{\"relay\":\"http://127.0.0.1:9\",\"token\":{quoted}}}"),
        format!("{{\"relay\":\"http://127.0.0.1:9\",\"token\":[{quoted}]}}"),
        format!("{{\"kind\":{quoted}}}"),
        format!("{{\"invite\":{quoted}}}"),
        format!("{{\"code\":{quoted}}}"),
        format!("{{\"code\":{quoted}"),
        format!("{{\"slug\":\"wrong\",\"url\":\"http://127.0.0.1:9/\",{quoted}:1}}"),
        format!(
            "{{\"slug\":\"wrong\",\"url\":\"http://127.0.0.1:9/\",\"attempts\":{quoted},\"tolerance_s\":{quoted}}}"
        ),
        format!("{{\"times\":{quoted},\"resign\":{quoted}}}"),
        quoted[..quoted.len() - 1].to_owned(),
        IN_JSON.to_owned(),
    ]
}

async fn stores_fail(scene: &mut Scene) {
    let elsewhere = folder();
    let mut none = telling_all(elsewhere.path(), &["secret", "set", "gh", "--create"]);
    none.env("HOOKMITT_KEYRING", "required").env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    scene.runs_as(none, "secret set without a keychain", WEBHOOK).await.exits(2);
    let file = elsewhere.path().join("secrets.json");
    std::fs::write(
        &file,
        format!("[{{\"source\":\"gh\",\"label\":\"x\",\"value_base64\":[\"{DAMAGED}\"]}}]"),
    )
    .unwrap();
    for arguments in [&["secret", "set", "gh"][..], &["secret", "list"], &["doctor"]] {
        let command = telling_all(elsewhere.path(), arguments);
        scene.runs_as(command, "a damaged vault", DAMAGED).await;
    }
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    scene
        .runs_as(
            telling_all(elsewhere.path(), &["secret", "set", "gh", "--create"]),
            "a vault that is none",
            WEBHOOK,
        )
        .await
        .exits(2);
    let store = format!("nats://me:{ARGUMENT}@127.0.0.1:9");
    let mut relay = telling_all(elsewhere.path(), &["relay", "--listen", "127.0.0.1:0"]);
    relay.env("HOOKMITT_RELAY_STORE", store.replace("nats", "nat"));
    let ran = scene.runs_as(relay, "a store that is none", "").await.exits(2);
    assert!(!ran.err.contains(ARGUMENT), "{}", ran.err);
}
