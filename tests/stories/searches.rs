//! The search language at the command line and in the API, and searches that are saved.

use hookmitt_stories::{App, Live, Process, Stored, post};
use serde_json::{Value, json};

use super::listen::{command, folder, run, serving};

#[tokio::test(flavor = "multi_thread")]
async fn events_are_searched_for_and_options_narrow_further() {
    let folder = folder();
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    for body in ["{\"amount\":7,\"name\":\"Z\\u00fcrich\"}", "{\"amount\":70}", "seventy"] {
        post(capture, "/shop", &[("X-Try", "2")], body.as_bytes()).await;
    }
    post(capture, "/demo", &[], b"{\"amount\":700}").await;
    for (args, found) in [
        (&["zürich"][..], &[1][..]),
        (&["body./amount:>7"], &[4, 2]),
        (&["-body./amount:*"], &[3]),
        (&["-source:shop"], &[4]),
        (&["header.x-try:2 #2..#9", "--source", "shop"], &[3, 2]),
        (&["body./amount:*", "--search", "amount\":7}"], &[]),
        (&["body./amount:*", "--search", "amount\":70"], &[4, 2]),
        (&["after:1h", "--verdict", "unsigned", "--status", "captured", "--limit", "1"], &[4]),
        (&["source:shop", "--until", "1h"], &[]),
    ] {
        let listed = run(dir, &[&["events", "--json"], args].concat()).await.exits(0).json();
        let seqs: Vec<_> = listed.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
        assert_eq!(seqs, found, "{args:?}");
    }
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_is_pointed_at_and_is_bad_input() {
    let folder = folder();
    for verb in ["events", "wait"] {
        let wrong = run(folder.path(), &[verb, "shop verdict:good"]).await.exits(2);
        let lines: Vec<_> = wrong.err.lines().collect();
        assert_eq!(lines[..2], ["  shop verdict:good", "               ^^^^"], "{}", wrong.err);
        assert!(
            lines[2].starts_with("error: column 14: No verdict is called ‘good’. Use valid, "),
            "{}",
            wrong.err
        );
    }
    let wrong = run(folder.path(), &["events", "sorce:x", "--json"]).await.exits(2);
    let error: Value = serde_json::from_str(wrong.err.trim()).unwrap();
    assert_eq!(error["code"], "bad-search");
    assert!(error["message"].as_str().unwrap().contains("Did you mean source:?"));
    run(folder.path(), &["events", "--limt"]).await.exits(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn follow_appends_only_what_is_searched_for() {
    let folder = folder();
    let (serve, capture) = serving(folder.path()).await;
    post(capture, "/demo", &[], b"needle 1").await;
    let args = ["events", "needle", "--source", "demo", "--follow", "--json"];
    let mut follow = Process::start(command(folder.path(), &args));
    follow.says("\"seq\":1,").await;
    for (path, body) in [("/demo", "hay"), ("/shop", "needle"), ("/demo", "a NEEDLE")] {
        post(capture, path, &[], body.as_bytes()).await;
    }
    follow.says("\"seq\":4,").await;
    assert!(!follow.out().contains("\"seq\":2,") && !follow.out().contains("\"seq\":3,"), "{}", follow.out());
    follow.signal("INT").await;
    follow.end().await;
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_is_saved_changed_moved_and_removed() {
    let app = App::start().await;
    let mut live = Live::open(&app, "").await;
    let (status, first) = app
        .call("POST", "/api/searches", json!({ "name": " Failed today ", "q": "status:failed after:today" }))
        .await;
    assert_eq!(
        (status, &first["name"], &first["q"]),
        (201, &json!("Failed today"), &json!("status:failed after:today"))
    );
    assert_eq!(live.next().await.0, "config");
    let (_, second) = app.call("POST", "/api/searches", json!({ "name": "Zoë", "q": "" })).await;

    let path = |search: &Value| format!("/api/searches/{}", search["id"]);
    let moved = app.ask("PATCH", &path(&second), json!({ "place": 0, "q": "zoë" })).await;
    assert_eq!(moved, json!({ "id": second["id"], "name": "Zoë", "q": "zoë" }));
    let all = json!({ "items": [moved, first], "next_cursor": null });
    assert_eq!(app.ask("GET", "/api/searches", Value::Null).await, all);

    for (method, path, body, status, code) in [
        ("POST", "/api/searches".to_owned(), json!({ "name": "Zoë", "q": "x" }), 409, "search-exists"),
        ("POST", "/api/searches".to_owned(), json!({ "name": " ", "q": "x" }), 400, "bad-input"),
        ("POST", "/api/searches".to_owned(), json!({ "name": "ë".repeat(61), "q": "x" }), 400, "bad-input"),
        ("POST", "/api/searches".to_owned(), json!({ "name": "x", "q": "a sorce:x" }), 400, "bad-search"),
        ("PATCH", path(&first), json!({ "q": "a sorce:x" }), 400, "bad-search"),
        ("PATCH", path(&first), json!({ "name": "Zoë" }), 409, "search-exists"),
        ("PATCH", "/api/searches/99".to_owned(), json!({}), 404, "unknown-search"),
        ("DELETE", "/api/searches/99".to_owned(), Value::Null, 404, "unknown-search"),
    ] {
        let (answered, problem) = app.call(method, &path, body).await;
        assert_eq!((answered, &problem["code"]), (status, &json!(code)), "{method} {path}: {problem}");
        if code == "bad-search" {
            assert_eq!(problem["column"], 3, "{problem}");
        }
    }
    assert_eq!(app.call("DELETE", &path(&second), Value::Null).await.0, 204);
    assert_eq!(app.ask("GET", "/api/searches", Value::Null).await["items"], json!([first]));
}

/// Waits until the search index has everything that is in the inbox.
async fn indexed(app: &App) {
    const ALL: &str = "SELECT NOT EXISTS (SELECT 1 FROM changed)
        AND (SELECT value FROM meta WHERE key = 'indexed') >= (SELECT max(seq) FROM event)";
    let stored = Stored::open(app.folder.path());
    while stored.count(ALL) == 0 {
        app.ask("GET", "/healthz", Value::Null).await;
    }
}

/// Checks what searches find, at once and after the index has everything.
async fn finds(app: &App, searches: &[(&str, &[i64])]) {
    for when in ["at once", "by the index"] {
        for (q, seqs) in searches {
            let path = format!("/api/events?q={}", q.replace(' ', "%20").replace('"', "%22"));
            let page = app.ask("GET", &path, Value::Null).await;
            let items = page["items"].as_array().unwrap();
            let found: Vec<_> = items.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
            assert_eq!(found, *seqs, "{q} {when}");
        }
        indexed(app).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_pins_notes_and_the_bin_are_found_with_and_without_the_index() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    for body in ["one", "two", "three", "four"] {
        app.catch("demo", &[], body).await;
    }
    indexed(&app).await; // what changes from now on has to be told to the index
    let mark = async |seq: i64, change: Value| {
        app.ask("PATCH", &format!("/api/events/%23{seq}"), change).await;
    };
    mark(1, json!({ "tags": ["Flaky", "Look here"] })).await;
    mark(2, json!({ "pinned": true })).await;
    mark(3, json!({ "note": "a zebra" })).await;
    app.ask("DELETE", "/api/events/%234", Value::Null).await;
    finds(
        &app,
        &[
            ("tag:flaky", &[1]),
            ("tag:\"look here\"", &[1]),
            ("is:pinned", &[2]),
            ("zebra", &[3]),
            ("is:deleted", &[4]),
            ("-tag:flaky -is:pinned", &[3]),
        ],
    )
    .await;

    mark(1, json!({ "tags": ["Prod"] })).await;
    mark(2, json!({ "pinned": false })).await;
    mark(3, json!({ "note": null, "tags": ["flaky"] })).await;
    app.ask("DELETE", "/api/trash/%234", Value::Null).await;
    finds(
        &app,
        &[
            ("tag:flaky", &[3]),
            ("tag:prod", &[1]),
            ("is:pinned", &[]),
            ("zebra", &[]),
            ("is:deleted", &[]),
            ("four", &[]),
        ],
    )
    .await;
}
