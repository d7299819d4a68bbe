//! The bytes at the other end are the bytes that were stored.

use std::io::Write as _;

use hookmitt_forward::{Envelope, Outcome, TargetUrl, head};

use crate::server::{bare, read_request, request, send_to, server};

/// What the server reads when `envelope` is sent; `{host}` stands for its address.
async fn seen(envelope: Envelope<'_>) -> String {
    let body = envelope.request.body.len();
    let (address, served) = server(move |mut stream| {
        let got = read_request(&mut stream, body);
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("the client listens");
        // Anything beyond the body would show up here, once the client has closed.
        let mut rest = Vec::new();
        std::io::Read::read_to_end(&mut stream, &mut rest).expect("the client closes");
        [got, rest].concat()
    });
    let outcome = send_to(address, "/hooks/?t=1", &envelope).await;
    assert!(matches!(&outcome, Outcome::Answered { response, .. } if response.status == 204), "{outcome:?}");
    let got = served.join().expect("the server does not panic");
    let text: String = got.iter().map(|byte| char::from(*byte)).collect(); // Latin-1: every byte shows
    text.replace(&address.to_string(), "{host}")
}

#[tokio::test]
async fn every_stored_byte_arrives() {
    let stored = request(
        "NOTIFY",
        "/a//b/../c%2Fd?x=%20&y",
        b"x-oDD-Case:  two  spaces \r\nHost: hooks.example.com\r\nX-Repeat: 1\r\nAccept:*/*\r\n\
          content-LENGTH: 6\r\nx-repeat: 2\r\nX-Bytes: \xff\xfe\r\nX-Empty:\r\nContent-Encoding: gzip\r\n",
        &b"\x00\xff\r\n\r\n"[..],
    );
    assert_eq!(
        seen(bare(&stored)).await,
        "NOTIFY /hooks/a//b/../c%2Fd?t=1&x=%20&y HTTP/1.1\r\n\
         x-oDD-Case:  two  spaces \r\nHost: {host}\r\nX-Repeat: 1\r\nAccept:*/*\r\n\
         content-LENGTH: 6\r\nx-repeat: 2\r\nX-Bytes: \u{ff}\u{fe}\r\nX-Empty:\r\nContent-Encoding: gzip\r\n\r\n\
         \u{0}\u{ff}\r\n\r\n"
    );
}

#[tokio::test]
async fn lines_of_the_old_hop_stay_behind() {
    let stored = request(
        "POST",
        "",
        b"Connection: keep-alive, X-Hop\r\nconnection: close\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\n\
          Trailer: X\r\nTransfer-Encoding: chunked\r\nUpgrade: h2c\r\nProxy-Authorization: x\r\n\
          Proxy-Connection: close\r\nExpect: 100-continue\r\nX-Hookmitt-Verdict: valid\r\nX-End: 1\r\n",
        "body",
    );
    let got = seen(bare(&stored)).await;
    let want = "POST /hooks/?t=1 HTTP/1.1\r\nHost: {host}\r\nX-End: 1\r\nContent-Length: 4\r\n\r\nbody";
    assert_eq!(got, want);
}

#[tokio::test]
async fn threat_4_a_sender_writes_no_line_that_a_server_reads_as_ours() {
    let stored = request(
        "POST",
        "",
        b"X_Hookmitt_Verdict: valid\r\nX-Hookmitt_Event-Id: x\r\nx.hookmitt.attempt: 1\r\nX!HOOKMITT~Replay: true\r\n\
          X-Hookmitt: kept\r\nX-Hookmitty-A: kept\r\nX_Other: kept\r\n",
        "",
    );
    for hookmitt_headers in [true, false] {
        let got = seen(Envelope { hookmitt_headers, ..bare(&stored) }).await;
        let lines: Vec<_> =
            got.lines().filter(|line| line.to_ascii_lowercase().contains("hookmitt")).collect();
        let (kept, ours) = lines.split_at(2);
        assert_eq!(kept, ["X-Hookmitt: kept", "X-Hookmitty-A: kept"]);
        assert!(ours.iter().all(|line| line.starts_with("x-hookmitt-")), "{ours:?}");
        assert_eq!(ours.len(), if hookmitt_headers { 4 } else { 0 }, "{ours:?}");
        assert!(got.contains("\r\nX_Other: kept\r\n"), "{got}");
    }
}

