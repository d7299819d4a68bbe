//! What people keep: pins, notes and tags, through the API and at the command line.

use hookmitt_stories::{App, Ran, post};
use serde_json::{Value, json};

use super::listen::{command, folder, run, serving};

async fn refused(app: &App, id: &str, change: Value) -> String {
    let (status, problem) = app.call("PATCH", &format!("/api/events/{id}"), change).await;
    assert_eq!(status, 400, "{problem}");
    problem["detail"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_pinned_noted_and_tagged_and_what_is_not_named_stays() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    let id = app.catch("demo", &[], "1").await;
    let mark = async |change: Value| app.ask("PATCH", &format!("/api/events/{id}"), change).await;
    let event =
        mark(json!({ "note": "look here", "tags": ["flaky", "Prod", "FLAKY"], "pinned": true })).await;
    assert_eq!(event["note"], "look here");
    assert_eq!((&event["tags"], &event["pinned"]), (&json!(["flaky", "Prod"]), &json!(true)));
    assert!(event["deliveries"].is_array(), "it is the whole event");
    let event = mark(json!({ "pinned": false })).await;
    assert_eq!((&event["note"], &event["pinned"]), (&json!("look here"), &json!(false)));
    let listed = app.ask("GET", "/api/events", Value::Null).await["items"][0].clone();
    assert_eq!((&listed["note"], &listed["tags"]), (&event["note"], &event["tags"]));
    let tags = app.ask("GET", "/api/tags", Value::Null).await["items"].clone();
    assert_eq!(tags, json!([{ "name": "flaky", "count": 1 }, { "name": "Prod", "count": 1 }]));
    let event = mark(json!({ "note": null, "tags": [] })).await;
    assert_eq!((&event["note"], &event["tags"]), (&Value::Null, &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn marks_have_bounds() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    let id = app.catch("demo", &[], "1").await;
    let long = refused(&app, &id, json!({ "note": "n".repeat(10_001) })).await;
    assert_eq!(long, "a note may have at most 10000 bytes; this one has 10001");
    let many: Vec<_> = (0..21).map(|number| number.to_string()).collect();
    assert!(refused(&app, &id, json!({ "tags": many })).await.contains("at most 20 tags"));
    assert!(refused(&app, &id, json!({ "tags": ["a,b"] })).await.contains("may not contain ,"));
    assert!(refused(&app, &id, json!({ "tags": ["x".repeat(41)] })).await.contains("1 to 40 characters"));
    let hostile = refused(&app, &id, json!({ "tags": ["\u{1b}[2J"] })).await;
    assert!(!hostile.contains('\u{1b}'), "{hostile:?}");
    assert!(refused(&app, &id, json!({ "stars": 5 })).await.contains("stars"));
    let (status, _) = app.call("PATCH", "/api/events/%2399", json!({ "pinned": true })).await;
    assert_eq!(status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_marked_at_the_command_line() {
    let folder = folder();
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    run(dir, &["source", "add", "demo"]).await.exits(0);
    for body in [&b"1"[..], b"2"] {
        post(capture, "/demo", &[], body).await;
    }
    assert_eq!(
        run(dir, &["tag", "#1", "#2", "--add", "flaky,Look here"]).await.exits(0).text(),
        "\
        #1  flaky, Look here\n#2  flaky, Look here\n"
    );
    assert_eq!(
        run(dir, &["tag", "#2", "--add", "x", "--remove", "FLAKY"]).await.exits(0).text(),
        "\
        #2  Look here, x\n"
    );
    assert_eq!(
        run(dir, &["tag", "list"]).await.exits(0).text(),
        "      1  flaky\n      2  Look here\n      1  x\n"
    );
    assert_eq!(run(dir, &["pin", "#1"]).await.exits(0).text(), "#1  pinned\n");

    let note = "first\u{1b}[2J\n\u{202e}second";
    run(dir, &["note", "#1", note]).await.exits(0);
    let printed = run(dir, &["note", "#1"]).await.exits(0).text();
    assert_eq!(printed, "first\\u{1b}[2J\n\\u{202e}second\n", "it controls no terminal");
    let json = run(dir, &["note", "#1", "--json"]).await.exits(0).json().remove(0);
    assert_eq!(json["note"], note);
    let shown = run(dir, &["show", "#1"]).await.exits(0).text();
    for line in ["tags       flaky, Look here", "pinned     retention keeps it", "note\nfirst\\u{1b}[2J\n"] {
        assert!(shown.contains(line), "{line:?} in {shown}");
    }
    run(dir, &["note", "#1", "--remove"]).await.exits(0);
    let none = run(dir, &["note", "#1"]).await.exits(0);
    assert_eq!((none.text().as_str(), none.err.trim()), ("", "#1 has no note"));
    assert_eq!(run(dir, &["pin", "#1", "--undo"]).await.exits(0).text(), "#1  no longer pinned\n");
    Ran::of(command(dir, &["tag", "#1", "--add", "a\u{1b}b"])).await.exits(2);
    run(dir, &["pin", "#9"]).await.exits(2);
    serve.stop().await.exits(0);
}
