//! Threat 11: whose secret a source believes. If a stranger's secret is accepted, he can sign the source's events.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{App, Ran, post};
use serde_json::{Value, json};

use super::listen::{command, folder, run, serving};

const FIRST: &str = "b537207f20cbfa02357cf448134da559";
const SECOND: &str = "0000000000000000000000000000aaaa";

/// Posts a request like Asana's first one, which brings a secret. Returns the event's id.
async fn brought(app: &App, slug: &str, secret: &str, more: &[(&str, &str)]) -> String {
    let headers = [&[("X-Hook-Secret", secret)], more].concat();
    let reply = post(app.capture(), &format!("/{slug}"), &headers, b"{}").await;
    reply.header("x-hookmitt-event-id").unwrap().to_owned()
}

async fn saved(app: &App, id: &str, body: Value) -> (u16, Value) {
    let (status, answer) = app.call("POST", &format!("/api/events/{id}/save-secret"), body).await;
    (status, if status == 200 { answer } else { answer["code"].clone() })
}

async fn secrets(app: &App, slug: &str) -> Vec<Value> {
    let all = app.ask("GET", &format!("/api/secrets?source={slug}"), Value::Null).await;
    all["items"].as_array().unwrap().iter().map(|entry| entry["label"].clone()).collect()
}

