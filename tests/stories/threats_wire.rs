//! Messages that two parsers could read differently, at the capture port and at a relay (Threats 1 and 7).

use std::net::SocketAddr;

use bytes::Bytes;
use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp};
use hookmitt_stories::{App, LocalServer, Reply, exchange, offer, parse_reply};
use hookmitt_verify::{SignBy, provider, sign};
use serde_json::json;

use super::relay;

/// Values that are not valid hosts.
const NO_HOSTS: [&str; 24] = [
    "",
    " ",
    ":80",
    "h.example/other",
    "h.example/",
    "h.example\\other",
    "h.example?x",
    "h.example#x",
    "me@h.example",
    "me:secret@h.example",
    "http://h.example",
    "h example",
    "h.example, i.example",
    "h.example,i.example",
    "h.example:x",
    "h.example:-1",
    "h.example:65536",
    "h.example:80:80",
    "h.example%",
    "h.example%2",
    "[::1",
    "::1",
    "[h.example]",
    "b\u{fc}cher.example",
];

/// Sends one request with these lines after the request line; the connection ends with it.
async fn ask(address: SocketAddr, first: &str, lines: &str) -> Reply {
    let head = format!("{first}\r\n{lines}Connection: close\r\nContent-Length: 2\r\n\r\nhi");
    parse_reply(&exchange(address, head.as_bytes()).await)
}

/// Requests to either port, with the status and the code of the answer. `PATH` stands for a path that is accepted.
const HEADS: [(&str, &str, u16, Option<&str>); 14] = [
    ("POST PATH HTTP/1.1", "", 400, Some("bad-host")),
    ("POST PATH HTTP/1.1", "Host: h\r\nHost: h\r\n", 400, Some("bad-host")),
    ("POST PATH HTTP/1.1", "Host: h\r\nX-A: 1\r\nhost: other\r\n", 400, Some("bad-host")),
    ("POST PATH HTTP/1.1", "Host:\r\nHost: h\r\n", 400, Some("bad-host")),
    ("POST PATH HTTP/1.0", "Host: h/x\r\n", 400, Some("bad-host")),
    ("POST PATH HTTP/1.0", "Host: h\r\nHost: h\r\n", 400, Some("bad-host")),
    ("POST http://h.examplePATH HTTP/1.1", "", 400, Some("bad-host")),
    ("POST http://h.examplePATH HTTP/1.1", "Host: a b\r\n", 400, Some("bad-host")),
    ("POST http://me@h.examplePATH HTTP/1.1", "Host: h\r\n", 400, Some("bad-host")),
    ("POST http://PATH HTTP/1.1", "Host: h\r\n", 400, Some("bad-host")),
    ("POST PATH HTTP/1.1", "Host : h\r\n", 400, Some("bad-request-head")),
    ("POST PATH HTTP/1.1", " Host: h\r\n", 400, Some("bad-request-head")),
    ("POST PATH HTTP/1.1", "Host: h\r\n .example\r\n", 400, Some("bad-request-head")),
    ("POST PATH HTTP/1.0", "", 202, None),
];

/// Request targets that are neither a path nor a URL.
const NO_PATHS: [&str; 4] = ["CONNECT h.example:443", "OPTIONS *", "POST ftp://h/demo", "POST demo"];

