//! Threat 11: signatures made here with an owner's secret are in no file; those of a public test secret may be.

use hookmitt_event::Timestamp;
use hookmitt_fixture::Fixture;
use hookmitt_stories::{App, LocalServer, Ran};
use hookmitt_verify::{Inquiry, Secret, judge, provider, test_secret};
use serde_json::{Value, json};

use super::listen::{command, folder, run, serving};

const OWN: &str = "a-secret-that-production-uses";

async fn exported(app: &App, id: &str) -> Value {
    app.ask("POST", "/api/export", json!({ "ids": [id], "raw": true })).await["items"][0].clone()
}

/// Returns every value of a header line, where a signature could be.
fn texts(fixture: &Fixture) -> Vec<String> {
    let lines = fixture.request.headers.iter();
    lines.map(|line| String::from_utf8_lossy(line.value).into_owned()).collect()
}

/// Checks that the event's file has a genuine signature by the public test secret instead of the event's own.
async fn leaves_signed_anew(app: &App, id: &str) {
    let event = app.event(id).await;
    assert_eq!(event["verdict"], "valid", "{event}");
    let file = exported(app, id).await;
    let fixture = Fixture::parse(file["content"].as_str().unwrap().as_bytes()).unwrap();
    let of = provider(fixture.provider.as_deref().unwrap()).unwrap();
    let test = test_secret(of);
    assert_eq!((fixture.test_secret.as_deref(), &file["signed_anew"]), (Some(test.name), &json!(test.name)));
    let secrets = |value: &str| [Secret::new("default", value.as_bytes().to_vec())];
    let verdict = |secrets: &[Secret]| {
        let request = fixture.to_request();
        let inquiry = Inquiry {
            request: &request,
            url: Some(&fixture.url),
            provider: Some(of),
            generic: None,
            scheme: None,
            secrets,
            tolerance: None,
            at: fixture.received_at,
            params: &[],
            published: None,
        };
        judge(&inquiry).verdict.to_string()
    };
    assert_eq!(
        (verdict(&secrets(test.value)), verdict(&secrets(OWN))),
        ("valid".to_owned(), "invalid".to_owned())
    );
    let kept: Vec<String> = event["headers"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|line| line[0].as_str().unwrap().to_ascii_lowercase().contains("signature"))
        .map(|line| line[1].as_str().unwrap().to_owned())
        .collect();
    assert!(texts(&fixture).iter().all(|text| !kept.contains(text) && !text.contains(OWN)), "{kept:?}");
}

