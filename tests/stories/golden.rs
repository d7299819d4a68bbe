//! Promise 2, between two raw sockets: what goes in at the capture port comes out at the local server.

use hookmitt_stories::{App, LocalServer, Seen, exchange, parse_reply};
use serde_json::Value;

/// Whether a header line may differ: hop-by-hop lines, the framing, and our own lines.
fn is_ours(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default().to_ascii_lowercase();
    let of_the_hop: [&[u8]; 11] = [
        b"host",
        b"connection",
        b"keep-alive",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"expect",
        b"proxy-authorization",
        b"proxy-connection",
        b"content-length",
    ];
    of_the_hop.contains(&&name[..]) || name.starts_with(b"x-hookmitt-")
}

/// Returns the header lines of a message as bytes, without those that may differ.
fn lines(message: &[u8]) -> Vec<Vec<u8>> {
    let end = message.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
    let head = message[..end].split(|byte| *byte == b'\n').skip(1);
    let lines = head.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec());
    lines.filter(|line| !is_ours(line)).collect()
}

/// Sends these bytes to the capture port, and returns what the local server received.
async fn through(path: &str, message: &[u8]) -> Seen {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", Value::Null).await;
    app.target(Some("demo"), &format!("{}{path}", server.url()), Value::Null).await;
    let reply = parse_reply(&exchange(app.capture(), message).await);
    assert_eq!(reply.status, 202, "{:?}", String::from_utf8_lossy(&reply.body));
    let seen = server.wait_for(1).await.remove(0);
    let event = app.status("last", "completed").await;
    assert_eq!(event["deliveries"][0]["attempts"][0]["response_status"], 200);
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn every_byte_that_was_sent_is_what_arrives() {
    let body = b"\x00\xff\xfe\r\n\r\n{\"a\": 1.10,  \"a\":2}\n";
    let head = b"NOTIFY /demo/a//b/../c%2Fd;x?x=%20&y&x=+%zz HTTP/1.1\r\n\
        x-oDD-Case:  two  spaces \r\nHost: hooks.example.com\r\nX-Repeat: 1\r\nAccept:*/*\r\nX-Tab:\ta\tb\t\r\n\
        Connection: close, X-Hop\r\nX-Hop: 1\r\nx-repeat: 2\r\nX-REPEAT: 1\r\nX-Bytes: \xff\xfe\xe9\r\nX-Empty:\r\n\
        Content-Encoding: gzip\r\nX-Hookmitt-Verdict: valid\r\nCookie: a=1; b=2\r\ncookie: c=3\r\n\
        User-Agent: Hook/1 (\"q\")\r\nAuthorization: Bearer x==\r\nTE: trailers\r\nKeep-Alive: timeout=5\r\n\
        Proxy-Authorization: no\r\nUpgrade-Insecure-Requests: 1\r\n";
    let length = format!("Content-Length: {}\r\nX-Last: end\r\n\r\n", body.len());
    let message = [&head[..], length.as_bytes(), &body[..]].concat();
    let seen = through("/hooks/?t=1", &message).await;
    assert_eq!(seen.line(), "NOTIFY /hooks/a//b/../c%2Fd;x?t=1&x=%20&y&x=+%zz HTTP/1.1");
    let mut sent = lines(&message);
    sent.retain(|line| line != b"X-Hop: 1"); // named in the sender's Connection line
    let shown =
        |lines: &[Vec<u8>]| lines.iter().map(|line| line.escape_ascii().to_string()).collect::<Vec<_>>();
    assert_eq!(shown(&lines(&seen.bytes)), shown(&sent));
    assert_eq!(seen.body().escape_ascii().to_string(), body.escape_ascii().to_string());
    assert_eq!(seen.header("x-hookmitt-verdict").as_deref(), Some("unsigned"), "ours, not the sender's");
    let dropped = ["te", "keep-alive", "proxy-authorization", "x-hop"];
    assert!(dropped.iter().all(|name| seen.header(name).is_none()), "{}", seen.head());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunked_body_arrives_whole_and_with_its_length() {
    let message = b"POST /demo HTTP/1.1\r\nhost: h\r\nTransfer-Encoding: chunked\r\nx-a: 1\r\nConnection: close\r\n\r\n\
        4\r\nwiki\r\n6;ext=1\r\n\x00pedia\r\n0\r\nX-Trailer: t\r\n\r\n";
    let seen = through("/in", message).await;
    assert_eq!((seen.line().as_str(), seen.body()), ("POST /in HTTP/1.1", &b"wiki\x00pedia"[..]));
    assert_eq!(seen.header("content-length").as_deref(), Some("10"));
    assert_eq!((seen.header("transfer-encoding"), lines(&seen.bytes)), (None, vec![b"x-a: 1".to_vec()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expecting_sender_and_an_empty_query_leave_no_trace() {
    let message = b"PUT /demo/x? HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", Value::Null).await;
    app.target(Some("demo"), &server.url(), Value::Null).await;
    let answer = exchange(app.capture(), message).await;
    let text = String::from_utf8_lossy(&answer);
    assert!(text.contains("HTTP/1.1 202"), "{text}");
    let seen = &server.wait_for(1).await[0];
    assert_eq!((seen.line().as_str(), seen.body()), ("PUT /x? HTTP/1.1", &b"ok"[..]));
    assert_eq!(seen.header("expect"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_body_arrives_byte_for_byte() {
    let body: Vec<u8> =
        (0..3_000_000u32).map(|at| u8::try_from(at.wrapping_mul(2_654_435_761) >> 24).unwrap()).collect();
    let mut message = format!(
        "POST /demo HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    message.extend_from_slice(&body);
    let seen = through("", &message).await;
    assert!(seen.body() == body, "{} bytes arrived of {}", seen.body().len(), body.len());
}
