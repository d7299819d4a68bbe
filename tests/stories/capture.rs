//! Whatever a sender puts on the wire is stored as it came: methods, paths, queries, bodies.

use hookmitt_stories::{App, Reply, exchange, parse_reply, post, request};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

#[tokio::test(flavor = "multi_thread")]
async fn a_posted_event_is_stored_and_shown() {
    let app = App::start().await;
    let reply = post(app.capture(), "/demo", &[("X-Odd", "Yes")], b"{\"hello\":\"mitt\"}").await;
    assert_eq!(reply.status, 202);
    let event = app.event("last").await;
    assert_eq!(event["id"], reply.json()["id"]);
    assert_eq!(app.body("last").await, "{\"hello\":\"mitt\"}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_is_taken_and_kept_as_it_was_written() {
    let app = App::start().await;
    let methods = [
        "GET",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
        "OPTIONS",
        "TRACE",
        "HEAD",
        "CONNECT",
        "PURGE",
        "post",
        "PrOpFiNd",
        "M-SEARCH",
        "X!#$%&'*+-.^_`|~1",
    ];
    for method in methods {
        let body = if method == "HEAD" { "" } else { "a body" };
        let reply =
            parse_reply(&exchange(app.capture(), &request(method, "/demo/x", &[], body.as_bytes())).await);
        assert_eq!(reply.status, 202, "{method}");
        let id = reply.header("x-hookmitt-event-id").expect("an id");
        let event = app.event(id).await;
        assert_eq!((&event["method"], &event["path"]), (&json!(method), &json!("/x")));
        assert_eq!(app.body(id).await, body, "{method}");
        assert_eq!(reply.body.is_empty(), method == "HEAD", "an answer to {method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn path_and_query_are_kept_raw() {
    let app = App::start().await;
    let table = [
        ("", "", None),
        ("/", "/", None),
        ("?", "", Some("")),
        ("/?", "/", Some("")),
        ("?a?b", "", Some("a?b")),
        ("/a//b/../c%2Fd", "/a//b/../c%2Fd", None),
        ("//evil.example/x", "//evil.example/x", None),
        ("/%00%ff%zz", "/%00%ff%zz", None),
        ("/<>\"|^{}`\\?<>\"|^{}`\\", "/<>\"|^{}`\\", Some("<>\"|^{}`\\")),
        ("/a+b;c=1,2@x:81?q=%20+&q=&&=", "/a+b;c=1,2@x:81", Some("q=%20+&q=&&=")),
        ("/./.././%2e%2E", "/./.././%2e%2E", None),
    ];
    for (written, path, query) in table {
        let target = format!("/demo{written}");
        let reply = post(app.capture(), &target, &[], b"x").await;
        assert_eq!(reply.status, 202, "{written}");
        let event = app.event(reply.json()["id"].as_str().expect("an id")).await;
        assert_eq!((&event["path"], &event["query"]), (&json!(path), &json!(query)), "{written}");
        assert_eq!(event["url"], format!("http://127.0.0.1{target}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_beyond_ascii_in_a_path_are_kept_or_refused_in_words() {
    let app = App::start().await;
    for target in [&b"/demo/caf\xc3\xa9?\xe6\x9d\xb1"[..], b"/demo/\xff\xfe", b"/demo/a#b"] {
        let head = [b"POST ", target, b" HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx"].concat();
        let reply = parse_reply(&exchange(app.capture(), &head).await);
        if reply.status == 202 {
            let event = app.event("last").await;
            let raw = ["/demo", event["path"].as_str().unwrap()].concat();
            let raw = event["query"].as_str().map_or_else(|| raw.clone(), |query| format!("{raw}?{query}"));
            assert_eq!(raw.as_bytes(), target);
        } else {
            assert_eq!((reply.status, &reply.json()["code"]), (400, &json!("bad-request-head")), "{reply:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_content_type_and_any_bytes_are_kept() {
    let app = App::start().await;
    let every_byte: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let table: [(&str, &[u8]); 7] = [
        ("application/json", br#"{"a": 1.0, "b":"\u00e9", "a":2}  "#),
        ("application/x-www-form-urlencoded", b"payload=%7B%7D&x=+"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n1\r\n--x--\r\n"),
        ("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\0"),
        ("text/html", b"<script>alert(1)</script>"),
        ("not a content type;;", b"\0"),
        ("application/octet-stream", &every_byte),
    ];
    for (kind, body) in table {
        let reply = post(app.capture(), "/demo", &[("Content-Type", kind)], body).await;
        let id = stored(&reply);
        let event = app.event(&id).await;
        assert_eq!(app.body(&id).await, body, "{kind}");
        assert_eq!(event["size"], body.len());
        assert_eq!(event["sha256"], hex::encode(Sha256::digest(body)));
        assert!(event["headers"].as_array().unwrap().contains(&json!(["Content-Type", kind])));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_body_is_a_body() {
    let app = App::start().await;
    for bytes in [
        "POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
        "POST /demo HTTP/1.1\r\nHost: h\r\n\r\n",
    ] {
        let id = stored(&parse_reply(&exchange(app.capture(), bytes.as_bytes()).await));
        let event = app.event(&id).await;
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!((&event["size"], &event["sha256"]), (&json!(0), &json!(empty)));
        assert_eq!(app.body(&id).await, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_no_source_can_have_are_refused_and_logged() {
    let app = App::start().await;
    let long = format!("/{}", "a".repeat(64));
    let targets = ["/", "/Demo", "/-x", "/_x", "/a.b", "/a%62", "//demo", "/demo\\", "*", "demo", &long];
    for target in targets {
        let reply = post(app.capture(), target, &[], b"x").await;
        assert_eq!((reply.status, &reply.json()["code"]), (404, &json!("no-such-source")), "{target}");
        assert!(reply.json()["hint"].as_str().unwrap().contains("/github"), "{target}");
        assert_eq!(app.refused().await[0]["target"], target);
    }
    assert_eq!(app.refused().await.len(), targets.len());
    assert!(app.events().await.is_empty());
    let longest = format!("/{}", "a".repeat(63));
    assert_eq!(post(app.capture(), &longest, &[], b"x").await.status, 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_root_says_that_it_is_listening_and_stores_nothing() {
    let app = App::start().await;
    for target in ["/", "/?x"] {
        let reply = parse_reply(&exchange(app.capture(), &request("GET", target, &[], b"")).await);
        assert_eq!((reply.status, &reply.json()["listening"]), (200, &Value::Bool(true)));
    }
    for method in ["POST", "PUT", "HEAD", "get", "OPTIONS"] {
        let reply = parse_reply(&exchange(app.capture(), &request(method, "/", &[], b"")).await);
        assert_eq!(reply.status, 404, "{method}");
    }
    assert!(app.events().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn both_addresses_of_loopback_capture() {
    let app = App::start().await;
    let urls = app.ask("GET", "/api/urls", Value::Null).await["capture"].clone();
    for url in urls.as_array().unwrap() {
        let address = url.as_str().unwrap().trim_start_matches("http://").parse().unwrap();
        let id = stored(&post(address, "/demo", &[], b"x").await);
        let remote = app.event(&id).await["remote"].as_str().unwrap().to_owned();
        let remote: std::net::SocketAddr = remote.parse().unwrap();
        assert_eq!(remote.ip(), address.ip());
    }
}

fn stored(reply: &Reply) -> String {
    assert!(matches!(reply.status, 200 | 202), "{reply:?}");
    reply.header("x-hookmitt-event-id").expect("an id").to_owned()
}