async fn replayed(app: &App, id: &str, edit: Value) -> String {
    let sent = app.ask("POST", &format!("/api/events/{id}/replay"), edit).await;
    sent["items"][0]["event_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_what_was_signed_here_with_a_secret_of_the_owner_s_leaves_signed_anew() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    for (id, header) in [
        ("github", "X-GitHub-Event"),
        ("stripe", "Stripe-Signature"),
        ("telegram", "X-Telegram-Bot-Api-Secret-Token"),
    ] {
        app.source(id, json!({ "provider": id })).await;
        app.secret(id, "default", OWN).await;
        // A stranger's event, re-signed, and then edited.
        let forged = app.catch(id, &[(header, "push")], r#"{"forged":true}"#).await;
        let resigned = replayed(&app, &forged, json!({ "to": server.url(), "resign": true })).await;
        leaves_signed_anew(&app, &resigned).await;
        let edit = json!({ "to": server.url(), "headers": [["X-More", "1"]] });
        leaves_signed_anew(&app, &replayed(&app, &resigned, edit).await).await;
        // Samples: sent to a server, and to our own port, where they arrive like the provider's events.
        app.ask("POST", "/api/send", json!({ "provider": id, "to": server.url() })).await;
        let sent = app.event("last").await;
        assert_eq!(sent["via"], "send");
        leaves_signed_anew(&app, sent["id"].as_str().unwrap()).await;
        let to = format!("http://{}/{id}", app.capture());
        app.ask("POST", "/api/send", json!({ "provider": id, "to": to })).await;
        let caught = app.event("last").await;
        assert_eq!(caught["via"], "direct");
        leaves_signed_anew(&app, caught["id"].as_str().unwrap()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_what_is_captured_or_signed_with_a_test_secret_leaves_as_it_is() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    let id = app.github("gh", "d1", Some(OWN), "{}").await.json()["id"].as_str().unwrap().to_owned();
    let file = exported(&app, &id).await;
    assert_eq!(file["signed_anew"], Value::Null);
    let signature = |file: &Value| {
        let fixture = Fixture::parse(file["content"].as_str().unwrap().as_bytes()).unwrap();
        (fixture.request.headers.get_str("x-hub-signature-256").map(str::to_owned), fixture.test_secret)
    };
    let header = async |id: &str| {
        let event = app.event(id).await;
        let lines = event["headers"].as_array().unwrap().clone();
        let line =
            lines.iter().find(|line| line[0].as_str().unwrap().eq_ignore_ascii_case("x-hub-signature-256"));
        line.map(|line| line[1].as_str().unwrap().to_owned())
    };
    assert_eq!(signature(&file), (header(&id).await, None), "the provider's, to the byte");
    // Edited without being re-signed, the event has the provider's signature.
    let edited = replayed(&app, &id, json!({ "to": server.url(), "set": { "/a": 1 } })).await;
    assert_eq!(signature(&exported(&app, &edited).await), (header(&id).await, None));
    let resigned = replayed(&app, &id, json!({ "to": server.url(), "resign": true })).await;
    let file = exported(&app, &resigned).await;
    let name = test_secret(provider("github").unwrap()).name.to_owned();
    assert_eq!(signature(&file), (header(&resigned).await, Some(name)));
    assert_eq!(file["signed_anew"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_what_an_earlier_version_signed_leaves_signed_anew_too() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("github", json!({ "provider": "github" })).await;
    app.secret("github", "default", OWN).await;
    app.ask("POST", "/api/send", json!({ "provider": "github", "to": server.url() })).await;
    let id = app.event("last").await["id"].as_str().unwrap().to_owned();
    let db = rusqlite::Connection::open(app.folder.path().join("inbox.db")).unwrap();
    db.execute("UPDATE event SET signed_with = NULL", ()).unwrap();
    leaves_signed_anew(&app, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_a_signature_that_can_t_be_made_anew_stays_here() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    let own = json!({ "signature_header": "X-Sig", "signed_content": "{body}" });
    app.source("own", json!({ "generic": own })).await;
    app.secret("own", "default", OWN).await;
    let id = app.catch("own", &[], "{}").await;
    let resigned = replayed(&app, &id, json!({ "to": server.url(), "resign": true })).await;
    let file = exported(&app, &resigned).await;
    assert!(file["signed_anew"].is_string() && !file["content"].as_str().unwrap().contains(OWN), "{file}");
    let other = json!({ "signature_header": "X-Other", "signed_content": "{body}" });
    app.ask("PATCH", "/api/sources/own", json!({ "generic": other })).await;
    let order = json!({ "ids": [resigned], "raw": true });
    let (status, problem) = app.call("POST", "/api/export", order).await;
    assert_eq!((status, &problem["code"]), (400, &json!("own-signature")), "{problem}");

    // Of several events, the others are written.
    let (data, out) = (app.stop().await, folder());
    let set = out.path().join("set");
    let typed = ["export", "--where", "source:own", "--raw", "-o", set.to_str().unwrap()];
    let ran = run(data.path(), &typed).await.exits(1);
    assert!(ran.err.contains("#2 was signed here") && ran.err.contains("wrote 1 file:"), "{}", ran.err);
    assert_eq!(std::fs::read_dir(&set).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_the_command_line_says_what_it_signed_anew() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let (serve, _) = serving(folder.path()).await;
    Ran::with_input(command(folder.path(), &["secret", "set", "github"]), OWN.as_bytes()).await.exits(0);
    run(folder.path(), &["send", "github", "--to", &server.url()]).await.exits(0);
    let ran = run(folder.path(), &["export", "last", "--raw"]).await.exits(0);
    let test = test_secret(provider("github").unwrap()).name;
    assert!(ran.err.contains("re-signed") && ran.err.contains(test), "{}", ran.err);
    let own = server.seen()[0].header("x-hub-signature-256").unwrap().to_owned();
    assert!(!ran.text().contains(&own) && ran.text().contains(test), "{}", ran.text());
    assert!(Fixture::parse(&ran.out).unwrap().received_at <= Timestamp::now());
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_the_signature_that_would_be_right_is_shown_to_the_owner_alone() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    app.source("gh", json!({ "provider": "github" })).await;
    app.source("strict", json!({ "provider": "github", "on_invalid": "reject" })).await;
    let mut told = String::new();
    for slug in ["gh", "strict"] {
        app.secret(slug, "default", OWN).await;
        let reply = app.github(slug, "d1", Some("another"), r#"{"forged":true}"#).await;
        told.push_str(&format!("{:?} {}", reply, String::from_utf8_lossy(&reply.body)));
    }
    app.until("#1", "it is explained", |event| event["causes"][0]["title"].is_string()).await;
    app.status("#1", "completed").await;
    let explained = app.ask("GET", "/api/events/%231/explanation", Value::Null).await;
    let expected = hookmitt_stories::signature(OWN, br#"{"forged":true}"#);
    assert_eq!(explained["expected"], format!("sha256={expected}"), "the owner sees it");
    for id in ["#1", "#2"] {
        told.push_str(&app.event(id).await.to_string());
        told.push_str(&exported(&app, id).await.to_string());
    }
    told.push_str(&app.ask("GET", "/api/events", Value::Null).await.to_string());
    told.push_str(&server.seen().iter().map(|seen| seen.head().to_owned()).collect::<String>());
    assert!(!told.contains(&expected), "{told}");
}
