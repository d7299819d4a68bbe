//! The API's promises: the fields of an event, the ways to name it, the words of errors, and a complete description.

use std::collections::BTreeSet;

use hookmitt_stories::{Answer, App, LocalServer, post};
use serde_json::{Value, json};

fn fields(object: &Value) -> BTreeSet<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// DESIGN's fields of an event, and `browser`, which marks events that web pages sent.
const EVENT: &str = "id seq source provider type title method path query url http_version remote headers size sha256 \
    received_at event_time via verdict causes dedupe_key duplicate_of conflict stale parent handshake deleted_at status \
    browser pinned tags note";

/// Whether a value is an RFC 3339 UTC time with microseconds.
fn is_time(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    let shape: String =
        text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    shape == "0000-00-00T00:00:00.000000Z"
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_in_json_has_the_fields_that_were_promised() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({ "attempts": 1 })).await;
    server.will([Answer::Status(503)]);
    let reply =
        app.stripe("pay", "hush", 1, r#"{"id":"evt_1","type":"charge.ok","created":1750000000}"#).await;
    let shown = app.status(reply.json()["id"].as_str().unwrap(), "dead_letter").await;
    let listed = app.events().await[0].clone();
    let want: BTreeSet<_> = EVENT.split_whitespace().collect();
    assert_eq!(fields(&listed), want);
    assert_eq!(fields(&shown), want.iter().copied().chain(["answered", "deliveries"]).collect());
    const TEXTS: &str =
        "id source provider type method path url http_version remote sha256 via verdict dedupe_key status";
    for field in TEXTS.split_whitespace() {
        assert!(shown[field].is_string(), "{field}: {}", shown[field]);
    }
    for field in ["query", "title", "duplicate_of", "parent", "handshake", "deleted_at"] {
        assert!(shown[field].is_null(), "{field}: {}", shown[field]);
    }
    for field in ["conflict", "stale", "browser"] {
        assert!(shown[field].is_boolean(), "{field}");
    }
    assert!(shown["seq"].is_u64() && shown["size"].is_u64() && shown["causes"].is_array());
    assert!(is_time(&shown["received_at"]) && is_time(&shown["event_time"]), "{shown}");
    assert_eq!(shown["sha256"].as_str().unwrap().len(), 64);
    assert!(shown["headers"].as_array().unwrap().iter().all(|line| line.as_array().unwrap().len() == 2));
    is_a_dead_delivery(&shown["deliveries"][0], &server.url());
    let alone = app.ask("GET", "/api/events/last/deliveries", Value::Null).await;
    assert_eq!(alone, json!({ "items": shown["deliveries"], "next_cursor": null }));
}

