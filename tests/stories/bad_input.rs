//! Every input that is refused gets a stable code and a hint at the next step.

use hookmitt_api::{Door, Host, HostOptions, StartError};
use hookmitt_event::Explain as _;
use hookmitt_stories::{App, exchange, parse_reply, post};
use serde_json::{Value, json};

/// Checks an answer's code, and that its hint contains `hint`.
fn says(answer: &Value, code: &str, hint: &str) {
    assert_eq!(answer["code"], code, "{answer}");
    let said = answer["hint"].as_str().unwrap_or_else(|| panic!("no hint: {answer}"));
    assert!(said.contains(hint), "{said:?} says nothing of {hint:?}");
}

fn error_says(error: &StartError, code: &str, hint: &str) {
    let said = error.hint().unwrap_or_else(|| panic!("no hint: {error}"));
    assert_eq!((error.exit_code(), error.code()), (3, code), "{error}");
    assert!(said.contains(hint), "{said:?} says nothing of {hint:?}");
}

fn options(folder: &std::path::Path) -> HostOptions {
    let secrets = Some(hookmitt_engine::StoreChoice::File);
    HostOptions { data_dir: folder.to_owned(), secrets, api_port: Some(0), ..HostOptions::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_route_says_where_the_routes_are() {
    let app = App::start().await;
    for (method, path, status, code) in
        [("GET", "/api/event", 404, "no-such-route"), ("PATCH", "/api/events", 405, "no-such-method")]
    {
        let reply = app.api_call(method, path, b"").await;
        assert_eq!(reply.status, status);
        says(&reply.json(), code, "/api/openapi.json");
    }
    let reply = post(app.capture(), "/Not a source", &[], b"{}").await;
    assert!(matches!(reply.status, 400 | 505));
    let reply = post(app.capture(), "/Not.A.Source", &[], b"{}").await;
    assert_eq!(reply.status, 404);
    says(&reply.json(), "no-such-source", "/github");
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_json_says_where_it_breaks() {
    let app = App::start().await;
    for (body, place) in
        [("{\"slug\": \"a\",}", "line 1 column 14"), ("", "slug"), ("{\"slug\": 7}", "string")]
    {
        let reply = app.api_call("POST", "/api/sources", body.as_bytes()).await;
        assert_eq!(reply.status, 400);
        says(&reply.json(), "bad-json", "/api/openapi.json");
        assert!(reply.json()["detail"].as_str().unwrap().contains(place), "{}", reply.json());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_says_where_the_right_one_is() {
    let app = App::start().await;
    let host = app.api().to_string();
    let reply =
        app.api_raw("GET", "/api/events", &[("Host", &host), ("Authorization", "Bearer no")], b"").await;
    assert_eq!(reply.status, 401);
    says(&reply.json(), "bad-token", "token file in the data directory");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_host_is_told_how_to_call() {
    let app = App::start().await;
    let token = format!("Bearer {}", app.token());
    let reply =
        app.api_raw("GET", "/api/events", &[("Host", "evil.example"), ("Authorization", &token)], b"").await;
    assert_eq!(reply.status, 403);
    says(&reply.json(), "foreign-host", "127.0.0.1");
}

#[tokio::test(flavor = "multi_thread")]
async fn oversize_and_truncated_bodies_say_that_nothing_was_kept() {
    let app = App::start().await;
    let head = "POST /demo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n";
    let reply = parse_reply(&exchange(app.capture(), head.as_bytes()).await);
    assert_eq!(reply.status, 413);
    says(&reply.json(), "body-too-large", "send less");
    let reply = parse_reply(
        &exchange(app.capture(), b"POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf").await,
    );
    assert_eq!(reply.status, 400);
    says(&reply.json(), "body-truncated", "nothing was stored");
    assert!(reply.json()["detail"].as_str().unwrap().contains("4 of 9"));
    assert!(app.events().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_header_bytes_say_what_a_head_looks_like() {
    let app = App::start().await;
    for line in [&b"X: \x01"[..], b"X: a\x7f", b"X: a\0", b"\xffX: a", b"X X: a", b": a"] {
        let head = [b"POST /demo HTTP/1.1\r\nHost: h\r\n", line, b"\r\nContent-Length: 0\r\n\r\n"].concat();
        let reply = parse_reply(&exchange(app.capture(), &head).await);
        assert_eq!(reply.status, 400, "{line:?}");
        says(&reply.json(), "bad-request-head", "header lines");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_provider_is_told_the_known_ones() {
    let app = App::start().await;
    let calls = [
        ("/api/sources", json!({ "slug": "a", "provider": "githob" })),
        ("/api/send", json!({ "provider": "githob", "to": "3000" })),
        ("/api/listen", json!({ "provider": "githob", "url": "3000" })),
    ];
    for (path, body) in calls {
        let (status, answer) = app.call("POST", path, body).await;
        assert_eq!(status, 400);
        says(&answer, "unknown-provider", "github");
        assert!(answer["detail"].as_str().unwrap().contains("githob"));
    }
    let headers = [("X-Unheard-Of-Signature", "sha256=00")];
    let reply = post(app.capture(), "/demo", &headers, b"{}").await;
    let event = app.event(reply.json()["id"].as_str().unwrap()).await;
    assert_eq!((&event["provider"], &event["verdict"]), (&Value::Null, &json!("unsigned")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_secret_is_a_verdict_and_an_unset_variable_a_warning() {
    let app = App::start().await;
    app.github("hub", "1", Some("hush"), "{}").await;
    assert_eq!(app.event("last").await["verdict"], "no_secret");
    let (_, verified) = app.call("POST", "/api/events/last/verify", Value::Null).await;
    assert_eq!(verified["verdict"], "no_secret");
    app.ask("PUT", "/api/sources/hub/secrets/main", json!({ "env": "HOOKMITT_STORY_UNSET" })).await;
    let listed = app.ask("GET", "/api/secrets", Value::Null).await["items"][0].clone();
    assert!(listed["problem"].as_str().unwrap().contains("HOOKMITT_STORY_UNSET"), "{listed}");
    let checks = app.ask("GET", "/api/doctor", Value::Null).await["checks"].clone();
    let warned = checks.as_array().unwrap().iter().any(|check| {
        check["ok"] == false && check["message"].as_str().unwrap().contains("HOOKMITT_STORY_UNSET")
    });
    assert!(warned, "{checks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_port_is_named_and_the_way_out_too() {
    let app = App::start().await;
    let folder = tempfile::tempdir().unwrap();
    let port = app.capture().port();
    for taken in [
        HostOptions { port, ..options(folder.path()) },
        HostOptions { api_port: Some(port), ..options(folder.path()) },
        HostOptions { port, host: Some("127.0.0.1".to_owned()), ..options(folder.path()) },
    ] {
        let error = Host::start(taken).await.expect_err("the port is taken");
        assert!(error.to_string().contains(&port.to_string()), "{error}");
        error_says(&error, "port-taken", "--port");
    }
    let nowhere = HostOptions { host: Some("192.0.2.1".to_owned()), ..options(folder.path()) };
    error_says(
        &Host::start(nowhere).await.expect_err("not ours"),
        "host-unusable",
        "address of this machine",
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was left there");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_or_newer_data_directory_is_refused_and_left_alone() {
    let above = tempfile::tempdir().unwrap();
    let file = above.path().join("file");
    std::fs::write(&file, "I am no folder").unwrap();
    let garbage = above.path().join("garbage");
    std::fs::create_dir(&garbage).unwrap();
    std::fs::write(garbage.join("inbox.db"), "no database, but long enough to be one ".repeat(40)).unwrap();
    let nested = above.path().join("nested");
    std::fs::create_dir_all(nested.join("inbox.db")).unwrap();
    for folder in [&file, &file.join("beneath"), &garbage, &nested] {
        error_says(
            &Host::start(options(folder)).await.expect_err("unusable"),
            "inbox-unreadable",
            "--data-dir",
        );
        let error = Door::open(folder).await.expect_err("unusable");
        assert_eq!((error.exit_code(), error.code()), (3, "inbox-unreadable"));
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"I am no folder");

    let folder = App::start().await.stop().await;
    let path = folder.path().join("inbox.db");
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 4_000).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = Host::start(options(folder.path())).await.expect_err("newer");
    error_says(&error, "inbox-newer", "update hookmitt");
    assert!(error.to_string().contains("4000"));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_token_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine");
    std::fs::write(&file, "\n").unwrap();
    let bad = HostOptions { token_file: Some(file), ..options(folder.path()) };
    let error = Host::start(bad).await.expect_err("no token");
    assert_eq!((error.exit_code(), error.code()), (2, "token-file"));
    assert!(error.hint().unwrap().contains("--token-file"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_is_no_url_or_is_ourselves_says_what_to_write() {
    let app = App::start().await;
    let own = format!("http://localhost:{}/demo", app.capture().port());
    let table = [
        ("", "target-not-http", "http://localhost:3000"),
        ("ftp://example.com/", "target-not-http", "http://localhost:3000"),
        ("http://", "target-bad-host", "http://localhost:3000"),
        ("localhost:99999", "target-bad-host", "http://localhost:3000"),
        ("http://localhost:0", "target-port-zero", "port"),
        ("http://me:secret@localhost:3000", "target-with-login", "Authorization"),
        ("http://localhost:3000/#top", "target-with-fragment", "#"),
        ("http://localhost:3000/a b", "target-bad-character", "%20"),
        (&own, "own-address", "http://localhost:3000"),
    ];
    for (url, code, hint) in table {
        let (status, answer) = app.call("POST", "/api/targets", json!({ "url": url })).await;
        assert_eq!(status, 400, "{url}");
        says(&answer, code, hint);
        assert!(!answer.to_string().contains("me:secret"));
    }
    assert_eq!(app.ask("GET", "/api/targets", Value::Null).await["items"], json!([]));
}
