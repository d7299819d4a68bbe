//! An unproved event passes no source that rejects, and owns no key where events can be proved (Threat 6, promise 5).

use hookmitt_event::{Request, Timestamp};
use hookmitt_stories::{App, LocalServer, ProviderHost, Reply, post, signature};
use hookmitt_verify::{PairKind, PublicForm, SignBy, TestKeyPair, provider, sample, sign};
use serde_json::{Value, json};

use super::handshakes::send;

const HOST: &str = "sns.eu-central-1.amazonaws.com";
const TOPIC: &str = "arn:aws:sns:eu-central-1:123456789012:greenhouse-alarms";
const REJECTED: &str = "its signature was rejected";
const WAITS: &str = "waits for its verdict";

/// Starts an app with the source of an Amazon topic; `host` publishes Amazon's keys.
async fn topic(host: &ProviderHost, on_invalid: &str) -> (App, LocalServer) {
    let (app, server) = (App::start_reaching(host.network()).await, LocalServer::start().await);
    let params = json!({ "topic_arn": TOPIC });
    app.source("alarms", json!({ "provider": "aws_sns", "params": params, "on_invalid": on_invalid })).await;
    app.target(Some("alarms"), &server.url(), json!({})).await;
    (app, server)
}

/// Returns a host that will publish the pair's public half.
fn amazon(pair: &TestKeyPair) -> ProviderHost {
    let host = ProviderHost::start(HOST);
    host.publishes(&pair.public(PublicForm::Pem).unwrap());
    host
}

fn pair() -> TestKeyPair {
    TestKeyPair::generate(PairKind::Rsa).unwrap()
}

/// Returns a message with this id, signed as Amazon signs it.
fn message(pair: &TestKeyPair, id: &str, text: &str) -> Request {
    let (amazon, now) = (provider("aws_sns").unwrap(), Timestamp::now());
    let mut made = sample(amazon, Some("Notification"), id, now).unwrap();
    let mut body: Value = serde_json::from_slice(&made.body).unwrap();
    body["Message"] = text.into();
    made.body = body.to_string().into();
    sign(&SignBy::new(amazon, pair.private_pem().as_bytes(), now), &made).unwrap()
}

async fn caught(app: &App, request: &Request) -> (Reply, Value) {
    let reply = send(app, "alarms", request).await;
    let event = app.event(reply.header("x-hookmitt-event-id").unwrap()).await;
    (reply, event)
}

fn id(event: &Value) -> &str {
    event["id"].as_str().unwrap()
}

fn held(event: &Value) -> (&Value, &Value, &Value) {
    (&event["verdict"], &event["status"], &event["deliveries"][0]["last_error"])
}

