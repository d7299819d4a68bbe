//! Events exported to files and imported again, byte for byte.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{App, LocalServer, Stored, exchange, parse_reply, post};
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use serde_json::{Value, json};

use super::{
    delivery::bodies,
    listen::{folder, run, serving},
};

/// Any request that the capture port accepts.
#[derive(Clone, Debug)]
struct Sent {
    method: String,
    path: String,
    query: Option<String>,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

fn sent() -> impl Strategy<Value = Sent> {
    let method =
        prop_oneof!["GET|POST|PUT|DELETE|PATCH|OPTIONS", "[A-Z]{1,12}", "[a-zA-Z!#$%&*+.^_|~-]{1,9}"];
    let path = prop_oneof![Just(String::new()), "(/[a-zA-Z0-9._~!$&'()*+,;=:@%/-]{0,20}){1,3}"];
    let query = proptest::option::of("[a-zA-Z0-9._~!$&'()*+,;=:@%/?-]{0,30}");
    let name = prop_oneof![
        "X-[A-Za-z0-9!#$%&'*+.^_`|~-]{1,10}",
        Just("X-Repeat".to_owned()),
        Just("x-repeat".to_owned())
    ];
    let value = prop_oneof![
        "[ -~]{0,30}".prop_map(String::into_bytes),
        proptest::collection::vec(prop_oneof![Just(b'\t'), 0x20..=0x7e_u8, 0x80..=0xff_u8], 0..20),
        "\\PC{0,10}".prop_map(String::into_bytes),
    ];
    let headers = proptest::collection::vec((name, value), 0..12);
    let body = prop_oneof![
        Just(Vec::new()),
        "\\PC{0,60}".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..400),
    ];
    (method, path, query, headers, body)
        .prop_filter("CONNECT is no request for a catcher", |(method, ..)| {
            !method.eq_ignore_ascii_case("connect")
        })
        .prop_map(|(method, path, query, headers, body)| Sent { method, path, query, headers, body })
}