fn is_a_dead_delivery(delivery: &Value, url: &str) {
    let more = ["target_id", "replay", "queue"];
    let want = ["id", "target", "status", "last_error", "next_attempt_at", "completed_at", "attempts"];
    assert_eq!(fields(delivery), want.into_iter().chain(more).collect());
    assert!(is_time(&delivery["completed_at"]) && delivery["next_attempt_at"].is_null());
    assert_eq!((&delivery["target"], &delivery["status"]), (&json!(url), &json!("dead_letter")));
    let attempt = &delivery["attempts"][0];
    let more = ["response_headers", "response_body", "response_truncated", "ambiguous"];
    let want = ["number", "started_at", "duration_ms", "response_status", "error"];
    assert_eq!(fields(attempt), want.into_iter().chain(more).collect());
    assert_eq!((&attempt["number"], &attempt["response_status"]), (&json!(1), &json!(503)));
    assert!(is_time(&attempt["started_at"]) && attempt["duration_ms"].is_u64() && attempt["error"].is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_named_by_id_prefix_number_or_how_long_ago() {
    let app = App::start().await;
    let mut ids = Vec::new();
    for number in 0..4 {
        post(app.capture(), "/demo", &[], format!("{number}").as_bytes()).await;
        ids.push(app.event("last").await["id"].as_str().unwrap().to_owned());
    }
    let found = async |name: &str| {
        let name = name.replace('#', "%23").replace(' ', "%20");
        let (status, answer) = app.call("GET", &format!("/api/events/{name}"), Value::Null).await;
        (status, answer["id"].as_str().or(answer["code"].as_str()).unwrap_or_default().to_owned())
    };
    let upper = ids[1].to_uppercase();
    let bare = ids[1].replace('-', "");
    let known: [(&str, &str); 10] = [
        (&ids[0], &ids[0]),
        (&upper, &ids[1]),
        (&bare, &ids[1]),
        (&ids[2][..ids[2].len() - 1], &ids[2]),
        ("#1", &ids[0]),
        ("#4", &ids[3]),
        ("last", &ids[3]),
        ("last~0", &ids[3]),
        ("last~2", &ids[1]),
        (" last~3 ", &ids[0]),
    ];
    for (name, id) in known {
        assert_eq!(found(name).await, (200, id.to_owned()), "{name}");
    }
    const NOBODY: &str = "#5 #0 #-1 #x # last~4 last~ last~x lasting latest zz ffffffff - LAST \
        00000000-0000-0000-0000-000000000000";
    for name in NOBODY.split_whitespace() {
        assert_eq!(found(name).await, (404, "unknown-event".to_owned()), "{name}");
    }
    // Every id of these decades starts with these two digits.
    assert_eq!(found(&ids[0][..2]).await, (400, "ambiguous-id".to_owned()));
    app.ask("DELETE", "/api/events/last", Value::Null).await;
    assert_eq!(found("last").await.1, ids[2], "what is in the bin is passed over");
    assert_eq!(
        (found("#4").await.1, found(&ids[3]).await.1),
        (ids[3].clone(), ids[3].clone()),
        "but can be named"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_event_is_in_the_bin_until_it_is_restored() {
    let app = App::start().await;
    post(app.capture(), "/demo", &[], b"{}").await;
    let id = app.event("last").await["id"].as_str().unwrap().to_owned();
    let path = format!("/api/events/{id}");
    assert_eq!(app.call("DELETE", &path, Value::Null).await, (200, json!({ "id": id, "ended": 0 })));
    assert!(app.events().await.is_empty());
    assert!(is_time(&app.event(&id).await["deleted_at"]));
    assert_eq!(app.body(&id).await, "{}");
    assert_eq!(app.ask("GET", "/api/stats", Value::Null).await["events"], 0);
    let restored = app.ask("POST", &format!("{path}/restore"), Value::Null).await;
    assert_eq!((&restored["id"], &restored["deleted_at"]), (&json!(id), &Value::Null));
    assert_eq!(app.events().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_error_is_a_problem_with_a_code() {
    let app = App::start().await;
    post(app.capture(), "/demo", &[], b"{}").await;
    let table: [(&str, &str, &[u8], u16, &str); 25] = [
        ("GET", "/nowhere", b"", 404, "no-such-route"),
        ("GET", "/api/events/", b"", 404, "no-such-route"),
        ("GET", "/api/events/last/nothing", b"", 404, "no-such-route"),
        ("PUT", "/api/events", b"", 405, "no-such-method"),
        ("DELETE", "/api/stats", b"", 405, "no-such-method"),
        ("POST", "/healthz", b"", 405, "no-such-method"),
        ("GET", "/api/events/nobody", b"", 404, "unknown-event"),
        ("GET", "/api/events/%ff", b"", 400, "bad-input"),
        ("GET", "/api/sources/%ff", b"", 400, "bad-input"),
        ("GET", "/api/sources/Bad", b"", 400, "bad-slug"),
        ("GET", "/api/sources/none", b"", 404, "unknown-source"),
        ("GET", "/api/targets/9", b"", 404, "unknown-target"),
        ("GET", "/api/targets/nine", b"", 400, "bad-input"),
        ("GET", "/api/events?nonsense=1", b"", 400, "bad-input"),
        ("GET", "/api/live?after=x", b"", 400, "bad-input"),
        ("GET", "/api/deliveries/x/outcome", b"", 400, "bad-input"),
        ("POST", "/api/sources", b"{", 400, "bad-json"),
        ("POST", "/api/sources", b"\xff\xfe", 400, "bad-json"),
        ("POST", "/api/sources", b"[]", 400, "bad-json"),
        ("POST", "/api/sources", br#" ["a"]"#, 400, "bad-json"), // a place in a list names no field
        ("PATCH", "/api/tunnels/1", b"[]", 400, "bad-json"),
        ("POST", "/api/sources", br#"{"slug":"a","nonsense":1}"#, 400, "bad-json"),
        ("POST", "/api/targets", br#"{"url":"3000","nonsense":1}"#, 400, "bad-json"),
        ("POST", "/api/events/last/replay", br#"{"times":"many"}"#, 400, "bad-json"),
        ("POST", "/api/export", br#"{"ids":["last"],"nonsense":true}"#, 400, "bad-json"),
    ];
    for (method, path, body, status, code) in table {
        let reply = app.api_call(method, path, body).await;
        assert_eq!(
            reply.header("content-type"),
            Some("application/problem+json"),
            "{method} {path}: {reply:?}"
        );
        let problem = reply.json();
        assert_eq!((reply.status, &problem["code"]), (status, &json!(code)), "{method} {path}: {problem}");
        assert_eq!(fields(&problem), ["type", "title", "status", "code", "setting", "detail", "hint"].into());
        assert_eq!((&problem["status"], &problem["setting"]), (&json!(status), &Value::Null));
        assert!(!problem["detail"].as_str().unwrap().is_empty() && problem["hint"].is_string(), "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_is_served_whole_and_true() {
    let app = App::start().await;
    let document = app.api_call("GET", "/api/openapi.json", b"").await.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
    every_reference_leads_somewhere(&document, &document);
    let paths = document["paths"].as_object().unwrap();
    let mut names = BTreeSet::new();
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().unwrap() {
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.keys().any(|status| status.starts_with('2')), "{method} {path}");
            assert!(
                names.insert(operation["operationId"].as_str().unwrap().to_owned() + method),
                "{method} {path}"
            );
            every_parameter_is_described(path, operation);
            let asked = path.replace("{id}", "nobody").replace("{slug}", "nobody").replace("{label}", "main");
            let (status, answer) = if asked == "/api/live" {
                (400, app.call("GET", "/api/live?after=x", Value::Null).await.1)
            } else {
                app.call(&method.to_uppercase(), &asked, Value::Null).await
            };
            assert!(
                !["no-such-route", "no-such-method"].iter().any(|code| answer["code"] == *code),
                "{method} {path}"
            );
            assert!(status < 500, "{method} {path}: {status} {answer}");
        }
    }
    for promised in PROMISED {
        let (method, path) = promised.split_once(' ').unwrap();
        assert!(
            paths.get(path).is_some_and(|operations| operations.get(method).is_some()),
            "{promised} is missing"
        );
    }
}

const PROMISED: [&str; 25] = [
    "get /api/events",
    "get /api/events/{id}",
    "get /api/events/{id}/body",
    "delete /api/events/{id}",
    "post /api/events/{id}/restore",
    "post /api/events/{id}/replay",
    "post /api/events/{id}/retry",
    "post /api/events/{id}/verify",
    "get /api/events/{id}/deliveries",
    "get /api/live",
    "get /api/stats",
    "get /api/sources",
    "post /api/sources",
    "get /api/sources/{slug}",
    "patch /api/sources/{slug}",
    "delete /api/sources/{slug}",
    "get /api/targets",
    "post /api/targets",
    "patch /api/targets/{id}",
    "delete /api/targets/{id}",
    "post /api/export",
    "post /api/import",
    "get /api/secrets",
    "post /api/session",
    "get /healthz",
];

fn every_reference_leads_somewhere(document: &Value, part: &Value) {
    if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
        let pointer = reference.strip_prefix('#').expect("a reference within the document");
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    match part {
        Value::Object(object) => {
            object.values().for_each(|part| every_reference_leads_somewhere(document, part))
        }
        Value::Array(list) => list.iter().for_each(|part| every_reference_leads_somewhere(document, part)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Checks that the path's placeholders and the described path parameters are the same.
fn every_parameter_is_described(path: &str, operation: &Value) {
    let places: BTreeSet<_> =
        path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    let described = parameters.iter().filter(|parameter| parameter["in"] == "path");
    assert_eq!(
        described.map(|parameter| parameter["name"].as_str().unwrap()).collect::<BTreeSet<_>>(),
        places,
        "{path}"
    );
}
