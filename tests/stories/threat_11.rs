//! Threat 11, the confused signer: nobody gets a text of his choice signed with a source's secret.
//!
//! `threat_11_places.rs` lists every place that computes with a secret; these stories test what each may do.

use hookmitt_stories::{App, Reply, exchange, parse_reply, post, request, signature};
use serde_json::{Value, json};

use super::tunnel;

const SECRET: &str = "whsec_the-secret-of-the-source";

/// Texts that would forge a provider's event if they were signed with its secret, and some that look harmless.
const TEXTS: [&str; 9] = [
    "a-plain-token",
    "1700000000.{\"type\":\"invoice.paid\"}",
    "{\"action\":\"opened\"}",
    "v0:1700000000:payload=%7B%7D",
    "msg_1.1700000000.{}",
    "eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJ4In0",
    "1700000000.x",
    "17000000000123456789abcdef",
    "true",
];

fn validation(token: &str) -> String {
    json!({ "event": "endpoint.url_validation", "payload": { "plainToken": token }, "event_ts": 1 })
        .to_string()
}

/// Returns the header lines of a validation request as Zoom signs it.
fn by_zoom(secret: &str, body: &str) -> [(&'static str, String); 2] {
    let made = signature(secret, format!("v0:1700000000:{body}").as_bytes());
    [("x-zm-request-timestamp", "1700000000".to_owned()), ("x-zm-signature", format!("v0={made}"))]
}

async fn posted(app: &App, slug: &str, headers: &[(&str, String)], body: &str) -> Reply {
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    post(app.capture(), &format!("/{slug}"), &headers, body.as_bytes()).await
}

async fn got(app: &App, target: &str, headers: &[(&str, &str)]) -> Reply {
    parse_reply(&exchange(app.capture(), &request("GET", target, headers, b"")).await)
}

/// Checks that the answer is the source's own, and that nothing computed with a secret is stored with the event.
async fn nothing_is_signed(app: &App, reply: &Reply, text: &str) {
    let answer = String::from_utf8_lossy(&reply.body).into_owned();
    assert_eq!(reply.json()["received"], json!(true), "{text:?} was answered {answer}");
    let event = app.event("last").await;
    assert_eq!(event.get("handshake_answer"), None, "{text:?}: {event}");
    let made = signature(SECRET, text.as_bytes());
    assert!(!format!("{reply:?}{answer}{event}").contains(&made), "{text:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_nothing_is_signed_for_a_source_whose_provider_is_not_set() {
    let app = App::start().await;
    app.source("plain", json!({})).await;
    app.source("shop", json!({ "provider": "stripe" })).await;
    app.source("own", json!({ "generic": { "signature_header": "X-Sig", "signed_content": "{body}" } }))
        .await;
    app.catch("found", &[], "{}").await; // created by its first request
    for slug in ["plain", "shop", "own", "found"] {
        app.secret(slug, "default", SECRET).await;
        for text in TEXTS {
            let body = validation(text);
            nothing_is_signed(&app, &posted(&app, slug, &[], &body).await, text).await;
            let signed = by_zoom(SECRET, &body);
            nothing_is_signed(&app, &posted(&app, slug, &signed, &body).await, text).await;
        }
        let challenge = "0123456789abcdef0123456789abcdef";
        let reply = got(&app, &format!("/{slug}?bt_challenge={challenge}"), &[]).await;
        nothing_is_signed(&app, &reply, challenge).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_nothing_is_signed_for_a_request_that_its_provider_did_not_sign() {
    let app = App::start().await;
    app.source("zoom", json!({ "provider": "zoom" })).await;
    app.secret("zoom", "default", SECRET).await;
    for text in TEXTS {
        let body = validation(text);
        let other = by_zoom("another", &body);
        let of_other_body = by_zoom(SECRET, "{}");
        let [at, _] = by_zoom(SECRET, &body);
        for headers in [&[][..], &other, &of_other_body, &[at]] {
            nothing_is_signed(&app, &posted(&app, "zoom", headers, &body).await, text).await;
        }
    }
    // An own scheme that doesn't cover the challenge proves nothing about it.
    let own = json!({ "signature_header": "X-Sig", "signed_content": "{/event_ts}" });
    app.source("own", json!({ "provider": "zoom", "generic": own })).await;
    app.secret("own", "default", SECRET).await;
    let sent_before = [("X-Sig", signature(SECRET, b"1"))];
    let reply = posted(&app, "own", &sent_before, &validation("a-plain-token")).await;
    assert_eq!(app.event("last").await["verdict"], "valid");
    nothing_is_signed(&app, &reply, "a-plain-token").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_only_a_challenge_is_signed_and_with_the_secret_that_fits() {
    let app = App::start().await;
    app.source("zoom", json!({ "provider": "zoom" })).await;
    app.secret("zoom", "another", "another-secret").await;
    app.secret("zoom", "default", SECRET).await;
    for text in TEXTS.into_iter().skip(1).chain(["", " a", "a/b", &"a".repeat(129)]) {
        let body = validation(text);
        let reply = posted(&app, "zoom", &by_zoom(SECRET, &body), &body).await;
        assert_eq!(app.event("last").await["verdict"], "valid", "{text:?}");
        nothing_is_signed(&app, &reply, text).await;
    }
    for text in ["a-plain-token", "qgg8vlvZRS6UYooatFL8Aw", "A_b.c~d-9", &"a".repeat(128)] {
        let body = validation(text);
        let reply = posted(&app, "zoom", &by_zoom(SECRET, &body), &body).await;
        let made = signature(SECRET, text.as_bytes());
        assert_eq!(reply.json(), json!({ "plainToken": text, "encryptedToken": made }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_braintree_s_challenge_is_hex_and_no_web_page_s() {
    let app = App::start().await;
    app.source("pay", json!({ "provider": "braintree", "params": { "public_key_id": "key" } })).await;
    app.secret("pay", "default", "a-private-key-of-ours").await;
    let short = "0123456789abcdef012";
    let long = "0123456789abcdef0123456789abcdef0";
    for text in
        [short, long, "0123456789ABCDEF0123", "0123456789abcdef012%0A", "PG4%2BPC9uPg%3D%3D", "1700000000.x"]
    {
        let reply = got(&app, &format!("/pay?bt_challenge={text}"), &[]).await;
        nothing_is_signed(&app, &reply, text).await;
    }
    let challenge = "/pay?bt_challenge=0123456789abcdef0123456789abcdef";
    let page = [("Sec-Fetch-Site", "cross-site")];
    nothing_is_signed(&app, &got(&app, challenge, &page).await, "a page's").await;
    let reply = got(&app, challenge, &[]).await;
    assert_eq!(&reply.body[..], b"key|8bebad551dd1e258e27dd8fdf176c47b2e344526");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_a_relay_gets_no_more_signed_than_the_capture_port() {
    let set = tunnel::set(&[]).await;
    set.app.source("plain", json!({})).await;
    set.app.source("zoom", json!({ "provider": "zoom" })).await;
    for slug in ["plain", "zoom"] {
        set.app.secret(slug, "default", SECRET).await;
    }
    let body = validation("a-plain-token");
    let signed = by_zoom(SECRET, &body);
    let signed: Vec<_> = signed.iter().map(|(name, value)| (*name, value.as_str())).collect();
    for (slug, headers) in [("plain", &[][..]), ("plain", &signed), ("zoom", &[])] {
        let reply = set.post(slug, headers, body.as_bytes()).await;
        assert_eq!(reply.json()["received"], json!(true), "{slug}: {reply:?}");
    }
    let made = signature(SECRET, b"a-plain-token");
    assert_eq!(set.post("zoom", &signed, body.as_bytes()).await.json()["encryptedToken"], json!(made));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_nobody_waits_for_the_answer_to_an_imported_challenge_and_none_is_made() {
    let (one, other) = (App::start().await, App::start().await);
    let body = validation("a-plain-token");
    one.source("zoom", json!({ "provider": "zoom" })).await;
    posted(&one, "zoom", &by_zoom(SECRET, &body), &body).await;
    let file =
        one.ask("POST", "/api/export", json!({ "ids": ["last"], "raw": true })).await["items"][0].clone();
    other.source("zoom", json!({ "provider": "zoom" })).await;
    other.secret("zoom", "default", SECRET).await;
    let content =
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, file["content"].as_str().unwrap());
    let order = json!({ "items": [{ "name": "a.fixture.json", "content_base64": content }] });
    other.ask("POST", "/api/import", order).await;
    let event = other.event("last").await;
    assert_eq!((&event["verdict"], event.get("handshake_answer")), (&json!("valid"), None), "{event}");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_11_why_a_challenge_is_not_signed_is_said() {
    let app = App::start().await;
    app.source("plain", json!({})).await;
    app.secret("plain", "default", SECRET).await;
    app.ask("POST", "/api/targets", json!({ "url": "http://127.0.0.1:9", "source": "plain" })).await;
    posted(&app, "plain", &[], &validation("a-plain-token")).await;
    let why = app.event("last").await["deliveries"][0]["last_error"].clone();
    assert!(why.as_str().unwrap_or_default().contains("provider is set"), "{why}");
    assert_eq!(app.event("last").await["status"], Value::from("skipped"));
}