impl Sent {
    fn message(&self) -> Vec<u8> {
        let query = self.query.as_ref().map_or(String::new(), |query| format!("?{query}"));
        let mut bytes =
            format!("{} /demo{}{query} HTTP/1.1\r\nhOST: h\r\n", self.method, self.path).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        let end = format!("Connection: close\r\nContent-Length: {}\r\n\r\n", self.body.len());
        bytes.extend_from_slice(end.as_bytes());
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// Returns an event's request and the facts about it.
async fn request(app: &App, id: &str) -> (Value, Vec<u8>) {
    let event = app.event(id).await;
    let names = [
        "method",
        "path",
        "query",
        "headers",
        "http_version",
        "url",
        "received_at",
        "sha256",
        "dedupe_key",
        "provider",
        "type",
        "source",
    ];
    (
        names.iter().map(|name| ((*name).to_owned(), event[name].clone())).collect(),
        app.body(id).await.to_vec(),
    )
}

async fn export(app: &App, id: &str) -> String {
    let exported = app.ask("POST", "/api/export", json!({ "ids": [id], "raw": true })).await;
    exported["items"][0]["content"].as_str().expect("a file").to_owned()
}

async fn import(app: &App, content: &str, forward: bool) -> Value {
    let order = json!({ "items": [{ "name": "a.fixture.json", "content_base64": STANDARD.encode(content) }], "forward": forward });
    app.ask("POST", "/api/import", order).await["items"][0].clone()
}

#[test]
fn what_is_exported_raw_and_imported_elsewhere_is_the_same_request() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (one, other) = runtime.block_on(async { (App::start().await, App::start().await) });
    let mut runner = TestRunner::new(Config { cases: 150, failure_persistence: None, ..Config::default() });
    let ran = runner.run(&sent(), |sent| {
        runtime.block_on(async {
            let reply = parse_reply(&exchange(one.capture(), &sent.message()).await);
            let id = reply
                .header("x-hookmitt-event-id")
                .unwrap_or_else(|| panic!("not stored: {reply:?}"))
                .to_owned();
            let before = request(&one, &id).await;
            prop_assert_eq!(&before.1, &sent.body);
            let file = export(&one, &id).await;
            let imported = import(&other, &file, false).await;
            let new = imported["event_id"].as_str().expect("an id");
            let after = request(&other, new).await;
            prop_assert_eq!(&before, &after);
            prop_assert_eq!(&file, &export(&other, new).await);
            prop_assert_eq!(wire(&one, &id), wire(&other, new));
            Ok::<_, TestCaseError>(())
        })
    });
    ran.unwrap();
}

/// Returns the header lines as they are stored: the bytes from the wire.
fn wire(app: &App, id: &str) -> Vec<u8> {
    Stored::open(app.folder.path()).headers(id).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_event_is_judged_anew_and_not_forwarded_unless_asked() {
    let (one, other, server) = (App::start().await, App::start().await, LocalServer::start().await);
    let reply = one.github("gh", "d1", Some("right"), "{}").await;
    let id = reply.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(one.event(&id).await["verdict"], "no_secret");
    let file = export(&one, &id).await;
    other.source("gh", Value::Null).await;
    other.secret("gh", "default", "right").await;
    other.target(Some("gh"), &server.url(), json!({})).await;
    let imported = import(&other, &file, false).await;
    assert_eq!((&imported["verdict"], &imported["source"]), (&json!("valid"), &json!("gh")));
    let event = other.event("last").await;
    assert_eq!(
        (&event["via"], &event["status"], &event["deliveries"]),
        (&json!("import"), &json!("captured"), &json!([]))
    );
    let second = export(&one, &one.catch("gh", &[("X-GitHub-Event", "ping")], "{\"zen\":1}").await).await;
    import(&other, &second, true).await;
    other.status("last", "completed").await;
    assert_eq!(bodies(&server.seen()), ["{\"zen\":1}"]);
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[tokio::test(flavor = "multi_thread")]
async fn export_without_raw_says_that_it_cannot_redact() {
    let (folder, out) = (folder(), folder());
    let (serve, capture) = serving(folder.path()).await;
    post(capture, "/demo", &[], b"x").await;
    let ran = run(folder.path(), &["export", "last"]).await.exits(2);
    assert!(ran.err.contains("redact") && ran.err.contains("--raw") && ran.out.is_empty(), "{}", ran.err);
    run(folder.path(), &["export", "last", "-o", text(&out.path().join("f"))]).await.exits(2);
    assert!(!out.path().join("f").exists());
    let app_says = App::start().await;
    app_says.catch("demo", &[], "x").await;
    let (status, problem) = app_says.call("POST", "/api/export", json!({ "ids": ["last"] })).await;
    assert_eq!((status, &problem["code"]), (400, &json!("redaction-missing")));
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_and_folders_go_out_and_come_back() {
    let (one, other, out) = (folder(), folder(), folder());
    let (serve, capture) = serving(one.path()).await;
    for body in [&b"one"[..], b"two\x00\xff", b"three"] {
        post(capture, "/demo/p?q=1", &[("X-A", "1"), ("x-a", "2")], body).await;
    }
    let ran = run(one.path(), &["export", "last", "--raw"]).await.exits(0);
    let file = out.path().join("single.fixture.json");
    run(one.path(), &["export", "last", "--raw", "-o", text(&file)]).await.exits(0);
    assert_eq!(std::fs::read(&file).unwrap(), ran.out);
    run(one.path(), &["export", "last", "last~1", "--raw"]).await.exits(2);
    let set = out.path().join("set");
    run(one.path(), &["export", "--source", "demo", "--raw", "-o", text(&set)]).await.exits(0);
    assert_eq!(std::fs::read_dir(&set).unwrap().count(), 3);
    serve.stop().await.exits(0);

    std::fs::create_dir(set.join("inner")).unwrap();
    std::fs::write(set.join("inner/broken.fixture.json"), "{\"format\": 1, \"source\"").unwrap();
    let ran = run(other.path(), &["import", text(&set), "--json"]).await.exits(2);
    assert_eq!(ran.json().len(), 3, "the good ones went in");
    assert!(ran.err.contains("broken.fixture.json"), "{}", ran.err);
    let stored = run(other.path(), &["events", "--json"]).await.exits(0).json();
    assert_eq!(stored.iter().map(|event| event["via"].clone()).collect::<Vec<_>>(), ["import"; 3]);
    let body = run(other.path(), &["show", "last~1", "--body"]).await.exits(0);
    assert_eq!(body.out, b"two\x00\xff");
    run(other.path(), &["import", text(&file), "--source", "elsewhere"]).await.exits(0);
    assert_eq!(run(other.path(), &["events", "--source", "elsewhere", "--json"]).await.json().len(), 1);
    run(other.path(), &["import", "/nowhere/x.fixture.json"]).await.exits(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn import_with_forward_delivers_from_the_command_line() {
    let (one, other, server, out) = (folder(), folder(), LocalServer::start().await, folder());
    let (serve, capture) = serving(one.path()).await;
    post(capture, "/demo", &[], b"again").await;
    let file = out.path().join("a.fixture.json");
    run(one.path(), &["export", "last", "--raw", "-o", text(&file)]).await.exits(0);
    serve.stop().await.exits(0);
    run(other.path(), &["source", "add", "demo"]).await.exits(0);
    run(other.path(), &["target", "add", "demo", &server.url()]).await.exits(0);
    run(other.path(), &["import", text(&file)]).await.exits(0);
    run(other.path(), &["import", text(&file), "--forward"]).await.exits(0);
    let (serve, _) = serving(other.path()).await; // delivers what the command left
    assert_eq!(bodies(&server.wait_for(1).await), ["again"]);
    serve.stop().await.exits(0);
    assert_eq!(server.seen().len(), 1);
}
