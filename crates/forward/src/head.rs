//! The head of an outgoing request: the stored header lines without those of the connection that they came on.

use std::collections::HashSet;

use hookmitt_event::{DeliveryId, EventId, HeaderLine, HeaderLines, Request, Verdict, is_ours};

use crate::TargetUrl;

/// A stored request, and what its `x-hookmitt-*` lines say about it.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// The request, which is sent as it came.
    pub request: &'a Request,
    /// The id of its event.
    pub event_id: EventId,
    /// The id of its delivery.
    pub delivery_id: DeliveryId,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The verdict of its event.
    pub verdict: Verdict,
    /// Whether this is a replay rather than the first delivery.
    pub replay: bool,
    /// Whether the sender's Host line is sent instead of the target's.
    pub preserve_host: bool,
    /// Whether the `x-hookmitt-*` lines are added.
    pub hookmitt_headers: bool,
}

/// Header lines that concern one connection only: RFC 9110, 7.6.1 and RFC 2616, 13.5.1. `Expect` is among them, because
/// the sender's body is already here.
const HOP_BY_HOP: [&str; 10] = [
    "connection",
    "expect",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Returns the head to send, from the request line to the empty line.
///
/// Stored lines are sent byte for byte and in order, except lines that concern the old connection, and lines that a
/// server may read as `x-hookmitt-*` ([`is_ours`]), which the sender made up. The Host line and the Content-Length line
/// keep their places; a missing one is added as the first or the last line. No `Connection: close` is added, because
/// the sender didn't write it: each attempt has a connection of its own, which we close after the answer.
pub fn head(target: &TargetUrl, envelope: &Envelope<'_>) -> Vec<u8> {
    let request = envelope.request;
    let mut out = Vec::with_capacity(request.headers.as_wire().len() + 512);
    let place = target.request_target(&request.path, request.query.as_deref());
    push(&mut out, &[request.method.as_bytes(), b" ", place.as_bytes(), b" HTTP/1.1\r\n"]);
    if !request.headers.has("host") {
        push(&mut out, &[b"Host: ", target.authority().as_bytes(), b"\r\n"]);
    }
    stored_lines(&mut out, target, envelope);
    if !request.headers.has("content-length") && wants_length(request) {
        push(&mut out, &[b"Content-Length: ", request.body.len().to_string().as_bytes(), b"\r\n"]);
    }
    if envelope.hookmitt_headers {
        out.extend_from_slice(hookmitt_lines(envelope).as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out
}

fn stored_lines(out: &mut Vec<u8>, target: &TargetUrl, envelope: &Envelope<'_>) {
    let request = envelope.request;
    let dropped = named_by_connection(&request.headers);
    let (mut host, mut length) = (None, None);
    for line in request.headers.iter() {
        let name = line.name.to_ascii_lowercase();
        match name.as_str() {
            // A second line of either name would make the message ambiguous, so only the first one is kept.
            "host" if host.replace(()).is_none() => host_line(out, target, envelope, &line),
            "content-length" if length.replace(()).is_none() => length_line(out, request.body.len(), &line),
            "host" | "content-length" => {}
            other if HOP_BY_HOP.contains(&other) || is_ours(other) => {}
            other if dropped.contains(other) => {}
            _ => push(out, &[line.line, b"\r\n"]),
        }
    }
}

fn named_by_connection(headers: &HeaderLines) -> HashSet<String> {
    let names = headers.get_all("connection").flat_map(|value| value.split(|byte| *byte == b','));
    names.map(|name| String::from_utf8_lossy(name).trim().to_ascii_lowercase()).collect()
}

fn host_line(out: &mut Vec<u8>, target: &TargetUrl, envelope: &Envelope<'_>, line: &HeaderLine<'_>) {
    match envelope.preserve_host {
        true => push(out, &[line.line, b"\r\n"]),
        false => push(out, &[line.name.as_bytes(), b": ", target.authority().as_bytes(), b"\r\n"]),
    }
}

fn length_line(out: &mut Vec<u8>, length: usize, line: &HeaderLine<'_>) {
    let length = length.to_string();
    match line.value == length.as_bytes() {
        true => push(out, &[line.line, b"\r\n"]),
        false => push(out, &[line.name.as_bytes(), b": ", length.as_bytes(), b"\r\n"]),
    }
}

/// Returns whether to state a length: for a body, and for methods that usually have one (RFC 9110, 8.6).
fn wants_length(request: &Request) -> bool {
    !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH")
}

fn hookmitt_lines(envelope: &Envelope<'_>) -> String {
    let Envelope { event_id, delivery_id, attempt, verdict, replay, .. } = envelope;
    let replay = if *replay { "x-hookmitt-replay: true\r\n" } else { "" };
    format!(
        "x-hookmitt-event-id: {event_id}\r\nx-hookmitt-delivery-id: {delivery_id}\r\n\
         x-hookmitt-attempt: {attempt}\r\nx-hookmitt-verdict: {verdict}\r\n{replay}"
    )
}

fn push(out: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

/// Returns why this request can't be sent over HTTP at all. That never holds for a request that was captured.
pub(crate) fn unsendable(request: &Request) -> Option<String> {
    if http::Method::from_bytes(request.method.as_bytes()).is_err() {
        return Some(format!("{:?} is not an HTTP method", request.method));
    }
    let breaks = |text: &str| text.bytes().any(|byte| byte <= b' ' || byte == 0x7f);
    if breaks(&request.path) || request.query.as_deref().is_some_and(breaks) {
        return Some("the path or query contains whitespace or control characters".to_owned());
    }
    None
}
