//! The ways in which HTTP/1 can encode a request, byte by byte.

use hookmitt_stories::{App, Connection, Reply, exchange, parse_reply};
use serde_json::{Value, json};

async fn raw(app: &App, bytes: &[u8]) -> Reply {
    parse_reply(&exchange(app.capture(), bytes).await)
}

/// Returns the header lines of the newest event without Host and Content-Length.
async fn lines(app: &App) -> Vec<Value> {
    let event = app.event("last").await;
    let framing = |line: &&Value| !["Host", "Content-Length"].contains(&line[0].as_str().unwrap());
    event["headers"].as_array().unwrap().iter().filter(framing).cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn header_lines_keep_order_repeats_case_and_spacing() {
    let app = App::start().await;
    let head = b"POST /demo HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-b:no space\r\nX-a:  2\t \r\nX-Empty:\r\nX-Blank:   \r\n\
        X-In: a  b\tc\r\nX-B: \"q\", q\r\n!#$%&'*+-.^_`|~0: odd\r\nx-a: 1\r\nX-Raw: caf\xe9\xff\r\nX-Utf: caf\xc3\xa9\r\n\
        Content-Length: 1\r\n\r\nx";
    assert_eq!(raw(&app, head).await.status, 202);
    let want = [
        json!(["X-A", "1"]),
        json!(["x-b", "no space"]),
        json!(["X-a", "2"]),
        json!(["X-Empty", ""]),
        json!(["X-Blank", ""]),
        json!(["X-In", "a  b\tc"]),
        json!(["X-B", "\"q\", q"]),
        json!(["!#$%&'*+-.^_`|~0", "odd"]),
        json!(["x-a", "1"]),
        json!(["X-Raw", { "base64": "Y2Fm6f8=" }]),
        json!(["X-Utf", "café"]),
    ];
    // JSON may show odd white space around a value as the page likes it; trimmed, the values must be equal.
    let trimmed = lines(&app).await.into_iter().map(|line| match line[1].as_str() {
        Some(value) => json!([line[0], value.trim_matches([' ', '\t'])]),
        None => line,
    });
    assert_eq!(trimmed.collect::<Vec<_>>(), want);
}

#[tokio::test(flavor = "multi_thread")]
async fn framing_and_connection_lines_are_kept_too() {
    let app = App::start().await;
    let head = "POST /demo HTTP/1.1\r\nhOsT: h\r\nTE: trailers\r\nUpgrade: websocket\r\nTransfer-Encoding: Chunked\r\n\
        connection: Upgrade, close\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    assert_eq!(raw(&app, head.as_bytes()).await.status, 202);
    let names: Vec<_> = lines(&app).await.iter().map(|line| line[0].clone()).collect();
    assert_eq!(names, ["hOsT", "TE", "Upgrade", "Transfer-Encoding", "connection"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn bare_line_feeds_end_lines_too() {
    let app = App::start().await;
    let reply =
        raw(&app, b"POST /demo/a?b HTTP/1.1\nHost: h\nX-A: 1\r\nX-B: 2\nContent-Length: 4\n\n\r\n\n\n").await;
    assert_eq!(reply.status, 202);
    assert_eq!(lines(&app).await, [json!(["X-A", "1"]), json!(["X-B", "2"])]);
    assert_eq!(app.body("last").await, "\r\n\n\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_are_joined_and_their_extensions_and_trailers_are_not_part_of_the_body() {
    let app = App::start().await;
    let head = "POST /demo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    let table = [
        ("0\r\n\r\n", ""),
        ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("3;a=b;c=\"d\"\r\nabc\r\n1 ; x\r\n\n\r\n00A\r\n0123456789\r\n000\r\n\r\n", "abc\n0123456789"),
        ("5\r\n0\r\n\r\n\r\n0;last\r\nX-Sum: 1\r\nX-Two: 2\r\n\r\n", "0\r\n\r\n"),
    ];
    for (chunks, body) in table {
        let reply = raw(&app, format!("{head}{chunks}").as_bytes()).await;
        assert_eq!((reply.status, app.body("last").await), (202, body.into()), "{chunks:?}");
    }
    for broken in [
        "x\r\nhello\r\n0\r\n\r\n",
        "5\r\nhellooo\r\n0\r\n\r\n",
        "5\r\nhel",
        "-1\r\n\r\n",
        "fffffffffffffffff\r\nx",
        "5;\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "5;a\0\r\nhello\r\n0\r\n\r\n",
        "5;a=\"\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0;\r\n\r\n",
        "5\r\nhello\r\n0\r\nNo field\r\n\r\n",
    ] {
        let reply = raw(&app, format!("{head}{broken}").as_bytes()).await;
        assert_eq!((reply.status, &reply.json()["code"]), (400, &json!("body-truncated")), "{broken:?}");
    }
    assert_eq!(app.events().await.len(), table.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_carries_one_request_after_the_other() {
    let app = App::start().await;
    let mut connection = Connection::open(app.capture()).await;
    for number in 1..=5 {
        let body = "x".repeat(number * 1_000);
        let length = body.len();
        let head =
            format!("POST /demo/{number} HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n{body}");
        assert!(connection.send(head.as_bytes()).await);
        let reply = connection.reply().await;
        let event = app.event(reply.json()["id"].as_str().unwrap()).await;
        assert_eq!((&event["path"], &event["size"]), (&json!(format!("/{number}")), &json!(length)));
    }
    connection.finish().await;
    assert_eq!(connection.rest().await, b"");
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_requests_are_answered_in_order_and_all_stored() {
    let app = App::start().await;
    let mut bytes = Vec::new();
    for number in 0..60 {
        let body = "b".repeat(number * 7);
        let request = match number % 3 {
            0 => format!(
                "POST /demo/{number} HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ),
            1 => {
                let chunk = format!("{:x}\r\n{body}\r\n", body.len());
                format!(
                    "PUT /demo/{number} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}0\r\nT: x\r\n\r\n"
                )
            }
            _ => format!("GET /demo/{number} HTTP/1.1\r\nHost: h\r\n\r\n"),
        };
        bytes.extend_from_slice(request.as_bytes());
    }
    let mut connection = Connection::open(app.capture()).await;
    assert!(connection.send(&bytes).await);
    for number in 0..60 {
        let reply = connection.reply().await;
        let event = app.event(reply.json()["id"].as_str().unwrap()).await;
        assert_eq!(event["path"], format!("/{number}"));
        let size = if number % 3 == 2 { 0 } else { number * 7 };
        assert_eq!((&event["size"], &event["seq"]), (&json!(size), &json!(number + 1)));
    }
    assert_eq!(app.events().await.len(), 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_1_0_closes_unless_it_asks_to_be_kept() {
    let app = App::start().await;
    let mut connection = Connection::open(app.capture()).await;
    assert!(connection.send(b"POST /demo HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi").await);
    assert_eq!(connection.reply().await.status, 202);
    assert_eq!(connection.rest().await, b"");
    let event = app.event("last").await;
    assert_eq!((&event["http_version"], &event["url"]), (&json!("HTTP/1.0"), &json!("http:///demo")));

    let mut connection = Connection::open(app.capture()).await;
    for _ in 0..3 {
        assert!(
            connection
                .send(b"POST /demo HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi")
                .await
        );
        assert_eq!(connection.reply().await.status, 202);
    }
    assert_eq!(app.events().await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_expects_a_100_gets_it_before_the_body_is_sent() {
    let app = App::start().await;
    for framing in ["Content-Length: 5", "Transfer-Encoding: chunked"] {
        let mut connection = Connection::open(app.capture()).await;
        let head = format!("POST /demo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n{framing}\r\n\r\n");
        assert!(connection.send(head.as_bytes()).await);
        assert_eq!(connection.head().await, "HTTP/1.1 100 Continue");
        let body = if framing.starts_with('C') { "hello" } else { "5\r\nhello\r\n0\r\n\r\n" };
        assert!(connection.send(body.as_bytes()).await);
        assert_eq!(connection.reply().await.status, 202);
        assert_eq!(app.body("last").await, "hello");
        assert!(lines(&app).await.contains(&json!(["Expect", "100-continue"])));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sender_that_closes_its_side_still_gets_its_answer() {
    let app = App::start().await;
    let mut connection = Connection::open(app.capture()).await;
    assert!(connection.send(b"POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi").await);
    connection.finish().await;
    assert_eq!(connection.reply().await.status, 202);
    assert_eq!(app.body("last").await, "hi");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_body_of_an_http_1_0_request_without_a_length_is_empty() {
    let app = App::start().await;
    let reply = raw(&app, b"POST /demo HTTP/1.0\r\n\r\n").await;
    assert_eq!((reply.status, app.body("last").await), (202, "".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_are_no_http_are_refused_with_the_next_step() {
    let app = App::start().await;
    let table: [(&[u8], u16, &str); 14] = [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "http://"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "HTTP/1.1"),
        (b"GET /demo HTTP/3.0\r\n\r\n", 505, "HTTP/1.1"),
        (b"\x00\x01\x02\x03\r\n\r\n", 400, "METHOD"),
        (b"hello\r\n\r\n", 400, "METHOD"),
        (b"{\"a\":1}\n\n", 400, "METHOD"),
        (b"POST  /demo HTTP/1.1\r\n\r\n", 400, "METHOD"),
        (b"POST /de mo HTTP/1.1\r\n\r\n", 505, "HTTP/1.1"),
        (b"POST /demo HTTP/1.1\r\nNo colon\r\n\r\n", 400, "header lines"),
        (b"POST /demo HTTP/1.1\r\nSpace : x\r\n\r\n", 400, "header lines"),
        (b"POST /demo HTTP/1.1\r\nX: a\0b\r\n\r\n", 400, "header lines"),
        (b"POST /demo HTTP/1.1\r\nX: a\rb\r\n\r\n", 400, "header lines"),
        (b"POST /demo HTTP/1.1\r\nX: a\r\n folded\r\n\r\n", 400, "header lines"),
        (b"POST /demo HTTP/1.1\r\nX\xe9: a\r\n\r\n", 400, "header lines"),
    ];
    for (bytes, status, hint) in table {
        let shown = String::from_utf8_lossy(bytes);
        let reply = raw(&app, bytes).await;
        assert_eq!(reply.json()["code"], "bad-request-head", "{shown:?}: {reply:?}");
        assert!(reply.json()["hint"].as_str().unwrap().contains(hint), "{shown:?}: {reply:?}");
        assert!(matches!((reply.status, status), (400 | 505, _)), "{shown:?}: {reply:?}");
        assert_eq!(reply.header("connection"), Some("close"));
    }
    assert_eq!(app.refused().await.len(), table.len());
    assert!(app.events().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn lengths_that_contradict_each_other_are_refused() {
    let app = App::start().await;
    for framing in [
        "Content-Length: 1\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 1",
        "Content-Length: 1\r\nContent-Length: 2",
        "Content-Length: 1, 1",
        "Content-Length: +1",
        "Content-Length: -1",
        "Content-Length: 0x1",
        "Content-Length:",
        "Content-Length: 99999999999999999999",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    ] {
        let reply =
            raw(&app, format!("POST /demo HTTP/1.1\r\nHost: h\r\n{framing}\r\n\r\n0\r\n\r\n").as_bytes())
                .await;
        assert_eq!((reply.status, &reply.json()["code"]), (400, &json!("bad-request-head")), "{framing}");
        assert!(reply.json()["hint"].as_str().unwrap().contains("length"), "{framing}");
    }
    let same =
        raw(&app, b"POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx").await;
    assert_eq!(same.status, 202);
    assert_eq!(app.events().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_written_as_a_whole_url_names_the_same_source() {
    let app = App::start().await;
    let reply =
        raw(&app, b"POST http://hooks.example/demo/a//b?x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
            .await;
    assert_eq!(reply.status, 202);
    let event = app.event("last").await;
    assert_eq!(
        (&event["source"], &event["path"], &event["query"]),
        (&json!("demo"), &json!("/a//b"), &json!("x"))
    );
}
