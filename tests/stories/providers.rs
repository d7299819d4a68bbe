//! Events signed by the providers' own SDKs, posted to the capture port.

use hookmitt_stories::{App, Peer, Reply, SDKS, post, report};
use serde_json::{Value, json};

/// Returns a body as the provider sends it; the headers come from its SDK.
fn body(sdk: &str) -> Value {
    match sdk {
        "github" => {
            json!({ "ref": "refs/heads/main", "repository": { "full_name": "octocat/hello" }, "commits": [], "head_commit": { "message": "Fix the build" } })
        }
        "stripe" => {
            json!({ "id": "evt_1", "object": "event", "type": "invoice.paid", "created": 1_750_000_000, "data": { "object": { "id": "in_1", "object": "invoice", "amount_due": 124_000, "currency": "eur", "customer_name": "Acme GmbH" } } })
        }
        "slack" => {
            json!({ "type": "event_callback", "event_id": "Ev1", "event_time": 1_750_000_000, "event": { "type": "app_mention", "user": "U1", "text": "<@U0BOT> is the roof open?" } })
        }
        "shopify" => {
            json!({ "id": 820_982_911, "admin_graphql_api_id": "gid://shopify/Order/820982911", "name": "#9999" })
        }
        "telegram" => {
            json!({ "update_id": 4711, "message": { "message_id": 1, "date": 1_750_000_000, "from": { "id": 1, "first_name": "Ada" }, "chat": { "id": 1, "type": "private" }, "text": "hi" } })
        }
        _ => {
            json!({ "type": "storageUpdated", "timestamp": "2026-01-01T00:00:00Z", "data": { "id": "obj_1" } })
        }
    }
}

/// Returns the type and the id that hookmitt must find in the event.
fn facts(sdk: &str, headers: &[(String, String)]) -> (String, String) {
    let header = |wanted: &str| {
        let found = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.clone()).unwrap_or_else(|| panic!("{sdk} has no {wanted}"))
    };
    let named = |kind: &str, id: String| (kind.to_owned(), id);
    match sdk {
        "github" => named("push", header("X-GitHub-Delivery")),
        "stripe" => named("invoice.paid", "evt_1".to_owned()),
        "slack" => named("app_mention", "Ev1".to_owned()),
        "shopify" => named("orders/create", header("X-Shopify-Event-Id")),
        "telegram" => named("message", "4711".to_owned()),
        "svix" | "clerk" | "resend" => named("storageUpdated", header("svix-id")),
        _ => named("storageUpdated", header("webhook-id")),
    }
}

/// Returns the id of the event that was made of a request. Not every answer has it in its body.
fn id_of(reply: &Reply) -> String {
    reply.header("x-hookmitt-event-id").unwrap().to_owned()
}

async fn capture(app: &App, source: &str, headers: &[(String, String)], body: &str) -> Reply {
    let mut lines = vec![("Content-Type", "application/json")];
    lines.extend(headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    post(app.capture(), &format!("/{source}"), &lines, body.as_bytes()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_sdk_signs_is_valid_and_what_it_is_about_is_read() {
    let Some(mut peer) = Peer::start().await else { return };
    let (app, versions) = (App::start().await, peer.versions().await);
    for (sdk, secret) in SDKS {
        app.source(sdk, json!({ "provider": sdk })).await;
        app.secret(sdk, "default", secret).await;
        let body = body(sdk).to_string();
        let headers = peer.sign(sdk, secret, body.as_bytes()).await;
        let reply = capture(&app, sdk, &headers, &body).await;
        assert_eq!(reply.status, 200, "{sdk}");
        let event = app.event("last").await;
        assert_eq!((&event["verdict"], &event["causes"]), (&json!("valid"), &json!([])), "{sdk}");
        let (kind, id) = facts(sdk, &headers);
        assert_eq!(
            (&event["type"], &event["dedupe_key"]),
            (&json!(kind), &json!(format!("id:{id}"))),
            "{sdk}: {event}"
        );
        assert_eq!((&event["provider"], &event["source"]), (&json!(sdk), &json!(sdk)));
        let repeat = id_of(&capture(&app, sdk, &headers, &body).await);
        assert_eq!(app.event(&repeat).await["duplicate_of"], event["id"], "{sdk}");
        report(&format!("captured: {}, valid", versions[sdk]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn titles_say_what_an_event_is_about() {
    let Some(mut peer) = Peer::start().await else { return };
    let app = App::start().await;
    for (sdk, title) in [
        ("github", "main: Fix the build · octocat/hello"),
        ("stripe", "€1,240.00 · Acme GmbH"),
        ("slack", "is the roof open?"),
        ("shopify", "#9999"),
        ("telegram", "hi · Ada"),
    ] {
        let (body, secret) = (body(sdk).to_string(), SDKS.iter().find(|(name, _)| *name == sdk).unwrap().1);
        let headers = peer.sign(sdk, secret, body.as_bytes()).await;
        capture(&app, sdk, &headers, &body).await;
        let event = app.event("last").await;
        assert_eq!(
            (&event["provider"], &event["verdict"]),
            (&json!(sdk), &json!("no_secret")),
            "recognised by its headers"
        );
        assert_eq!(event["title"], title, "{sdk}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_secret_is_named_and_the_right_one_beside_it_is_found() {
    let Some(mut peer) = Peer::start().await else { return };
    let app = App::start().await;
    for (sdk, secret) in SDKS {
        let wrong = match sdk {
            "stripe" => "whsec_wrong",
            _ if secret.starts_with("whsec_") => "whsec_enl4d3Z1dHNycXBvbm1sa2ppaGdmZWRj",
            _ => "0f742231b10e8888abcd99e0e2285a55",
        };
        app.source(sdk, json!({ "provider": sdk })).await;
        app.secret(sdk, "old", wrong).await;
        let body = body(sdk).to_string();
        let headers = peer.sign(sdk, secret, body.as_bytes()).await;
        let id = id_of(&capture(&app, sdk, &headers, &body).await);
        let event = app.event(&id).await;
        assert_eq!(event["verdict"], "invalid", "{sdk}");
        let cause = &event["causes"][0];
        assert_eq!(cause["code"], "no_match", "{sdk}: {}", event["causes"]);
        assert!(
            ["message", "fix"].iter().all(|name| cause[name].as_str().is_some_and(|text| !text.is_empty()))
        );
        // A new secret verifies stored events again, as of their arrival, and also events that come later.
        app.secret(sdk, "new", secret).await;
        let rejudged = app.until(&id, "it is judged anew", |event| event["verdict"] == "valid").await;
        assert_eq!(rejudged["causes"], json!([]));
        let verified = app.ask("POST", &format!("/api/events/{id}/verify"), Value::Null).await;
        assert_eq!(verified["secret_label"], "new", "{sdk}");
        let next = id_of(&capture(&app, sdk, &headers, &body).await);
        let next = app.event(&next).await;
        assert_eq!((&next["verdict"], &next["duplicate_of"]), (&json!("valid"), &json!(id)), "{sdk}");
    }
}
