//! Set-up requests of every provider that sends them: sent over a real socket, answered as the provider expects.

use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp};
use hookmitt_stories::{App, LocalServer, Reply, exchange, parse_reply, post, request, signature};
use hookmitt_verify::{PairKind, PublicForm, SignBy, Signing, TestKeyPair, provider, sign};
use serde_json::{Value, json};

use super::handshake_rows::{ROWS, Row};

pub(crate) fn asked(row: &Row) -> Request {
    let mut headers = vec![("Content-Type", "application/json")];
    headers.retain(|_| !row.body.is_empty() && !row.headers.iter().any(|(name, _)| *name == "Content-Type"));
    headers.extend(row.headers);
    let request = Request {
        method: row.method.to_owned(),
        path: String::new(),
        query: row.query.map(str::to_owned),
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(headers).unwrap(),
        body: row.body.into(),
    };
    match (row.secret, provider(row.provider)) {
        (Some(secret), Some(provider)) if row.signed => {
            sign(&SignBy::new(provider, secret.as_bytes(), Timestamp::now()), &request).unwrap()
        }
        _ => request,
    }
}

/// Posts a request to a source, byte for byte except for its Host line, which names the port.
pub(crate) async fn send(app: &App, source: &str, asked: &Request) -> Reply {
    let lines: Vec<_> = asked
        .headers
        .iter()
        .filter(|line| !line.name.eq_ignore_ascii_case("host"))
        .map(|line| (line.name.to_owned(), String::from_utf8_lossy(line.value).into_owned()))
        .collect();
    let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let query = asked.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    let bytes = request(&asked.method, &format!("/{source}{query}"), &lines, &asked.body);
    parse_reply(&exchange(app.capture(), &bytes).await)
}