/// Checks that the secret is neither offered nor stored, with or without a label, and that the event says why.
async fn is_not_kept(app: &App, slug: &str, id: &str, code: &str) {
    let event = app.event(id).await;
    assert_eq!(event.get("handshake_offer"), None, "{code}: {event}");
    assert_eq!(event["handshake_note"]["code"], code.replace('-', "_"), "{event}");
    for body in [json!({}), json!({ "label": "another" })] {
        assert_eq!(saved(app, id, body).await, (400, json!(code)));
    }
    assert_eq!(secrets(app, slug).await, [] as [Value; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_a_delivered_secret_is_offered_for_a_set_provider_only() {
    let app = App::start().await;
    app.source("tasks", json!({})).await;
    let id = brought(&app, "tasks", FIRST, &[]).await;
    is_not_kept(&app, "tasks", &id, "provider-not-set").await;
    let found = brought(&app, "found", FIRST, &[]).await; // this request created its source
    is_not_kept(&app, "found", &found, "provider-not-set").await;
    app.source("notes", json!({ "provider": "notion" })).await;
    let other = brought(&app, "notes", FIRST, &[]).await;
    assert_eq!(
        saved(&app, &other, json!({})).await,
        (400, json!("no-delivered-secret")),
        "it is Asana's way"
    );

    app.ask("PATCH", "/api/sources/tasks", json!({ "provider": "asana" })).await;
    let event = app.event(&id).await;
    assert_eq!(event["handshake_offer"], "save_secret");
    assert!(
        event["remote"].is_string() && event["received_at"].is_string(),
        "who sent it, and when: {event}"
    );
    assert_eq!(saved(&app, &id, json!({})).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_a_delivered_secret_is_offered_for_ten_minutes_and_never_from_a_web_page_or_a_file() {
    let app = App::start().await;
    app.source("tasks", json!({ "provider": "asana" })).await;
    let page = brought(&app, "tasks", FIRST, &[("Sec-Fetch-Site", "cross-site")]).await;
    is_not_kept(&app, "tasks", &page, "sent-by-web-page").await;

    let id = brought(&app, "tasks", FIRST, &[]).await;
    let file = app.ask("POST", "/api/export", json!({ "ids": [id], "raw": true })).await;
    let content = STANDARD.encode(file["items"][0]["content"].as_str().unwrap());
    let order = json!({ "items": [{ "name": "a.fixture.json", "content_base64": content }] });
    let imported = app.ask("POST", "/api/import", order).await["items"][0]["event_id"].clone();
    is_not_kept(&app, "tasks", imported.as_str().unwrap(), "not-received").await;

    let minutes = |minutes: i64| minutes * 60 * 1_000_000;
    for moved in [minutes(-10) - 1, minutes(60)] {
        let db = rusqlite::Connection::open(app.folder.path().join("inbox.db")).unwrap();
        let raw = hex::decode(id.replace('-', "")).unwrap();
        let now = hookmitt_event::Timestamp::now().as_micros();
        db.execute("UPDATE event SET received_at = ?2 WHERE id = ?1", (raw.clone(), now + moved)).unwrap();
        is_not_kept(&app, "tasks", &id, "offer-over").await;
        db.execute("UPDATE event SET received_at = ?2 WHERE id = ?1", (raw, now)).unwrap();
    }
    assert_eq!(app.event(&id).await["handshake_offer"], "save_secret");
    assert_eq!(saved(&app, &id, json!({})).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_a_delivered_secret_never_takes_the_place_of_another_and_joins_it_by_name_only() {
    let app = App::start().await;
    app.source("tasks", json!({ "provider": "asana" })).await;
    let (first, second) =
        (brought(&app, "tasks", FIRST, &[]).await, brought(&app, "tasks", SECOND, &[]).await);
    // Of two simultaneous clicks, one stores its secret.
    let clicks = tokio::join!(saved(&app, &first, json!({})), saved(&app, &second, json!({})));
    let mut statuses = [clicks.0.0, clicks.1.0];
    statuses.sort_unstable();
    assert_eq!((statuses, secrets(&app, "tasks").await), ([200, 400], vec![json!("default")]));
    let late = if clicks.0.0 == 200 { second } else { first };
    let event = app.event(&late).await;
    assert_eq!(
        (event.get("handshake_offer"), &event["handshake_note"]["code"]),
        (None, &json!("secret_there"))
    );
    assert_eq!(saved(&app, &late, json!({})).await, (400, json!("secret-there")));
    assert_eq!(saved(&app, &late, json!({ "label": "default" })).await, (400, json!("label-taken")));
    let kept = saved(&app, &late, json!({ "label": "second" })).await;
    assert_eq!(kept, (200, json!({ "source": "tasks", "label": "second" })));
    assert_eq!(secrets(&app, "tasks").await.len(), 2);
    // A secret in an environment variable counts, even if the variable is not set.
    app.source("more", json!({ "provider": "asana" })).await;
    app.ask("PUT", "/api/sources/more/secrets/env", json!({ "env": "NOT_SET_ANYWHERE" })).await;
    let id = brought(&app, "more", FIRST, &[]).await;
    assert_eq!(saved(&app, &id, json!({})).await, (400, json!("secret-there")));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_accepting_says_who_sent_the_secret_and_warns_where_there_is_one() {
    let folder = folder();
    let (serve, capture) = serving(folder.path()).await;
    run(folder.path(), &["source", "add", "tasks", "--provider", "asana"]).await.exits(0);
    for secret in [FIRST, SECOND] {
        post(capture, "/tasks", &[("X-Hook-Secret", secret)], b"{}").await;
    }
    let accept = async |arguments: &[&str]| {
        Ran::of(command(folder.path(), &[&["secret", "accept"], arguments].concat())).await
    };
    let ran = accept(&["#1"]).await.exits(0);
    assert!(ran.err.contains("#1 was sent by 127.0.0.1") && !ran.err.contains("warning"), "{}", ran.err);
    let ran = accept(&["#2"]).await.exits(2);
    assert!(ran.err.contains("already has one") && ran.err.contains("--label"), "{}", ran.err);
    let shown = run(folder.path(), &["show", "#2"]).await.exits(0);
    assert!(shown.text().contains("secret accept '#2' --label"), "{}", shown.text());
    let ran = accept(&["#2", "--label", "second"]).await.exits(0);
    assert!(ran.err.contains("warning: tasks already has a secret"), "{}", ran.err);
    assert!(![FIRST, SECOND].iter().any(|secret| ran.err.contains(secret)), "{}", ran.err);
    serve.stop().await.exits(0);
}