/// Sends all of them and returns how many were accepted. `no_path` is the expected answer to an invalid target.
async fn asked(address: SocketAddr, path: &str, no_path: (u16, &str)) -> usize {
    for target in NO_PATHS {
        let reply = ask(address, &format!("{target} HTTP/1.1"), "Host: h\r\n").await;
        assert_eq!((reply.status, reply.json()["code"].as_str()), (no_path.0, Some(no_path.1)), "{target}");
    }
    for host in NO_HOSTS {
        let reply = ask(address, &format!("POST {path} HTTP/1.1"), &format!("Host: {host}\r\n")).await;
        assert_eq!((reply.status, &reply.json()["code"]), (400, &json!("bad-host")), "{host:?}");
        assert!(reply.json()["hint"].is_string());
    }
    for (first, lines, status, code) in HEADS {
        let first = first.replace("PATH", path);
        let reply = ask(address, &first, lines).await;
        assert_eq!((reply.status, reply.json()["code"].as_str()), (status, code), "{first}\n{lines}");
    }
    HEADS.iter().filter(|(_, _, status, _)| *status == 202).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_bad_hosts_are_refused_at_the_capture_port_and_listed() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    let taken = asked(app.capture(), "/demo/x?y", (404, "no-such-source")).await;
    assert_eq!(app.events().await.len(), taken);
    let refused = app.refused().await;
    assert_eq!(refused.len(), NO_PATHS.len() + NO_HOSTS.len() + HEADS.len() - taken);
    let bad = refused.iter().filter(|refusal| refusal["code"] == "bad-host");
    assert!(bad.clone().count() > NO_HOSTS.len());
    assert!(bad.clone().any(|refusal| refusal["target"] == "/demo/x?y"), "{refused:?}");
    // A request with an invalid host creates no source either.
    ask(app.capture(), "POST /new HTTP/1.1", "Host: a/b\r\n").await;
    assert_eq!(app.ask("GET", "/api/sources", json!(null)).await["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn threat_1_bad_hosts_are_refused_at_a_relay() {
    let set = relay::set(&[]).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    let taken = asked(set.relay.address, "/acme-dev/s/x?y", (400, "no-path")).await;
    assert_eq!(line.pong().await.letters, taken as u64);
}

/// Returns a Twilio webhook, signed for this URL, with this Host line and this request target.
fn twilio(url: &str, host: &str, target: &str) -> Vec<u8> {
    let lines =
        [("Host", host), ("Content-Type", "application/x-www-form-urlencoded"), ("Connection", "close")];
    let unsigned = Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(lines).unwrap(),
        body: Bytes::from_static(b"Body=Ahoy&From=%2B15550001111"),
    };
    let twilio = provider("twilio").unwrap();
    let by = SignBy { url: Some(url), ..SignBy::new(twilio, b"an-auth-token", Timestamp::now()) };
    let signed = sign(&by, &unsigned).unwrap();
    let head = [format!("POST {target} HTTP/1.1\r\n").as_bytes(), signed.headers.as_wire()].concat();
    let length = format!("Content-Length: {}\r\n\r\n", signed.body.len());
    [&head[..], length.as_bytes(), &signed.body].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_host_line_lends_no_path_to_the_url_that_a_signature_is_checked_for() {
    let app = App::start().await;
    app.source("tw", json!({ "provider": "twilio" })).await;
    app.secret("tw", "main", "an-auth-token").await;
    for (url, host) in [
        ("http://h.example/other/tw", "h.example/other"),
        ("http://h.example/?/tw", "h.example/?"),
        ("http://h.example/other#/tw", "h.example/other#"),
        ("http://me@h.example/tw", "me@h.example"),
    ] {
        let reply = parse_reply(&exchange(app.capture(), &twilio(url, host, "/tw")).await);
        assert_eq!((reply.status, &reply.json()["code"]), (400, &json!("bad-host")), "{host}");
    }
    assert!(app.events().await.is_empty());
    let genuine = twilio("http://h.example/tw", "h.example", "/tw");
    assert_eq!(parse_reply(&exchange(app.capture(), &genuine).await).status, 200);
    assert_eq!(app.event("last").await["verdict"], "valid");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_whole_url_for_a_target_is_taken_for_what_it_calls() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    for (number, (target, path, query)) in [
        ("http://127.0.0.1/demo", "", None),
        ("HTTP://127.0.0.1:80/demo/a//b%2Fc?x=/y&", "/a//b%2Fc", Some("x=/y&")),
        ("https://localhost/demo/http://other/demo?", "/http://other/demo", Some("")),
    ]
    .into_iter()
    .enumerate()
    {
        let reply = ask(app.capture(), &format!("POST {target} HTTP/1.1"), "Host: localhost\r\n").await;
        assert_eq!(reply.status, 202, "{target}");
        let id = reply.json()["id"].as_str().unwrap().to_owned();
        let event = app.status(&id, "completed").await;
        assert_eq!((&event["path"], &event["query"]), (&json!(path), &json!(query)), "{target}");
        let seen = server.wait_for(number + 1).await.pop().unwrap();
        let line = query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
        let sent = if path.is_empty() { "/".to_owned() } else { line };
        assert_eq!(seen.line(), format!("POST {sent} HTTP/1.1"), "{target}");
    }
    let root = ask(app.capture(), "GET http://localhost HTTP/1.1", "Host: localhost\r\n").await;
    assert_eq!((root.status, &root.json()["listening"]), (200, &json!(true)));
}

#[tokio::test]
async fn threat_1_a_whole_url_names_the_tunnel_and_the_url_at_a_relay() {
    let set = relay::set(&["--wildcard", "--public-url", "https://relay.example.com"]).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    for (target, host, url) in [
        (
            "http://relay.example.com/acme-dev/s/x?y",
            "other.relay.example.com",
            "relay.example.com/acme-dev/s/x?y",
        ),
        ("https://acme-dev.relay.example.com/s/x?y", "relay.example.com", "acme-dev.relay.example.com/s/x?y"),
    ] {
        let reply =
            ask(set.relay.address, &format!("POST {target} HTTP/1.1"), &format!("Host: {host}\r\n")).await;
        assert_eq!(reply.status, 202, "{target}");
        let letter = line.letter().await.letter;
        assert_eq!((letter.path.as_str(), letter.query.as_deref()), ("/x", Some("y")), "{target}");
        assert_eq!(letter.url, format!("https://{url}"));
    }
    let (target, host) = ("http://other.relay.example.com/s", "acme-dev.relay.example.com");
    let reply =
        ask(set.relay.address, &format!("POST {target} HTTP/1.1"), &format!("Host: {host}\r\n")).await;
    assert_eq!(reply.status, 404, "the Host line counts for nothing");
    let first = "GET http://relay.example.com/-/healthz HTTP/1.1";
    assert_eq!(ask(set.relay.address, first, "Host: relay.example.com\r\n").await.status, 200);
}

/// Chunked bodies of which two parsers could see different ends.
const BROKEN: [&str; 24] = [
    "5;\r\nhello\r\n0\r\n\r\n",
    "5 \r\nhello\r\n0\r\n\r\n",
    "5\t\r\nhello\r\n0\r\n\r\n",
    "5;a\0\r\nhello\r\n0\r\n\r\n",
    "5\0\r\nhello\r\n0\r\n\r\n",
    "5;\x01=b\r\nhello\r\n0\r\n\r\n",
    "5;a=\r\nhello\r\n0\r\n\r\n",
    "5;a=\"b\r\nhello\r\n0\r\n\r\n",
    "5;a b\r\nhello\r\n0\r\n\r\n",
    "5;a\n\r\nhello\r\n0\r\n\r\n",
    "5\nhello\r\n0\r\n\r\n",
    "5\rhello\r\n0\r\n\r\n",
    "+5\r\nhello\r\n0\r\n\r\n",
    "0x5\r\nhello\r\n0\r\n\r\n",
    " 5\r\nhello\r\n0\r\n\r\n",
    "00000000000000005\r\nhello\r\n0\r\n\r\n",
    "5\r\nhelloo\r\n0\r\n\r\n",
    "5\r\nhello0\r\n\r\n",
    "5\r\nhello\n0\r\n\r\n",
    "0;\r\n\r\n",
    "0 \r\n\r\n",
    "0\r\n\n",
    "0\r\nX: y\n\r\n",
    "0\r\nNo field\r\n\r\n",
];

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_chunks_are_read_to_the_letter_at_both_ports() {
    let (app, set) = (App::start().await, relay::set(&[]).await);
    let mut line = set.device.offering(vec![offer("s")]).await;
    let decoy = "POST /demo/decoy HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n";
    for (address, path) in [(app.capture(), "/demo"), (set.relay.address, "/acme-dev/s")] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
        for body in BROKEN {
            let answered = exchange(address, format!("{head}{body}{decoy}").as_bytes()).await;
            let reply = parse_reply(&answered);
            assert_eq!((reply.status, &reply.json()["code"]), (400, &json!("body-truncated")), "{body:?}");
            let text = String::from_utf8_lossy(&answered).into_owned();
            assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "nothing that follows is believed: {text}");
        }
        let whole = format!("{head}5 ;a=\"b\\\"\" ; c\r\nhello\r\n000\r\nX: y\r\n\r\n");
        let reply = parse_reply(&exchange(address, whole.as_bytes()).await);
        assert_eq!(reply.status, 202, "{reply:?}");
    }
    assert_eq!((app.events().await.len(), app.body("last").await), (1, "hello".into()));
    assert_eq!(&line.letter().await.letter.body[..], b"hello");
    assert_eq!(line.pong().await.letters, 1);
}