/// Adds a source for the row's provider, with a target, a secret and params.
pub(crate) async fn source(app: &App, slug: &str, row: &Row) {
    let params: serde_json::Map<_, _> =
        row.params.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    app.source(slug, json!({ "provider": row.provider, "params": params })).await;
    if let Some(secret) = row.secret {
        app.secret(slug, "default", secret).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_provider_hears_what_it_wants_and_the_handler_hears_nothing() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    for (place, row) in ROWS.iter().enumerate() {
        let (slug, what) = (format!("s{place}"), format!("{} {}", row.provider, row.name));
        source(&app, &slug, row).await;
        let reply = send(&app, &slug, &asked(row)).await;
        let (status, headers, body) = row.answer;
        let made = signature(row.secret.unwrap_or_default(), b"a-plain-token");
        let body = body.replace("@hmac:a-plain-token@", &made);
        assert_eq!(
            (reply.status, String::from_utf8_lossy(&reply.body)),
            (status, body.as_str().into()),
            "{what}"
        );
        for (name, value) in headers {
            assert_eq!(reply.header(name), Some(*value), "{what}");
        }
        let event = app.event("last").await;
        assert_eq!((&event["source"], &event["handshake"]), (&json!(slug), &json!(row.name)), "{what}");
        assert_eq!(
            (&event["status"], &event["handshake_answer"]["status"]),
            (&json!("skipped"), &json!(status)),
            "{what}"
        );
        let title = event["title"].as_str().unwrap_or_default();
        assert!(title.ends_with(" answered") || row.provider == "aws_sns", "{what}: {title:?}");
        if row.signed {
            assert_eq!(event["verdict"], "valid", "{what}: {}", event["causes"]);
        }
    }
    assert!(server.seen().is_empty(), "nothing is forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_up_request_whose_signature_is_bad_gets_no_answer_of_its_own() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    for (place, row) in ROWS.iter().filter(|row| row.signed).enumerate() {
        let slug = format!("s{place}");
        source(&app, &slug, &Row { secret: Some("another-secret"), ..*row }).await;
        let reply = send(&app, &slug, &asked(row)).await;
        let event = app.event("last").await;
        assert_eq!(
            (&event["verdict"], &event["status"]),
            (&json!("invalid"), &json!("skipped")),
            "{}",
            row.provider
        );
        assert!(event["handshake_answer"].is_null(), "{}", row.provider);
        let title = event["title"].as_str().unwrap_or_default();
        assert!(title.ends_with(" not answered"), "{}: {title:?}", row.provider);
        match row.provider {
            "xero" => assert_eq!((reply.status, reply.body.len()), (401, 0)),
            "slack" => assert_eq!((reply.status, reply.body.len()), (200, 0), "its users would read it"),
            _ => {
                assert_eq!((reply.status, &reply.json()["received"]), (200, &json!(true)), "{}", row.provider)
            }
        }
    }
    assert!(server.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verify_token_of_somebody_else_is_refused_and_the_event_kept() {
    let app = App::start().await;
    app.source("fb", json!({ "provider": "meta", "params": { "verify_token": "mine" } })).await;
    for query in
        ["hub.mode=subscribe&hub.challenge=1&hub.verify_token=other", "hub.mode=subscribe&hub.challenge=1"]
    {
        let bytes = request("GET", &format!("/fb?{query}"), &[], b"");
        let reply = parse_reply(&exchange(app.capture(), &bytes).await);
        assert_eq!((reply.status, reply.header("content-type")), (403, Some("application/problem+json")));
        let event = app.event("last").await;
        assert_eq!((&event["handshake"], &event["query"]), (&json!("hub.challenge"), &json!(query)));
        assert_eq!(
            (&event["handshake_answer"]["status"], &event["title"]),
            (&json!(403), &json!("challenge refused"))
        );
        let cause = &event["causes"][0];
        assert_eq!((&cause["code"], event["causes"].as_array().unwrap().len()), (&json!("set_up_token"), 1));
        let (said, fix) = (cause["message"].as_str().unwrap(), cause["fix"].as_str().unwrap());
        assert!(said.contains("isn't the verify_token that is set for fb"), "{said}");
        assert!(fix.contains("hookmitt source edit fb --param verify_token="), "{fix}");
    }
}

/// Returns the header lines of a request as Discord signs it.
pub(crate) fn discord(pair: &TestKeyPair, body: &str) -> Vec<(&'static str, String)> {
    let at = Timestamp::now().as_seconds().to_string();
    let made = pair.sign(Signing::Ed25519, format!("{at}{body}").as_bytes()).unwrap();
    vec![("X-Signature-Ed25519", hex::encode(made)), ("X-Signature-Timestamp", at)]
}

#[tokio::test(flavor = "multi_thread")]
async fn discord_gets_its_pong_and_401_for_what_it_signs_wrongly_on_purpose() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("bot", json!({ "provider": "discord" })).await;
    app.target(Some("bot"), &server.url(), json!({})).await;
    let (own, other) = (
        TestKeyPair::generate(PairKind::Ed25519).unwrap(),
        TestKeyPair::generate(PairKind::Ed25519).unwrap(),
    );
    app.secret("bot", "default", &own.public(PublicForm::Hex).unwrap()).await;
    let interaction = r#"{"application_id":"1","id":"2","type":1,"version":1}"#;
    let ping = r#"{"application_id":"1","type":0,"version":1}"#;
    for (body, pair, status, answer) in [
        (interaction, &own, 200, r#"{"type":1}"#),
        (ping, &own, 204, ""),
        (interaction, &other, 401, ""),
        (ping, &other, 401, ""),
    ] {
        let headers = discord(pair, body);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let reply = post(app.capture(), "/bot", &headers, body.as_bytes()).await;
        assert_eq!((reply.status, String::from_utf8_lossy(&reply.body)), (status, answer.into()), "{body}");
        let event = app.event("last").await;
        let verdict = if status == 401 { "invalid" } else { "valid" };
        assert_eq!((&event["verdict"], &event["status"]), (&json!(verdict), &json!("skipped")));
    }
    assert_eq!(
        post(app.capture(), "/bot", &[], interaction.as_bytes()).await.status,
        401,
        "not signed at all"
    );
    assert_eq!(app.events().await.len(), 5, "every one is kept");
    assert!(server.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivered_secret_is_kept_on_a_click_and_verifies_from_then_on() {
    let app = App::start().await;
    app.source("tasks", json!({ "provider": "asana" })).await;
    let secret = "b537207f20cbfa02357cf448134da559";
    let body = r#"{"events":[{"action":"changed","resource":{"gid":"1","resource_type":"task"}}]}"#;
    let offers = post(app.capture(), "/tasks", &[("X-Hook-Secret", secret)], b"{}").await.json();
    assert_eq!(offers, Value::Null, "an empty body");
    let first = app.event("last").await;
    assert_eq!(first["handshake_offer"], "save_secret");
    let signed = signature(secret, body.as_bytes());
    post(app.capture(), "/tasks", &[("X-Hook-Signature", &signed)], body.as_bytes()).await;
    assert_eq!(app.event("last").await["verdict"], "no_secret");
    let path = format!("/api/events/{}/save-secret", first["id"].as_str().unwrap());
    let saved = app.ask("POST", &path, json!({})).await;
    assert_eq!(saved, json!({ "source": "tasks", "label": "default" }));
    app.until("last", "it is judged anew", |event| event["verdict"] == "valid").await;
    assert!(app.event("#1").await.get("handshake_offer").is_none(), "it is kept");
    assert_eq!(app.ask("POST", &path, json!({})).await, saved, "twice is no harm");
    let page = app.ask("GET", "/api/events", Value::Null).await["items"][1].clone();
    assert!(page.get("handshake_offer").is_none() && !page["handshake_answer"].to_string().contains(secret));
    // The next webhook brings another secret.
    post(app.capture(), "/tasks", &[("X-Hook-Secret", "0000000000000000000000000000aaaa")], b"{}").await;
    let path = format!("/api/events/{}/save-secret", app.event("last").await["id"].as_str().unwrap());
    let refused = app.call("POST", &path, json!({})).await;
    assert_eq!((refused.0, &refused.1["code"]), (400, &json!("secret-there")));
    assert_eq!(app.ask("POST", &path, json!({ "label": "second" })).await["label"], "second");
    let none = app.call("POST", "/api/events/%232/save-secret", json!({})).await;
    assert_eq!((none.0, &none.1["code"]), (400, &json!("no-delivered-secret")));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_only_a_genuine_request_s_own_provider_is_called_to_confirm() {
    let app = App::start().await;
    app.source("sns", json!({ "provider": "aws_sns", "confirm": true })).await;
    let body = json!({
        "Type": "SubscriptionConfirmation", "MessageId": "1", "Token": "t", "TopicArn": "arn:aws:sns:us-east-1:1:t",
        "Message": "m", "SubscribeURL": "https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription",
        "Timestamp": "2026-01-01T00:00:00.000Z", "SignatureVersion": "2", "Signature": "AAAA",
        "SigningCertURL": "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem",
    });
    let headers = [("x-amz-sns-message-type", "SubscriptionConfirmation")];
    post(app.capture(), "/sns", &headers, body.to_string().as_bytes()).await;
    let event = app.event("last").await;
    assert_eq!(event["handshake"], "SubscriptionConfirmation");
    assert!(event.get("handshake_offer").is_none(), "it isn't known to be genuine: {event}");
    let refused = app.call("POST", "/api/events/last/confirm", Value::Null).await;
    assert_eq!((refused.0, &refused.1["code"]), (400, &json!("not-genuine")));
    app.github("gh", "d1", None, "{}").await;
    let none = app.call("POST", "/api/events/last/confirm", Value::Null).await;
    assert_eq!((none.0, &none.1["code"]), (400, &json!("nothing-to-confirm")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_up_request_that_proves_nothing_says_what_is_missing_and_blames_nobody() {
    let app = App::start().await;
    app.source("fb", json!({ "provider": "meta" })).await;
    app.source("meet", json!({ "provider": "zoom" })).await;
    let asked = request("GET", "/fb?hub.mode=subscribe&hub.challenge=1&hub.verify_token=t", &[], b"");
    assert_eq!(parse_reply(&exchange(app.capture(), &asked).await).status, 200);
    let event = app.event("last").await;
    let cause = &event["causes"][0];
    assert_eq!((&event["verdict"], &cause["code"]), (&json!("unsigned"), &json!("set_up_unsigned")));
    let told = format!("{} {}", cause["message"].as_str().unwrap(), cause["fix"].as_str().unwrap());
    assert!(told.contains("Meta never signs this set-up request"), "{told}");
    assert!(told.contains("Nothing to fix") && told.contains("--param verify_token="), "{told}");

    let validation = br#"{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}"#;
    for headers in [&[][..], &[("x-zm-signature", "v0=00"), ("x-zm-request-timestamp", "1")][..]] {
        post(app.capture(), "/meet", headers, validation).await;
        let event = app.event("last").await;
        let causes = event["causes"].as_array().unwrap();
        assert_eq!((causes.len(), &causes[0]["code"]), (1, &json!("set_up_no_secret")), "{causes:?}");
        assert!(causes[0]["fix"].as_str().unwrap().contains("`hookmitt secret set meet`"), "{causes:?}");
        assert!(!causes[0].to_string().contains("someone else"), "{causes:?}");
    }
    let explained = app.ask("GET", "/api/events/last/explanation", serde_json::Value::Null).await;
    assert_eq!(explained["causes"][0]["code"], "set_up_no_secret", "the explanation says the same");
}
