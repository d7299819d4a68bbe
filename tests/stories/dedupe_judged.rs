//! Which event owns a dedupe key in a source with a secret, and what a new secret changes.

use hookmitt_event::Timestamp;
use hookmitt_stories::{Answer, App, LocalServer, post, signature};
use serde_json::{Value, json};

const BODY: &str = r#"{"ref":"main"}"#;

/// Starts an app with a GitHub source `hub`, its secret and a target.
async fn hub(target: Value) -> (App, LocalServer) {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("hub", json!({ "provider": "github" })).await;
    app.secret("hub", "main", "hush").await;
    app.target(Some("hub"), &server.url(), target).await;
    (app, server)
}

async fn sent(app: &App, id: &str, secret: Option<&str>, body: &str) -> Value {
    let reply = app.github("hub", id, secret, body).await;
    app.event(reply.json()["id"].as_str().expect("an id")).await
}

fn id(event: &Value) -> &str {
    event["id"].as_str().expect("an id")
}

/// Posts an event as a web page of another origin would.
async fn from_a_page(app: &App, event: &str, body: &str) -> Value {
    let signed = format!("sha256={}", signature("hush", body.as_bytes()));
    let headers =
        [("X-GitHub-Delivery", event), ("X-Hub-Signature-256", &signed), ("Origin", "https://evil.example")];
    let reply = post(app.capture(), "/hub", &headers, body.as_bytes()).await;
    app.event(reply.json()["id"].as_str().expect("an id")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_event_with_a_guessed_id_does_not_shadow_the_genuine_one() {
    let (app, server) = hub(json!({})).await;
    let forged = sent(&app, "1", Some("guess"), "{\"forged\":true}").await;
    let unsigned = sent(&app, "1", None, BODY).await;
    let page = from_a_page(&app, "1", BODY).await;
    let verdicts = [&forged, &unsigned, &page].map(|event| event["verdict"].clone());
    assert_eq!(verdicts, ["invalid", "unsigned", "valid"]);
    assert!([&forged, &unsigned, &page].iter().all(|event| event["duplicate_of"].is_null()));
    let genuine = sent(&app, "1", Some("hush"), BODY).await;
    assert_eq!((&genuine["duplicate_of"], &genuine["conflict"]), (&Value::Null, &json!(false)));
    app.status(id(&genuine), "completed").await;
    assert!(
        server.seen().iter().any(|seen| seen.header("x-hookmitt-event-id").as_deref() == Some(id(&genuine)))
    );
    for late in [sent(&app, "1", Some("guess"), BODY).await, sent(&app, "1", None, BODY).await] {
        assert_eq!((&late["duplicate_of"], &late["status"]), (&genuine["id"], &json!("skipped")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_secret_a_web_page_still_owns_no_key() {
    let app = App::start().await;
    let server = LocalServer::start().await;
    app.source("hub", json!({ "provider": "github" })).await;
    app.target(Some("hub"), &server.url(), json!({})).await;
    let page = from_a_page(&app, "1", BODY).await;
    assert_eq!((&page["browser"], &page["status"]), (&json!(true), &json!("skipped")));
    let genuine = sent(&app, "1", None, BODY).await;
    assert_eq!(genuine["duplicate_of"], Value::Null);
    app.status(id(&genuine), "completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_repeat_of_a_failed_first_does_not_stop_the_genuine_one_that_is_sent_again() {
    let (app, server) = hub(json!({})).await;
    server.will([Answer::Status(410)]);
    let first = sent(&app, "1", Some("hush"), BODY).await;
    app.status(id(&first), "failed").await;
    let forged = sent(&app, "1", Some("guess"), "{\"forged\":true}").await;
    assert_eq!((&forged["duplicate_of"], &forged["conflict"]), (&first["id"], &json!(true)));
    app.status(id(&forged), "completed").await;
    let again = sent(&app, "1", Some("hush"), BODY).await;
    app.status(id(&again), "completed").await;
    let third = sent(&app, "1", Some("hush"), BODY).await;
    assert_eq!(third["status"], "skipped");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_secret_takes_the_key_from_the_forged_and_gives_it_to_the_genuine() {
    let app = App::start().await;
    app.source("hub", json!({ "provider": "github" })).await;
    let forged = sent(&app, "1", Some("guess"), "{\"forged\":true}").await;
    let genuine = sent(&app, "1", Some("hush"), BODY).await;
    let repeat = sent(&app, "1", Some("hush"), BODY).await;
    for later in [&genuine, &repeat] {
        assert_eq!(later["verdict"], "no_secret");
        assert_eq!((&later["duplicate_of"], &later["conflict"]), (&forged["id"], &json!(true)));
    }
    app.secret("hub", "main", "hush").await;
    let forged = app.event(id(&forged)).await;
    assert_eq!((&forged["verdict"], &forged["duplicate_of"]), (&json!("invalid"), &Value::Null));
    assert!(!forged["causes"].as_array().unwrap().is_empty());
    let genuine = app.event(id(&genuine)).await;
    assert_eq!((&genuine["verdict"], &genuine["duplicate_of"]), (&json!("valid"), &Value::Null));
    assert_eq!(genuine["conflict"], false, "it repeats nothing any more");
    let repeat = app.event(id(&repeat)).await;
    assert_eq!((&repeat["verdict"], &repeat["duplicate_of"]), (&json!("valid"), &genuine["id"]));
    assert_eq!(repeat["conflict"], false, "it has the genuine one's bytes");
    let next = sent(&app, "1", Some("hush"), BODY).await;
    assert_eq!((&next["duplicate_of"], &next["conflict"]), (&genuine["id"], &json!(false)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_secret_that_is_corrected_ends_with_the_right_verdicts() {
    let app = App::start().await;
    app.source("hub", json!({ "provider": "github" })).await;
    let event = sent(&app, "1", Some("hush"), BODY).await;
    let verdict = async || app.event(id(&event)).await["verdict"].clone();
    assert_eq!(verdict().await, "no_secret");
    app.secret("hub", "main", "typo").await;
    assert_eq!(verdict().await, "invalid");
    app.secret("hub", "second", "hush").await;
    assert_eq!(verdict().await, "valid", "any of several secrets will do");
    app.ask("DELETE", "/api/sources/hub/secrets/main", Value::Null).await;
    assert_eq!(verdict().await, "valid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_can_not_be_read_takes_no_verdict_back() {
    let (app, _server) = hub(json!({})).await;
    let before = sent(&app, "1", Some("hush"), BODY).await;
    let forged = sent(&app, "2", Some("guess"), BODY).await;
    let unset = json!({ "env": "HOOKMITT_STORY_VARIABLE_THAT_NOBODY_SETS" });
    app.ask("PUT", "/api/sources/hub/secrets/main", unset).await;
    let listed = app.ask("GET", "/api/secrets?source=hub", Value::Null).await["items"][0].clone();
    assert_eq!((&listed["kind"], &listed["readable"]), (&json!("env"), &json!(false)));
    assert!(listed["problem"].is_string());
    assert_eq!(app.event(id(&before)).await["verdict"], "valid");
    let forged = app.event(id(&forged)).await;
    assert_eq!(
        (&forged["verdict"], forged["causes"].as_array().unwrap().is_empty()),
        (&json!("invalid"), false)
    );
    let now = sent(&app, "3", Some("hush"), BODY).await;
    assert_eq!(now["verdict"], "no_secret");
    let folder = app.stop().await;
    let app = App::start_on(folder).await;
    app.ask("PATCH", "/api/sources/hub", json!({ "tolerance_s": 10 })).await;
    assert_eq!(
        app.event(id(&before)).await["verdict"],
        "valid",
        "nor does another process, or a new setting"
    );
    app.secret("hub", "main", "hush").await;
    assert_eq!(app.event(id(&now)).await["verdict"], "valid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timestamp_is_judged_when_its_event_was_received_not_when_it_is_looked_at() {
    let app = App::start().await;
    let now = Timestamp::now().as_seconds();
    let body = r#"{"id":"evt_1","type":"x"}"#;
    // Signed an hour before it was received: too old, whenever it is verified.
    let old = app.stripe("pay", "hush", now - 3_600, body).await.json()["id"].clone();
    // Only the tolerance changes that: 7,200 s allow the hour, the default does not.
    app.secret("pay", "main", "hush").await;
    let old = old.as_str().unwrap();
    let event = app.event(old).await;
    assert_eq!(
        (&event["verdict"], &event["causes"][0]["code"]),
        (&json!("invalid"), &json!("timestamp_old"))
    );
    app.ask("PATCH", "/api/sources/pay", json!({ "tolerance_s": 7_200 })).await;
    assert_eq!(app.event(old).await["verdict"], "valid");
    app.ask("PATCH", "/api/sources/pay", json!({ "tolerance_s": null })).await;
    assert_eq!(app.event(old).await["verdict"], "invalid");

    // Received an hour ago, ten seconds after it was signed: valid whenever it is verified.
    let exported = app.ask("POST", "/api/export", json!({ "ids": [old], "raw": true })).await;
    let mut fixture: Value = serde_json::from_str(exported["items"][0]["content"].as_str().unwrap()).unwrap();
    fixture["received_at"] = json!(Timestamp::from_seconds(now - 3_590).to_string());
    let imported = import(&app, &fixture).await;
    assert_eq!(imported["verdict"], "valid");
    let verify = format!("/api/events/{}/verify", imported["event_id"].as_str().unwrap());
    assert_eq!(app.ask("POST", &verify, Value::Null).await["verdict"], "valid");
    fixture["received_at"] = json!(Timestamp::from_seconds(now - 3_200).to_string());
    assert_eq!(import(&app, &fixture).await["verdict"], "invalid");
}

async fn import(app: &App, fixture: &Value) -> Value {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let file = json!({ "name": "old.fixture.json", "content_base64": STANDARD.encode(fixture.to_string()) });
    app.ask("POST", "/api/import", json!({ "items": [file] })).await["items"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_proved_stays_so_when_its_secret_is_replaced() {
    let app = App::start().await;
    app.secret("hub", "main", "old").await;
    let before = sent(&app, "1", Some("old"), BODY).await;
    app.secret("hub", "main", "new").await;
    assert_eq!(app.event(id(&before)).await["verdict"], "valid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_rejects_keeps_out_what_it_can_not_judge() {
    let app = App::start().await;
    let server = hookmitt_stories::LocalServer::start().await;
    app.ask("POST", "/api/sources", json!({ "slug": "hub", "on_invalid": "reject" })).await;
    app.ask("POST", "/api/targets", json!({ "source": "hub", "url": server.url() })).await;
    app.ask("PUT", "/api/sources/hub/secrets/main", json!({ "env": "HOOKMITT_STORY_UNSET" })).await;
    let reply = app.github("hub", "1", Some("forged"), BODY).await;
    assert_eq!(reply.status, 401);
    let event = app.event("last").await;
    assert_eq!((&event["verdict"], &event["status"]), (&json!("no_secret"), &json!("skipped")));
    assert_eq!(event["causes"][0]["code"], "secret_unreadable");
    app.ask("POST", "/api/events/last/retry", Value::Null).await;
    assert!(server.seen().is_empty(), "and no retry sends it");
}
