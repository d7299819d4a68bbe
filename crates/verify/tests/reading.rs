//! What requests say about themselves, by provider, and the samples that say it.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use hookmitt_event::{Facts, GenericScheme, HeaderLines, HttpVersion, Request, Timestamp};
use hookmitt_verify::{facts, provider, providers, recognise, sample, sample_types, sign, test_secret};

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);

fn request(headers: &[(&str, &str)], body: &str) -> Request {
    Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(headers.iter().copied()).unwrap(),
        body: body.to_owned().into(),
    }
}

fn of_sample(id: &str, kind: &str) -> Facts {
    let provider = provider(id).unwrap();
    facts(&sample(provider, Some(kind), "0197abc-1", AT).unwrap(), Some(provider), None)
}

/// Provider, sample → event id, type, title.
const EVENTS: [(&str, &str, &str, &str, &str); 18] = [
    ("github", "push", "0197abc-1", "push", "hookmitt-demo/greenhouse: Water the tomatoes twice on hot days"),
    (
        "github",
        "pull_request.opened",
        "0197abc-1",
        "pull_request.opened",
        "hookmitt-demo/greenhouse: Close the roof when it rains (#42)",
    ),
    (
        "github",
        "issues.closed",
        "0197abc-1",
        "issues.closed",
        "hookmitt-demo/greenhouse: The roof stays open when it rains (#41)",
    ),
    ("stripe", "invoice.paid", "evt_0197abc-1", "invoice.paid", "49.00 EUR from zoe@example.com"),
    (
        "stripe",
        "checkout.session.completed",
        "evt_0197abc-1",
        "checkout.session.completed",
        "19.99 USD from zoe@example.com",
    ),
    ("stripe", "charge.refunded", "evt_0197abc-1", "charge.refunded", "19.99 USD: Order 1001"),
    ("slack", "app_mention", "Ev0197abc-1", "app_mention", "C0GARDEN: <@U0BOT> is the roof open?"),
    ("slack", "reaction_added", "Ev0197abc-1", "reaction_added", "C0GARDEN: The tomatoes look thirsty 🍅"),
    ("shopify", "orders/create", "0197abc-1", "orders/create", "#1001: 59.80 EUR"),
    ("shopify", "products/delete", "0197abc-1", "products/delete", "Tomato seeds"),
    ("svix", "user.created", "msg_0197abc-1", "user.created", "Zoë Ångström"),
    ("standardwebhooks", "some.thing", "msg_0197abc-1", "some.thing", "invoice_0001"),
    ("openai", "response.completed", "msg_0197abc-1", "response.completed", "resp_hookmitt0001"),
    ("anthropic", "session.status_idled", "msg_0197abc-1", "session.status_idled", "session_hookmitt0001"),
    (
        "resend",
        "email.delivered",
        "msg_0197abc-1",
        "email.delivered",
        "zoe@example.com: Your tomatoes are ripe",
    ),
    ("clerk", "user.created", "msg_0197abc-1", "user.created", "zoe@example.com"),
    (
        "replicate",
        "prediction.succeeded",
        "msg_0197abc-1",
        "prediction.succeeded",
        "hookmitt-demo/tomato-counter: succeeded",
    ),
    ("liveblocks", "storageUpdated", "msg_0197abc-1", "storageUpdated", "greenhouse"),
];

#[test]
fn each_provider_s_events_are_read() {
    for (id, kind, event_id, event_type, title) in EVENTS {
        let facts = of_sample(id, kind);
        assert_eq!(facts.event_id.as_deref(), Some(event_id), "{id} {kind}");
        assert_eq!(facts.event_type.as_deref(), Some(event_type), "{id} {kind}");
        assert_eq!(facts.title.as_deref(), Some(title), "{id} {kind}");
    }
    let telegram = of_sample("telegram", "edited_message");
    assert_eq!(telegram.event_type.as_deref(), Some("edited_message"));
    assert!(telegram.event_id.is_some());
}

#[test]
fn times_and_objects_are_read() {
    let table = [
        ("github", "push", None, Some("hookmitt-demo/greenhouse@refs/heads/main")),
        ("github", "pull_request.opened", None, Some("hookmitt-demo/greenhouse#42")),
        ("stripe", "invoice.paid", Some(AT), Some("in_1RxHookmitt0001")),
        ("slack", "app_mention", Some(AT), None),
        ("telegram", "message", Some(AT), Some("5834102")),
        ("standardwebhooks", "user.created", Some(AT), Some("user_0001")),
        ("clerk", "user.created", Some(AT), Some("user_hookmitt0001")),
        ("resend", "email.delivered", Some(AT), Some("56761188-7520-42d8-8898-ff6fc54ce618")),
    ];
    for (id, kind, time, object) in table {
        let facts = of_sample(id, kind);
        assert_eq!((facts.event_time, facts.object.as_deref()), (time, object), "{id} {kind}");
    }
    let order = of_sample("shopify", "orders/create");
    assert_eq!(order.event_time, Some(AT));
    assert!(order.object.unwrap().starts_with("orders/"));
}