async fn judged(app: &App, event: &Value, verdict: &str) -> Value {
    app.until(id(event), verdict, |event| event["verdict"] == verdict).await
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_a_rejecting_source_forwards_nothing_before_its_verdict() {
    let pair = pair();
    let host = amazon(&pair);
    let (app, server) = topic(&host, "reject").await;
    let unpublished = host.holds();
    let (reply, event) = caught(&app, &message(&pair, "1", "hot")).await;
    assert_eq!(reply.status, 200, "it may be genuine: answered as usual");
    assert_eq!(held(&event), (&json!("pending"), &json!("skipped"), &json!(WAITS)));
    app.ask("POST", &format!("/api/events/{}/retry", id(&event)), Value::Null).await;
    assert!(server.seen().is_empty(), "and no retry sends it before");
    drop(unpublished);
    app.status(id(&event), "completed").await;
    let seen = server.wait_for(1).await;
    assert_eq!(seen[0].header("x-hookmitt-verdict").as_deref(), Some("valid"));
    // The key is known now, so a signature by another key is invalid at once.
    let (reply, forged) = caught(&app, &message(&self::pair(), "2", "hot")).await;
    assert_eq!(reply.status, 401);
    assert_eq!(held(&forged), (&json!("invalid"), &json!("skipped"), &json!(REJECTED)));
    let (_, genuine) = caught(&app, &message(&pair, "2", "hot")).await;
    assert_eq!((&genuine["duplicate_of"], &genuine["conflict"]), (&Value::Null, &json!(false)));
    app.status(id(&genuine), "completed").await;
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_of_several_that_wait_the_genuine_one_is_delivered_once() {
    let pair = pair();
    let host = amazon(&pair);
    let (app, server) = topic(&host, "reject").await;
    let unpublished = host.holds();
    let (_, forged) = caught(&app, &message(&self::pair(), "1", "forged")).await;
    let hot = message(&pair, "1", "hot");
    let ((_, genuine), (_, repeat)) = (caught(&app, &hot).await, caught(&app, &hot).await);
    assert!([&forged, &genuine, &repeat].iter().all(|event| event["verdict"] == "pending"));
    drop(unpublished);
    let forged = judged(&app, &forged, "invalid").await;
    assert_eq!(held(&forged), (&json!("invalid"), &json!("skipped"), &json!(REJECTED)));
    let (genuine, repeat) = (judged(&app, &genuine, "valid").await, judged(&app, &repeat, "valid").await);
    let first = if repeat["duplicate_of"].is_null() { &repeat } else { &genuine };
    let second = if repeat["duplicate_of"].is_null() { &genuine } else { &repeat };
    assert_eq!((&second["duplicate_of"], &second["conflict"]), (&first["id"], &json!(false)));
    let words = "a duplicate of an event that this target has or gets";
    assert_eq!(held(second), (&json!("valid"), &json!("skipped"), &json!(words)));
    app.status(id(first), "completed").await;
    let (_, late) = caught(&app, &hot).await;
    assert_eq!((&late["duplicate_of"], &late["status"]), (&first["id"], &json!("skipped")));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_what_waited_when_hookmitt_ended_is_judged_and_delivered_by_the_next() {
    let pair = pair();
    let host = amazon(&pair);
    let (app, server) = topic(&host, "reject").await;
    let unpublished = host.holds();
    let (_, event) = caught(&app, &message(&pair, "1", "hot")).await;
    assert_eq!(held(&event), (&json!("pending"), &json!("skipped"), &json!(WAITS)));
    let folder = app.stop().await;
    assert!(server.seen().is_empty());
    drop(unpublished);
    let app = App::start_with(folder, host.network()).await;
    app.status(id(&event), "completed").await;
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_records_delivers_what_waits_for_its_verdict() {
    let pair = pair();
    let host = amazon(&pair);
    let (app, server) = topic(&host, "record").await;
    let unpublished = host.holds();
    let (_, event) = caught(&app, &message(&pair, "1", "hot")).await;
    app.status(id(&event), "completed").await;
    assert_eq!(server.seen()[0].header("x-hookmitt-verdict").as_deref(), Some("pending"));
    drop(unpublished);
    judged(&app, &event, "valid").await;
    let (_, repeat) = caught(&app, &message(&pair, "1", "hot")).await;
    assert_eq!(repeat["duplicate_of"], event["id"], "it took its key when it became valid");
}

/// A request that proves nothing to a source with these settings: settings, secret, header lines, verdict.
type Unproved = (&'static str, Option<&'static str>, &'static [(&'static str, &'static str)], &'static str);

const UNPROVED: [Unproved; 7] = [
    // PayPal's event without a signature; the webhook id makes its published keys apply.
    (r#"{"provider":"paypal","params":{"webhook_id":"1AB23456CD789012E"}}"#, None, &[], "unsigned"),
    (
        r#"{"params":{"webhook_id":"1AB23456CD789012E"}}"#,
        None,
        &[("PAYPAL-TRANSMISSION-ID", "1")],
        "unsigned",
    ),
    (r#"{"provider":"github"}"#, Some("hush"), &[("X-GitHub-Delivery", "1")], "unsigned"),
    (r#"{"provider":"github"}"#, Some("hush"), &[("X-Hub-Signature-256", "sha256=00")], "invalid"),
    // No provider is set, so the sender chooses by whose rules the event is verified.
    ("{}", Some("hush"), &[("Plaid-Verification", "e30.e30.e30")], "unsupported"),
    ("{}", Some("hush"), &[("X-PagerDuty-Signature", "v1=00")], "invalid"),
    ("{}", Some("hush"), &[], "unsigned"),
];

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_what_proves_nothing_owns_no_key_and_passes_no_source_that_rejects() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    for (place, (settings, secret, lines, verdict)) in UNPROVED.into_iter().enumerate() {
        for on_invalid in ["reject", "record"] {
            let slug = format!("s{place}-{on_invalid}");
            let mut settings: Value = serde_json::from_str(settings).unwrap();
            settings["on_invalid"] = on_invalid.into();
            app.source(&slug, settings).await;
            if let Some(secret) = secret {
                app.secret(&slug, "main", secret).await;
            }
            let body = br#"{"id":"WH-1","event_type":"x"}"#;
            let reply = post(app.capture(), &format!("/{slug}"), lines, body).await;
            let event = app.event("last").await;
            assert_eq!(event["verdict"], verdict, "{slug}: {event}");
            if on_invalid == "record" {
                app.status(id(&event), "completed").await;
            } else {
                assert_eq!(reply.status, 401, "{slug}");
                assert_eq!(held(&event), (&json!(verdict), &json!("skipped"), &json!(REJECTED)), "{slug}");
                app.ask("POST", "/api/events/last/retry", Value::Null).await;
            }
            post(app.capture(), &format!("/{slug}"), lines, body).await;
            assert_eq!(app.event("last").await["duplicate_of"], Value::Null, "{slug}: nobody owns the key");
        }
    }
    server.wait_for(2 * UNPROVED.len()).await;
    app.ask("POST", "/api/sources", json!({ "slug": "end" })).await;
    post(app.capture(), "/end", &[], b"").await;
    app.status("last", "completed").await;
    assert_eq!(server.seen().len(), 2 * UNPROVED.len() + 1, "only what sources that record got");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_a_rejecting_source_with_nothing_to_verify_by_withholds_all_and_says_what_is_missing() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    let missing = [
        (json!({}), "no secret is set", "hookmitt secret set"),
        (json!({ "provider": "github" }), "no secret is set", "hookmitt secret set"),
        (json!({ "provider": "paypal" }), "without webhook_id", "--param webhook_id="),
        (json!({ "provider": "aws_sns" }), "without topic_arn", "--param topic_arn="),
    ];
    for (place, (mut settings, why, fix)) in missing.into_iter().enumerate() {
        let slug = format!("s{place}");
        settings["on_invalid"] = "reject".into();
        app.source(&slug, settings).await;
        let signed = format!("sha256={}", signature("hush", b"{}"));
        let lines = [("X-Hub-Signature-256", signed.as_str()), ("X-GitHub-Event", "push")];
        let reply = post(app.capture(), &format!("/{slug}"), &lines, b"{}").await;
        assert_eq!(reply.status, 401, "{slug}");
        assert_eq!(app.event("last").await["status"], "skipped", "{slug}");
        let source = app.ask("GET", &format!("/api/sources/{slug}"), Value::Null).await;
        let lacks = &source["lacks"];
        assert!(lacks["message"].as_str().unwrap().contains(why), "{lacks}");
        assert!(lacks["fix"].as_str().unwrap().contains(fix), "{lacks}");
        let doctor = app.ask("GET", "/api/doctor", Value::Null).await;
        let told = doctor["checks"].as_array().unwrap().iter();
        assert!(
            told.clone().any(|check| check["message"] == lacks["message"] && check["ok"] == false),
            "{doctor}"
        );
    }
    assert!(server.seen().is_empty());
    app.secret("s1", "main", "hush").await;
    let source = app.ask("GET", "/api/sources/s1", Value::Null).await;
    assert_eq!(source["lacks"], Value::Null);
    app.github("s1", "1", Some("hush"), "{}").await;
    app.status("last", "completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_what_waits_for_its_target_is_withheld_once_its_source_rejects() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("hub", json!({ "provider": "github" })).await;
    app.secret("hub", "main", "hush").await;
    let target = app.target(Some("hub"), &server.url(), json!({})).await;
    app.ask("PATCH", &format!("/api/targets/{target}"), json!({ "paused": true })).await;
    let forged = app.github("hub", "1", Some("guess"), "{}").await.json();
    let genuine = app.github("hub", "2", Some("hush"), "{}").await.json();
    app.ask("PATCH", "/api/sources/hub", json!({ "on_invalid": "reject" })).await;
    app.ask("PATCH", &format!("/api/targets/{target}"), json!({ "paused": false })).await;
    app.status(id(&genuine), "completed").await;
    let forged = app.event(id(&forged)).await;
    assert_eq!(held(&forged), (&json!("invalid"), &json!("skipped"), &json!(REJECTED)));
    assert_eq!(server.seen().len(), 1);
}
