//! However a request is split on the wire, and whatever it contains, the event equals what was sent.

use hookmitt_stories::{App, Connection, exchange, parse_reply, request};
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};

/// The fields in which two events must agree.
fn gist(event: &Value) -> [&Value; 7] {
    ["method", "path", "query", "headers", "http_version", "size", "sha256"].map(|field| &event[field])
}

const CHUNKED: &str = "PURGE /demo/a//b?x=%20 HTTP/1.1\r\nHost: h\r\nX-A:1\r\nx-a:  2 \r\nTransfer-Encoding: chunked\r\n\r\n\
    5;x=\"y\"\r\nhello\r\n1\r\n\n\r\n0\r\nT: 1\r\n\r\n";
const MEASURED: &str =
    "POST /demo HTTP/1.1\nHost: h\r\nContent-Length: 12\r\nX: caf\u{e9}\r\n\r\n\r\n{\"a\":1}\0\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_request_cut_anywhere_gives_the_same_event() {
    let app = App::start().await;
    for wire in [CHUNKED.as_bytes(), MEASURED.as_bytes()] {
        let whole = exchange(app.capture(), wire).await;
        let want = app.event(parse_reply(&whole).json()["id"].as_str().unwrap()).await;
        let mut cut = Vec::new();
        for at in 1..wire.len() {
            let mut connection = Connection::open(app.capture()).await;
            assert!(connection.send(&wire[..at]).await);
            cut.push((at, connection));
        }
        // A round trip on another connection: by then the first parts have most likely been read, each by itself.
        let between = request("GET", "/", &[], b"");
        assert_eq!(parse_reply(&exchange(app.capture(), &between).await).status, 200);
        for (at, mut connection) in cut {
            assert!(connection.send(&wire[at..]).await);
            let id = connection.reply().await.json()["id"].clone();
            assert_eq!(gist(&app.event(id.as_str().unwrap()).await), gist(&want), "cut at {at}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_comes_byte_by_byte_gives_the_same_event() {
    let app = App::start().await;
    for wire in [CHUNKED.as_bytes(), MEASURED.as_bytes()] {
        let whole = exchange(app.capture(), wire).await;
        let want = app.event(parse_reply(&whole).json()["id"].as_str().unwrap()).await;
        let mut connection = Connection::open(app.capture()).await;
        for byte in wire {
            assert!(connection.send(&[*byte]).await);
            tokio::task::yield_now().await;
        }
        let id = connection.reply().await.json()["id"].clone();
        assert_eq!(gist(&app.event(id.as_str().unwrap()).await), gist(&want));
    }
}

/// A request to send, with the parts to which the event is compared.
#[derive(Clone, Debug)]
struct Sent {
    method: String,
    path: String,
    query: Option<String>,
    lines: Vec<Line>,
    body: Vec<u8>,
    /// Chunk sizes, repeated as needed; if empty, Content-Length is used.
    chunks: Vec<usize>,
    crlf: bool,
}

#[derive(Clone, Debug)]
struct Line {
    name: String,
    before: String,
    value: Vec<u8>,
    after: String,
}

impl Sent {
    fn wire(&self) -> Vec<u8> {
        let end: &[u8] = if self.crlf { b"\r\n" } else { b"\n" };
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        let mut wire = format!("{} /demo{}{query} HTTP/1.1", self.method, self.path).into_bytes();
        wire.extend_from_slice(end);
        for line in &self.lines {
            for part in
                [line.name.as_bytes(), b":", line.before.as_bytes(), &line.value, line.after.as_bytes(), end]
            {
                wire.extend_from_slice(part);
            }
        }
        wire.extend_from_slice(&[b"Host: h", end].concat());
        if self.chunks.is_empty() {
            wire.extend_from_slice(format!("Content-Length: {}", self.body.len()).as_bytes());
            wire.extend_from_slice(&[end, end, &self.body].concat());
            return wire;
        }
        wire.extend_from_slice(&[b"Transfer-Encoding: chunked", end, end].concat());
        let (mut rest, mut sizes) = (&self.body[..], self.chunks.iter().cycle());
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(sizes.next().map_or(1, |size| *size).min(rest.len()));
            wire.extend_from_slice(format!("{:X}\r\n", piece.len()).as_bytes());
            wire.extend_from_slice(&[piece, b"\r\n"].concat());
            rest = more;
        }
        wire.extend_from_slice(b"0\r\n\r\n");
        wire
    }
}

fn sent() -> impl Strategy<Value = Sent> {
    let method = "[A-Za-z!#$%&'*+.^_`|~0-9-]{1,12}";
    let path = proptest::option::of("/[!-\"$->@-~]{0,40}").prop_map(Option::unwrap_or_default);
    let query = proptest::option::of("[!-\"$-~]{0,40}");
    // Only names that don't affect the connection; other stories cover those that do.
    let name = "[Xx]-[A-Za-z!#$%&'*+.^_`|~0-9-]{1,20}";
    let inner = vec(prop_oneof![0x21_u8..0x7f, Just(b' '), Just(b'\t'), 0x80_u8..=0xff], 0..40);
    let value = inner.prop_map(|value| value.trim_ascii().to_vec());
    let line = (name, "[ \t]{0,3}", value, "[ \t]{0,3}").prop_map(|(name, before, value, after)| Line {
        name,
        before,
        value,
        after,
    });
    let parts = (
        method,
        path,
        query,
        vec(line, 0..12),
        vec(any::<u8>(), 0..4_000),
        vec(1_usize..900, 0..4),
        any::<bool>(),
    );
    parts.prop_map(|(method, path, query, lines, body, chunks, crlf)| Sent {
        method,
        path,
        query,
        lines,
        body,
        chunks,
        crlf,
    })
}

/// Returns the sent header lines as the event shows them.
fn shown_lines(sent: &Sent) -> Vec<(String, Vec<u8>)> {
    sent.lines.iter().map(|line| (line.name.clone(), line.value.clone())).collect()
}

fn trimmed(value: &Value) -> Vec<u8> {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let bytes = match value {
        Value::String(text) => text.as_bytes().to_vec(),
        other => STANDARD.decode(other["base64"].as_str().expect("base64")).expect("base64"),
    };
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    bytes[start..end].to_vec()
}

async fn holds(app: &App, sent: &Sent) -> Result<(), TestCaseError> {
    let mut connection = Connection::open(app.capture()).await;
    prop_assert!(connection.send(&sent.wire()).await);
    let head = connection.head().await.to_ascii_lowercase();
    let id = head.lines().find_map(|line| line.strip_prefix("x-hookmitt-event-id: "));
    let id = id.ok_or_else(|| TestCaseError::fail(format!("not stored: {head}")))?;
    let event = app.event(id).await;
    prop_assert_eq!(&event["method"], &json!(sent.method));
    prop_assert_eq!(&event["path"], &json!(sent.path));
    prop_assert_eq!(&event["query"], &json!(sent.query));
    let lines = event["headers"].as_array().expect("a list");
    let (framing, lines) = lines.split_last().expect("the framing's line");
    let (host, own) = lines.split_last().expect("the host's line");
    prop_assert_eq!(host, &json!(["Host", "h"]));
    prop_assert_eq!(&framing[0], if sent.chunks.is_empty() { "Content-Length" } else { "Transfer-Encoding" });
    let own: Vec<_> =
        own.iter().map(|line| (line[0].as_str().unwrap().to_owned(), trimmed(&line[1]))).collect();
    prop_assert_eq!(own, shown_lines(sent));
    prop_assert_eq!(&app.body(id).await[..], &sent.body[..]);
    prop_assert_eq!(&event["size"], &json!(sent.body.len()));
    Ok(())
}

#[test]
fn whatever_is_sent_is_what_is_shown() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let app = runtime.block_on(App::start());
    let config = Config { cases: 96, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&sent(), |sent| runtime.block_on(holds(&app, &sent)))
        .unwrap_or_else(|error| panic!("{error}"));
    runtime.block_on(app.stop());
}