#[test]
fn handshakes_are_named_and_answered() {
    let facts = of_sample("slack", "url_verification");
    assert_eq!(
        (facts.handshake, facts.handshake_answer.as_deref()),
        (Some("url_verification"), Some("hookmitt-0197abc-1"))
    );
    let facts = of_sample("github", "ping");
    assert_eq!((facts.handshake, facts.handshake_answer), (Some("ping"), None));
    assert_eq!(of_sample("github", "push").handshake, None);
}

#[test]
fn forms_are_read_like_json() {
    let form =
        [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8"), ("X-GitHub-Event", "issues")];
    let body =
        "payload=%7B%22action%22%3A%22opened%22%2C%22repository%22%3A%7B%22full_name%22%3A%22a%2Fb%22%7D%7D";
    let facts_of = |id, request: &Request| facts(request, provider(id), None);
    let github = facts_of("github", &request(&form, body));
    assert_eq!((github.event_type.as_deref(), github.title.as_deref()), (Some("issues.opened"), Some("a/b")));
    // `curl -d '{…}'` says form and sends JSON.
    let curl = facts_of("github", &request(&form, r#" {"action":"closed"}"#));
    assert_eq!(curl.event_type.as_deref(), Some("issues.closed"));
    let slash = facts_of("slack", &request(&form, "command=%2Fweather&text=94070+CA&trigger_id=13.37"));
    assert_eq!(slash.event_type.as_deref(), Some("/weather"));
    assert_eq!(
        (slash.title.as_deref(), slash.event_id.as_deref()),
        (Some("/weather 94070 CA"), Some("13.37"))
    );
    let action = facts_of(
        "slack",
        &request(&form, "payload=%7B%22type%22%3A%22block_actions%22%2C%22trigger_id%22%3A%221.2%22%7D"),
    );
    assert_eq!(
        (action.event_type.as_deref(), action.event_id.as_deref()),
        (Some("block_actions"), Some("1.2"))
    );
}

#[test]
fn a_large_or_broken_body_leaves_the_headers() {
    let headers = [("X-GitHub-Event", "push"), ("X-GitHub-Delivery", "d1")];
    for body in
        ["{\"broken\":", "", "\u{0}", &format!("{{\"action\":\"x\",\"pad\":\"{}\"}}", "x".repeat(5 << 20))]
    {
        let facts = facts(&request(&headers, body), provider("github"), None);
        assert_eq!((facts.event_type.as_deref(), facts.event_id.as_deref()), (Some("push"), Some("d1")));
    }
    let long = request(&[], &format!("{{\"id\":\"{}\",\"type\":\"t\"}}", "x".repeat(5000)));
    let facts = facts(&long, provider("stripe"), None);
    assert_eq!(
        (facts.event_id, facts.event_type.as_deref()),
        (None, Some("t")),
        "a cut id would be another id"
    );
}

#[test]
fn a_generic_source_names_its_places() {
    let generic = GenericScheme {
        id_at: Some("header:X-Id".to_owned()),
        type_at: Some("/event/name".to_owned()),
        time_at: Some("/at".to_owned()),
        object_at: Some("/items/0".to_owned()),
        ..GenericScheme::default()
    };
    let request = request(&[("x-id", "7")], r#"{"event":{"name":"made"},"at":1750000000,"items":["k"]}"#);
    let facts = facts(&request, None, Some(&generic));
    let texts = (facts.event_id.as_deref(), facts.event_type.as_deref(), facts.object.as_deref());
    assert_eq!((texts, facts.event_time), ((Some("7"), Some("made"), Some("k")), Some(AT)));
}

#[test]
fn every_sample_is_json_and_known_by_its_headers_once_signed() {
    for provider in providers().filter(|provider| provider.is_supported()) {
        let types = sample_types(provider);
        assert!(!types.is_empty(), "{}", provider.id);
        for kind in types.iter().copied().chain(["made.up_1"]) {
            let made = sample(provider, Some(kind), "0197-a", AT).unwrap();
            serde_json::from_slice::<serde_json::Value>(&made.body).unwrap();
            assert!(!String::from_utf8_lossy(&made.body).contains("@id@"), "{kind}");
            let secret = test_secret(provider);
            let signed = sign(provider, None, secret.value.as_bytes(), &made, AT, Some("0197-b")).unwrap();
            let family = provider.family.as_deref().unwrap_or(&provider.id);
            assert_eq!(recognise(&signed.headers).map(|found| found.id.as_str()), Some(family));
        }
    }
    assert!(sample(provider("github").unwrap(), Some("a\"b"), "1", AT).is_err());
    assert!(sample(provider("gitea").unwrap(), None, "1", AT).is_err());
}
