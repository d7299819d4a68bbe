//! Odd or hostile senders: whatever a relay acknowledges is in the app's inbox, and the rest is refused clearly.

use hookmitt_event::EventId;
use hookmitt_stories::{exchange, parse_reply, request};
use serde_json::{Value, json};

use super::{
    relay,
    tunnel::{arrived, set},
};

/// Returns a POST to a target with this host, these lines and a body.
fn odd(target: &str, host: &str, lines: &str) -> Vec<u8> {
    let head = format!("POST {target} HTTP/1.1\r\nHost: {host}\r\n{lines}Connection: close\r\n");
    format!("{head}Content-Length: 1\r\n\r\nx").into_bytes()
}

/// Returns a POST whose body has this framing.
fn framed(lines: &str, body: &str) -> Vec<u8> {
    format!("POST /acme-dev/s HTTP/1.1\r\nHost: r\r\nConnection: close\r\n{lines}\r\n\r\n{body}").into_bytes()
}

/// Paths that may follow the source, and hosts that don't lead to another place.
const PATHS: [&str; 9] =
    ["/..", "//a/../-/v1/tunnels", "/%00%zz", "/{a}|\"<>^`\\", "/a#b?c", "/é", "?", "??", "/?a=é&<b>"];
const HOSTS: [&str; 6] = ["a_b", "%00", "[::1]:80", "r:", "relay.", "~!$&'()*+;="];
const BAD_HOSTS: [&str; 12] =
    ["", "a b", "a\tb", "é", "a,b", "\"", "a?b#c", "[::1", "http://x", "user@host", "-/../-", "r:99999"];

