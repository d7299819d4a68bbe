//! The head of an outgoing request: the stored lines, less what belongs to the old hop.

use std::collections::HashSet;

use hookmitt_event::{DeliveryId, EventId, HeaderLine, HeaderLines, Request, Verdict, is_ours};

use crate::TargetUrl;

/// A stored request with all that is said about it on its way.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// The request, sent as it came.
    pub request: &'a Request,
    /// The event that it belongs to.
    pub event_id: EventId,
    /// The delivery that it belongs to.
    pub delivery_id: DeliveryId,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// What verification found.
    pub verdict: Verdict,
    /// A replay rather than the first hand-over.
    pub replay: bool,
    /// The sender's Host line goes out instead of the target's.
    pub preserve_host: bool,
    /// The `x-hookmitt-*` lines are added.
    pub hookmitt_headers: bool,
}

/// Lines that concern one connection only: RFC 9110, 7.6.1 and RFC 2616, 13.5.1. `Expect` is about our hop too:
/// the body is already here.
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

/// The head to send, from the request line to the empty line.
///
/// Stored lines go out byte for byte and in order, without those of the old hop and without any `x-hookmitt-*` that
/// the sender made up, or that some server reads as one ([`is_ours`]). The Host line (first where there was none) and the Content-Length line (last where there was
/// none) keep their places. No `Connection: close` is added: an attempt has a connection of its own, which we close
/// when the answer is whole, so the line would only be one that the sender never wrote.
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
            // A repeat of either would make the message ambiguous: only the first keeps its place.
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

/// RFC 9110, 8.6: a method that usually has a body says 0 where there is none.
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

/// What keeps this request from being written on a wire at all; nothing that was captured is like that.
pub(crate) fn unsendable(request: &Request) -> Option<String> {
    if http::Method::from_bytes(request.method.as_bytes()).is_err() {
        return Some(format!("{:?} is not an HTTP method", request.method));
    }
    let breaks = |text: &str| text.bytes().any(|byte| byte <= b' ' || byte == 0x7f);
    if breaks(&request.path) || request.query.as_deref().is_some_and(breaks) {
        return Some("the path or query holds white space or control characters".to_owned());
    }
    None
}
