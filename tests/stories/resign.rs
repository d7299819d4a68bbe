//! Re-signing: for the URL that the handler sees, and with test keys if the provider's own key is private.

use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp, Verdict};
use hookmitt_stories::{App, LocalServer, Ran, Seen};
use hookmitt_verify::{Inquiry, PairKind, PublicForm, Secret, TestKeyPair, judge, provider};
use serde_json::json;

use super::listen::{command, folder, run, serving};

/// Returns the verdict of a handler that knows the secret and the URL under which it was called.
fn judged(seen: &Seen, id: &str, url: &str, secret: &str) -> Verdict {
    let head = seen.head();
    let lines: Vec<_> = head.split("\r\n").skip(1).filter_map(|line| line.split_once(": ")).collect();
    let request = Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: url.split_once('?').map(|(_, query)| query.to_owned()),
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(lines).unwrap(),
        body: seen.body().to_vec().into(),
    };
    let secrets = [Secret::new("default", secret.as_bytes().to_vec())];
    let inquiry = Inquiry {
        request: &request,
        url: Some(url),
        provider: provider(id),
        generic: None,
        scheme: None,
        secrets: &secrets,
        tolerance: None,
        at: Timestamp::now(),
        params: &[],
        published: None,
    };
    judge(&inquiry).verdict
}

#[tokio::test(flavor = "multi_thread")]
async fn what_signs_its_url_is_signed_for_the_url_that_is_called() {
    let app = App::start().await;
    for id in ["square", "twilio", "hubspot", "contentful"] {
        app.source(id, json!({ "provider": id })).await;
        let secret = if id == "contentful" { "c".repeat(64) } else { "a-secret-of-ours".to_owned() };
        app.secret(id, "default", &secret).await;
        let server = LocalServer::start().await;
        // To our own port: signed for the URL that the provider would call.
        let order = json!({ "provider": id, "to": format!("http://{}/{id}", app.capture()) });
        app.ask("POST", "/api/send", order).await;
        let event = app.event("last").await;
        assert_eq!((&event["verdict"], &event["via"]), (&json!("valid"), &json!("direct")), "{id}: {event}");
        // To a handler: signed for the URL that the handler sees, with its own path and query joined.
        let to = format!("{}/hooks?v=1", server.url());
        app.ask("POST", "/api/send", json!({ "provider": id, "to": to })).await;
        assert_eq!(app.event("last").await["verdict"], "valid", "{id}");
        let replay = json!({ "to": to, "resign": true });
        let path = format!("/api/events/{}/replay", event["id"].as_str().unwrap());
        let again = app.ask("POST", &path, replay).await["items"][0]["event_id"].clone();
        assert_eq!(app.event(again.as_str().unwrap()).await["verdict"], "valid", "{id}");
        for seen in server.wait_for(2).await {
            let target = seen.line().split(' ').nth(1).unwrap().to_owned();
            assert!(target.starts_with("/hooks?v=1"), "{target}");
            let url = format!("{}{target}", server.url());
            assert_eq!(judged(&seen, id, &url, &secret), Verdict::Valid, "{id} at {url}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_behind_something_else_is_sent_what_its_provider_would_sign() {
    let app = App::start().await;
    app.source("shop", json!({ "provider": "square", "public_url": "https://hooks.example/in" })).await;
    app.secret("shop", "default", "a-secret-of-ours").await;
    let order = json!({ "provider": "square", "to": format!("http://{}/shop/deep?x=1", app.capture()) });
    app.ask("POST", "/api/send", order).await;
    let event = app.event("last").await;
    assert_eq!(
        (&event["verdict"], &event["url"]),
        (&json!("valid"), &json!("https://hooks.example/in/deep?x=1"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_provider_s_key_is_private_a_test_key_signs() {
    let folder = folder();
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    run(dir, &["source", "add", "bot", "--provider", "discord"]).await.exits(0);
    let to = format!("http://{capture}/bot");
    let discords = TestKeyPair::generate(PairKind::Ed25519).unwrap().public(PublicForm::Hex).unwrap();
    Ran::with_input(command(dir, &["secret", "set", "bot"]), discords.as_bytes()).await.exits(0);
    let private = run(dir, &["send", "discord", "--source", "bot", "--to", &to]).await.exits(2);
    assert!(
        private.err.contains("Discord's key is private") && private.err.contains("secret test-key"),
        "{}",
        private.err
    );
    let made = run(dir, &["secret", "test-key", "bot"]).await.exits(0);
    let public = made.text().trim().to_owned();
    assert!(public.len() == 64 && public.bytes().all(|byte| byte.is_ascii_hexdigit()), "{public}");
    run(dir, &["send", "discord", "--source", "bot", "--to", &to]).await.exits(0);
    let shown = async |id: &str| run(dir, &["show", id, "--json"]).await.exits(0).json().remove(0);
    assert_eq!(shown("last").await["verdict"], "valid");
    let server = LocalServer::start().await;
    let replay = ["replay", "last", "--resign", "--fresh-id", "--to", &server.url(), "--json"];
    let replayed = run(dir, &replay).await.exits(0);
    assert!(replayed.err.contains("test key"), "{}", replayed.err);
    let event = shown(replayed.json()[0]["event_id"].as_str().unwrap()).await;
    assert_eq!((&event["via"], &event["verdict"]), (&json!("edit"), &json!("valid")));
    assert_eq!(judged(&server.seen()[0], "discord", "", &public), Verdict::Valid, "with the public half");
    let none = run(dir, &["secret", "test-key", "nobody"]).await.exits(2);
    assert!(none.err.contains("nobody"), "{}", none.err);
    Ran::of(command(dir, &["secret", "remove", "bot", "--label", "test key"])).await.exits(0);
    serve.stop().await.exits(0);
}
