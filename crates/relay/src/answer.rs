//! What senders are answered, and which of them are held for the app's own answer.

use std::time::Duration;

use hookmitt_catch::{Reply, is_hop_by_hop};
use hookmitt_event::{EventId, Request};
use hookmitt_verify::{Provider, handshake, provider, recognise};
use hookmitt_wire::{Hold, SourceOffer};

/// The longest delay before an answer, whatever a source says.
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// Returns the provider of a request: the one that is set for its source, else the one that the request looks like.
pub(crate) fn provider_of(offer: &SourceOffer, request: &Request) -> Option<&'static Provider> {
    match &offer.provider {
        Some(id) => provider(id),
        None => recognise(request),
    }
}

/// Returns whether the sender is held for the app: because the source says so, because the request asks for something
/// that only the app can answer, or because its provider insists on an answer about invalid signatures.
pub(crate) fn is_held(offer: &SourceOffer, provider: Option<&'static Provider>, request: &Request) -> bool {
    match offer.hold {
        Hold::Always => true,
        Hold::Never => false,
        Hold::Handshakes => provider.is_some_and(|provider| {
            provider.invalid_status.is_some() || handshake(request, provider, &[]).is_some()
        }),
    }
}

/// Returns the default answer of a source.
pub(crate) fn usual(offer: &SourceOffer, id: EventId, provider: Option<&Provider>) -> Reply {
    let status = offer.status.filter(is_final).unwrap_or(if provider.is_some() { 200 } else { 202 });
    let mut reply = match &offer.body {
        Some(body) => Reply::json(status, body.clone()),
        None if provider.is_some_and(|provider| provider.empty_answer) => Reply::json(status, String::new()),
        None => Reply::json(status, format!(r#"{{"received":true,"id":"{id}"}}"#)),
    };
    if reply.body.is_empty()
        || offer.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
    {
        reply.headers.clear();
    }
    reply.headers.extend(lines(&offer.headers));
    reply.delay = Duration::from_millis(offer.delay_ms).min(LONGEST_DELAY);
    named(reply, id)
}

/// Returns the app's answer, or `None` if its status can't be one.
pub(crate) fn of_app(answer: hookmitt_mailbox::Reply, id: EventId) -> Option<Reply> {
    let status = Some(answer.status).filter(is_final)?;
    let headers = lines(&answer.headers).collect();
    Some(named(Reply { status, headers, body: answer.body, delay: Duration::ZERO }, id))
}

fn named(mut reply: Reply, id: EventId) -> Reply {
    reply.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("x-hookmitt-event-id"));
    reply.headers.push(("x-hookmitt-event-id".to_owned(), id.to_string().into_bytes()));
    reply
}

fn is_final(status: &u16) -> bool {
    (200..600).contains(status)
}

fn lines(headers: &[(String, bytes::Bytes)]) -> impl Iterator<Item = (String, Vec<u8>)> {
    headers
        .iter()
        .filter(|(name, _)| !is_hop_by_hop(name))
        .map(|(name, value)| (name.clone(), value.to_vec()))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hookmitt_event::{HeaderLines, HttpVersion};

    use super::*;

    fn offer() -> SourceOffer {
        SourceOffer {
            slug: "s".to_owned(),
            provider: None,
            hold: Hold::Handshakes,
            status: None,
            headers: Vec::new(),
            body: None,
            delay_ms: 0,
        }
    }

    fn request(lines: &[(&str, &str)], body: &'static [u8]) -> Request {
        Request {
            method: "POST".to_owned(),
            path: String::new(),
            query: None,
            version: HttpVersion::Http11,
            headers: HeaderLines::from_pairs(lines.iter().copied()).unwrap(),
            body: Bytes::from_static(body),
        }
    }

    #[test]
    fn set_up_requests_and_strict_providers_are_held_by_themselves() {
        let held =
            |offer: &SourceOffer, request: &Request| is_held(offer, provider_of(offer, request), request);
        let slack = [("X-Slack-Signature", "v0=1"), ("X-Slack-Request-Timestamp", "1")];
        let hello = request(&slack, br#"{"type":"url_verification","challenge":"c"}"#);
        let event = request(&slack, br#"{"type":"event_callback"}"#);
        let signed = [("X-Signature-Ed25519", "00"), ("X-Signature-Timestamp", "1")];
        let discord = request(&signed, br#"{"application_id":"1","version":1,"type":0}"#);
        assert!(held(&offer(), &hello) && held(&offer(), &discord) && !held(&offer(), &event));
        assert!(held(&SourceOffer { hold: Hold::Always, ..offer() }, &event));
        assert!(!held(&SourceOffer { hold: Hold::Never, ..offer() }, &hello));
    }

    #[test]
    fn a_source_answers_as_it_was_told() {
        let id = EventId::from_bytes([1; 16]);
        let reply = usual(&offer(), id, None);
        assert_eq!((reply.status, reply.headers.len()), (202, 2));
        assert_eq!(usual(&offer(), id, provider("github")).status, 200);
        let slack = usual(&offer(), id, provider("slack"));
        assert_eq!(
            (slack.status, slack.body.len(), slack.headers.len()),
            (200, 0, 1),
            "its users would read it"
        );
        let told = SourceOffer {
            status: Some(204),
            headers: vec![
                ("Content-Type".to_owned(), "text/plain".into()),
                ("Upgrade".to_owned(), "x".into()),
            ],
            body: Some("ok".to_owned()),
            delay_ms: 90_000,
            ..offer()
        };
        let reply = usual(&told, id, provider("slack"));
        assert_eq!((reply.status, &reply.body[..], reply.delay), (204, &b"ok"[..], LONGEST_DELAY));
        let names: Vec<_> = reply.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Content-Type", "x-hookmitt-event-id"]);
    }

    #[test]
    fn an_app_can_answer_nothing_that_is_no_answer() {
        let answer = |status| hookmitt_mailbox::Reply { status, headers: Vec::new(), body: Bytes::new() };
        let id = EventId::from_bytes([1; 16]);
        assert!(of_app(answer(101), id).is_none() && of_app(answer(999), id).is_none());
        assert_eq!(of_app(answer(401), id).unwrap().status, 401);
    }
}
