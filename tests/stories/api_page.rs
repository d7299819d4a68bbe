//! What the page requests besides lists: parts of bodies, providers to choose from, the reasons of a verdict.

use hookmitt_event::Timestamp;
use hookmitt_stories::{App, Reply};
use serde_json::{Value, json};

async fn part(app: &App, range: &str) -> Reply {
    let (host, bearer) = (app.api().to_string(), format!("Bearer {}", app.token()));
    let lines = [("Host", host.as_str()), ("Authorization", &bearer), ("Range", range)];
    app.api_raw("GET", "/api/events/last/body", &lines, b"").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_body_is_handed_out() {
    let app = App::start().await;
    app.catch("demo", &[], "0123456789").await;
    let reply = part(&app, "bytes=2-4").await;
    assert_eq!((reply.status, &reply.body[..]), (206, &b"234"[..]));
    assert_eq!(reply.header("content-range"), Some("bytes 2-4/10"));
    assert_eq!(reply.header("content-type"), Some("application/octet-stream"));
    assert!(reply.header("content-security-policy").unwrap().contains("sandbox"), "a part is no safer");
    assert_eq!(&part(&app, "bytes=-2").await.body[..], b"89");
    let whole = part(&app, "bytes=1-2,4-5").await;
    assert_eq!((whole.status, whole.body.len(), whole.header("accept-ranges")), (200, 10, Some("bytes")));
    let beyond = part(&app, "bytes=10-").await;
    assert_eq!((beyond.status, beyond.header("content-range")), (416, Some("bytes */10")));
    assert_eq!(beyond.json()["code"], "no-such-part");
}

#[tokio::test(flavor = "multi_thread")]
async fn providers_to_choose_among_are_all_of_the_catalogue() {
    let app = App::start().await;
    let answer = app.ask("GET", "/api/providers", Value::Null).await;
    let items = answer["items"].as_array().unwrap();
    let ids: Vec<_> = items.iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(ids[..2], ["stripe", "github"]);
    assert_eq!(ids.len(), 68, "61 providers and 7 users of Standard Webhooks: {ids:?}");
    assert!(ids.contains(&"openai") && ids.contains(&"gitlab"), "{ids:?}");
    assert!(items.iter().all(|item| item["name"].is_string() && item["confidence"].is_string()));
    let stripe = &items[0];
    assert_eq!((&stripe["can_send"], &stripe["sample_types"][0]), (&json!(true), &json!("invoice.paid")));
    for id in ids {
        app.source(&format!("of-{id}"), json!({ "provider": id })).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verdict_says_what_it_rests_on() {
    let app = App::start().await;
    app.source("pay", json!({ "provider": "stripe" })).await;
    app.secret("pay", "test", "whsec_x").await;
    let at = Timestamp::now().as_seconds() - 20;
    app.stripe("pay", "whsec_x", at, "{}").await;
    let found = app.ask("POST", "/api/events/last/verify", json!({})).await;
    assert_eq!((&found["verdict"], &found["secret_label"]), (&json!("valid"), &json!("test")));
    assert_eq!((&found["scheme_name"], &found["tolerance_s"]), (&json!("v1, HMAC-SHA256"), &json!(300)));
    assert_eq!(found["signed_at"], json!(Timestamp::from_seconds(at)));

    app.github("hub", "1", None, "{}").await;
    let found = app.ask("POST", "/api/events/last/verify", json!({})).await;
    assert_eq!((&found["scheme_name"], &found["signed_at"]), (&json!("HMAC-SHA256"), &Value::Null));
    assert_eq!(found["tolerance_s"], Value::Null, "what signs no time allows none");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_that_is_none_is_refused_by_name() {
    let app = App::start().await;
    let (status, answer) = app.call("GET", "/api/events?view=everything", Value::Null).await;
    assert_eq!((status, &answer["code"]), (400, &json!("bad-input")));
    assert!(answer["detail"].as_str().unwrap().contains("needs_action"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheme_that_is_none_is_refused_and_one_of_another_provider_is_taken() {
    let app = App::start().await;
    app.github("hub", "1", Some("hush"), "{}").await;
    let (status, answer) = app.call("POST", "/api/events/last/verify", json!({ "scheme": "bogus" })).await;
    assert_eq!((status, &answer["code"]), (400, &json!("unknown-scheme")), "{answer}");
    let found = app.ask("POST", "/api/events/last/verify", json!({ "scheme": "stripe-v1" })).await;
    assert_eq!(found["verdict"], "unsigned", "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_format_of_many_asks_who_sends_where_it_does_not_hold() {
    let app = App::start().await;
    app.secret("hooks", "main", "whsec_aG9va21pdHQtcHVibGljLXRlc3Qta2V5").await;
    let stamp = Timestamp::now().as_seconds().to_string();
    let signed =
        [("webhook-id", "1"), ("webhook-timestamp", stamp.as_str()), ("webhook-signature", "v1,AAAA")];
    app.catch("hooks", &signed, "{}").await;
    let causes = app.event("last").await["causes"].clone();
    let last = causes.as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["code"], "provider_not_set", "{causes}");
    assert!(last["fix"].as_str().unwrap().contains("source edit hooks --provider"), "{last}");
    app.ask("PATCH", "/api/sources/hooks", json!({ "provider": "openai" })).await;
    assert!(!app.event("last").await["causes"].to_string().contains("provider_not_set"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_of_no_type_is_refused_with_those_that_there_are() {
    let app = App::start().await;
    let order = json!({ "provider": "github", "type": "nosuch", "to": "3000" });
    let (status, answer) = app.call("POST", "/api/send", order).await;
    assert_eq!((status, &answer["code"]), (400, &json!("unknown-sample-type")));
    assert!(answer["hint"].as_str().unwrap().contains("pull_request.opened"), "{answer}");
}