#[tokio::test]
async fn our_lines_say_what_this_is() {
    let stored = request("GET", "/x", b"host: h\r\n", "");
    let envelope = Envelope { hookmitt_headers: true, replay: true, ..bare(&stored) };
    assert_eq!(
        seen(envelope).await,
        "GET /hooks/x?t=1 HTTP/1.1\r\nhost: {host}\r\n\
         x-hookmitt-event-id: 07070707-0707-0707-0707-070707070707\r\n\
         x-hookmitt-delivery-id: 07070707-0707-0707-0707-070707070707.2\r\n\
         x-hookmitt-attempt: 3\r\nx-hookmitt-verdict: valid\r\nx-hookmitt-replay: true\r\n\r\n"
    );
}

#[tokio::test]
async fn a_length_is_said_where_it_was_or_where_it_is_usual() {
    let cases: [(&str, &'static [u8], &str, &str); 6] = [
        ("GET", b"", "", "Host: {host}\r\n\r\n"),
        ("GET", b"Content-Length: 0\r\nA: 1\r\n", "", "Host: {host}\r\nContent-Length: 0\r\nA: 1\r\n\r\n"),
        ("POST", b"A: 1\r\n", "", "Host: {host}\r\nA: 1\r\nContent-Length: 0\r\n\r\n"),
        ("DELETE", b"", "", "Host: {host}\r\n\r\n"),
        ("GET", b"", "x", "Host: {host}\r\nContent-Length: 1\r\n\r\nx"),
        (
            "PUT",
            b"content-length: 9\r\nA: 1\r\nContent-Length: 9\r\n",
            "abc",
            "Host: {host}\r\ncontent-length: 3\r\nA: 1\r\n\r\nabc",
        ),
    ];
    for (method, lines, body, want) in cases {
        let stored = request(method, "", lines, body);
        let got = seen(bare(&stored)).await;
        assert_eq!(got, format!("{method} /hooks/?t=1 HTTP/1.1\r\n{want}"));
    }
}

#[tokio::test]
async fn an_old_request_goes_out_as_http_1_1() {
    let mut stored = request("POST", "/", b"Content-Type: text/plain\r\n", "x");
    stored.version = hookmitt_event::HttpVersion::Http10;
    let want =
        "POST /hooks/?t=1 HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nx";
    assert_eq!(seen(bare(&stored)).await, want);
}

#[tokio::test]
async fn methods_that_clients_treat_apart_are_sent_like_any_other() {
    for method in ["CONNECT", "TRACE", "OPTIONS", "M-SEARCH", "get"] {
        let stored = request(method, "/x", b"Host: h\r\n", "body");
        let want =
            format!("{method} /hooks/x?t=1 HTTP/1.1\r\nHost: {{host}}\r\nContent-Length: 4\r\n\r\nbody");
        assert_eq!(seen(bare(&stored)).await, want);
    }
}

#[test]
fn the_senders_host_stays_where_it_is_wanted() {
    let target = TargetUrl::parse("https://h:8443/").unwrap();
    let text = |envelope| String::from_utf8(head(&target, &envelope)).unwrap();
    let stored = request("GET", "/", b"A: 1\r\nhost:  hooks.example.com\r\nHost: other\r\n", "");
    let kept = Envelope { preserve_host: true, ..bare(&stored) };
    assert_eq!(text(kept), "GET / HTTP/1.1\r\nA: 1\r\nhost:  hooks.example.com\r\n\r\n");
    let stored = request("GET", "/", b"A: 1\r\n", "");
    let kept = Envelope { preserve_host: true, ..bare(&stored) };
    assert_eq!(text(kept), "GET / HTTP/1.1\r\nHost: h:8443\r\nA: 1\r\n\r\n");
}