/// Returns requests that are odd but valid.
fn odd_ones() -> Vec<Vec<u8>> {
    let long = format!("/{}", "a".repeat(60_000));
    let paths = PATHS.into_iter().chain([long.as_str()]);
    let mut all: Vec<_> = paths.map(|path| odd(&format!("/acme-dev/s{path}"), "r", "")).collect();
    all.extend(HOSTS.into_iter().chain([&long[1..]]).map(|host| odd("/acme-dev/s", host, "")));
    for lines in ["X-Forwarded-Host: a b\r\nForwarded: host=\"a b\"\r\n", "Expect: what\r\n", "X:\r\n"] {
        all.push(odd("/acme-dev/s", "r", lines));
    }
    for method in ["CONNECT", "TRACE", "HEAD", "OPTIONS", "post", "M-SEARCH!#$", &"A".repeat(255)] {
        all.push(request(method, "/acme-dev/s", &[], b"x"));
    }
    for target in ["http://relay/acme-dev/s", "HTTPS://a.b:1/acme-dev/s/http://x?y"] {
        all.push(odd(target, "r", ""));
    }
    let framings = [
        ("Transfer-Encoding: Chunked", "1;a=b\r\nx\r\n0\r\nX-Trailer: y\r\nContent-Length: 9\r\n\r\n"),
        ("Content-Length: 1\r\nContent-Length: 1", "x"),
        ("Content-Length:   1 ", "x"),
    ];
    all.extend(framings.map(|(lines, body)| framed(lines, body)));
    all.push(b"\r\n\r\nPOST /acme-dev/s HTTP/1.0\nContent-Length: 1\n\nx".to_vec());
    all.push(b"POST /acme-dev/s HTTP/1.1\r\nHost: r\r\nX: \xff\xe9\r\nConnection: close\r\n\r\n".to_vec());
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_odd_sender_is_thanked_for_is_in_the_inbox() {
    let set = set(&["--trusted-proxy", "127.0.0.1"]).await;
    set.app.source("s", json!({})).await;
    assert_eq!(set.post("s", &[], b"first").await.status, 202);
    for bytes in odd_ones() {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        let reply = parse_reply(&exchange(set.relay.address, &bytes).await);
        assert_eq!(reply.status, 202, "{shown}");
        let id = reply.header("x-hookmitt-event-id").unwrap_or_else(|| panic!("no id: {shown}"));
        assert!(id.parse::<EventId>().is_ok());
        let event = arrived(&set.app, id).await;
        assert!(event["url"].as_str().unwrap().starts_with("http"), "{shown}: {}", event["url"]);
    }
    let tunnel = set.app.ask("GET", "/api/tunnels", Value::Null).await["items"][0].take();
    assert_eq!((&tunnel["state"], &tunnel["error"]), (&json!("connected"), &Value::Null));
}

/// Bodies whose end is ambiguous, and invalid lines; with the status and the code of the refusal.
const BODIES: &[(&str, &str, u16, &str)] = &[
    ("Content-Length: 4\r\nTransfer-Encoding: chunked", "0\r\n\r\n", 400, "bad-request-head"),
    ("Transfer-Encoding: chunked\r\nContent-Length: 4", "0\r\n\r\n", 400, "bad-request-head"),
    ("Transfer-Encoding: gzip, chunked", "0\r\n\r\n", 400, "bad-request-head"),
    ("Transfer-Encoding: \x0bchunked", "0\r\n\r\n", 400, "bad-request-head"),
    ("Content-Length : 1", "x", 400, "bad-request-head"),
    ("Content-Length: 1, 1", "x", 400, "bad-request-head"),
    ("Content-Length: -1", "x", 400, "bad-request-head"),
    ("Content-Length: 18446744073709551615", "x", 413, "body-too-large"),
    ("Content-Length: 99999999999999999999", "x", 400, "bad-request-head"),
    ("Transfer-Encoding: chunked", "0x1\r\nx\r\n0\r\n\r\n", 400, "body-truncated"),
    ("Transfer-Encoding: chunked", "ffffffffffffffffff\r\nx\r\n0\r\n\r\n", 400, "body-truncated"),
    ("Transfer-Encoding: chunked", "1\r\nxy\r\n0\r\n\r\n", 400, "body-truncated"),
    ("Transfer-Encoding: chunked", "0\r\nX: a\n\n", 400, "body-truncated"),
    ("Transfer-Encoding: chunked", "1\r\nx\r\n0\r\n\n", 400, "body-truncated"),
    ("Transfer-Encoding: chunked", "1;\r\nx\r\n0\r\n\r\n", 400, "body-truncated"),
    ("Transfer-Encoding: chunked", "1 \r\nx\r\n0\r\n\r\n", 400, "body-truncated"),
    ("Transfer-Encoding: chunked", "1;a=\0\r\nx\r\n0\r\n\r\n", 400, "body-truncated"),
    ("Transfer-Encoding: chunked", "1\r\nx\r\n0;\r\n\r\n", 400, "body-truncated"),
    ("X: a\0b", "x", 400, "bad-request-head"),
    ("X: a\r\n folded", "x", 400, "bad-request-head"),
];

#[tokio::test]
async fn what_is_no_request_is_refused_in_words_and_nothing_hides_behind_it() {
    let set = relay::set(&[]).await;
    let mut line = set.device.offering(vec![hookmitt_stories::offer("s")]).await;
    let next = "POST /acme-dev/s HTTP/1.1\r\nHost: r\r\nContent-Length: 1\r\nConnection: close\r\n\r\ny";
    for (lines, body, status, code) in BODIES {
        let bytes = format!("POST /acme-dev/s HTTP/1.1\r\nHost: r\r\n{lines}\r\n\r\n{body}{next}");
        refused(&set, bytes.as_bytes(), *status, code).await;
    }
    let method = "A".repeat(256);
    let heads = [
        ("POST /acme-dev/s/a b HTTP/1.1", 400, "bad-request-head"),
        ("POST /acme-dev/s/\0 HTTP/1.1", 400, "bad-request-head"),
        (&format!("{method} /acme-dev/s HTTP/1.1"), 400, "bad-request-head"),
        ("POST /acme-dev/s HTTP/2.0", 505, "bad-request-head"),
        ("PRI * HTTP/2.0", 505, "bad-request-head"),
        ("CONNECT relay:443 HTTP/1.1", 400, "no-path"),
        ("OPTIONS * HTTP/1.1", 400, "no-path"),
        ("POST ftp://relay/acme-dev/s HTTP/1.1", 400, "no-path"),
        ("POST http://user@relay/acme-dev/s HTTP/1.1", 400, "bad-host"),
        ("POST http:///acme-dev/s HTTP/1.1", 400, "bad-host"),
        ("POST /acme-dev/s HTTP/1.1\r\nHost: r", 400, "bad-host"),
        ("GET /-/healthz HTTP/1.1\r\nHost: r", 400, "bad-host"),
        (&format!("POST /acme-dev/s/{} HTTP/1.1", "a".repeat(10_000_000)), 431, "bad-request-head"),
        ("GET /-/v1/tunnels HTTP/1.1", 405, "bad-method"),
        ("GET /-/v1/tunnel HTTP/1.1", 400, "no-websocket"),
    ];
    for (head, status, code) in heads {
        refused(&set, format!("{head}\r\nHost: r\r\nConnection: close\r\n\r\n").as_bytes(), status, code)
            .await;
    }
    for host in BAD_HOSTS {
        refused(&set, &odd("/acme-dev/s", host, ""), 400, "bad-host").await;
        refused(&set, &odd("http://relay/acme-dev/s", host, ""), 400, "bad-host").await;
    }
    refused(&set, b"POST /acme-dev/s HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400, "bad-host").await;
    assert_eq!(line.pong().await.letters, 0, "nothing came of it");
}

/// Checks that a request gets one refusal as its answer, and that the connection ends.
async fn refused(set: &relay::Set, bytes: &[u8], status: u16, code: &str) {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    let answered = exchange(set.relay.address, bytes).await;
    let reply = parse_reply(&answered);
    assert_eq!((reply.status, reply.json()["code"].as_str()), (status, Some(code)), "{shown}");
    assert!(!String::from_utf8_lossy(&answered).contains("HTTP/1.1 2"), "what followed was taken: {shown}");
}
