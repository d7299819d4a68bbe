//! Turns a letter into a judged event.

use std::sync::Arc;

use hookmitt_event::{Cause, EventId, HeaderLines, HttpVersion, Request, Timestamp, Via};
use hookmitt_inbox::{NewEvent, Route};
use hookmitt_tunnel::{Doubt, Letterhead};
use hookmitt_wire::Letter;

use super::addressee::addressee;
use crate::{
    EngineError,
    capture::Capture,
    judging::{Arrival, Judged},
    settings::ConfiguredSource,
};

/// A letter that no genuine relay writes.
#[derive(Debug, thiserror::Error)]
#[error("an event from the relay could not be understood: {0}")]
pub(super) struct Nonsense(&'static str);

/// A letter after it was judged.
pub(super) struct Opened {
    pub(super) known: Arc<ConfiguredSource>,
    /// Whether the letter's source exists here and is served by the tunnel.
    pub(super) assigned: bool,
    pub(super) judged: Judged,
    /// Whether the body differs from what the relay received.
    pub(super) differs: bool,
}

/// The longest method that is accepted, and the longest address of a sender that is kept.
const LONGEST: usize = 255;

/// Checks what a letter says and returns its request, because anybody with the tunnel's public key can write a letter.
pub(super) fn request(letter: &Letter) -> Result<(Request, Option<HeaderLines>), Nonsense> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if letter.method.is_empty() || letter.method.len() > LONGEST || !letter.method.bytes().all(token) {
        return Err(Nonsense("its method is invalid"));
    }
    let plain = |text: &str| text.bytes().all(|byte| byte > b' ' && byte != 0x7f);
    let rooted = letter.path.is_empty() || letter.path.starts_with('/');
    if !rooted || !plain(&letter.path) || letter.path.contains('?') {
        return Err(Nonsense("its path is invalid"));
    }
    if !letter.query.as_deref().is_none_or(plain) || !plain(&letter.url) {
        return Err(Nonsense("its URL is invalid"));
    }
    let lines = |block: &bytes::Bytes| {
        HeaderLines::from_wire(block.clone()).map_err(|_| Nonsense("its header lines are invalid"))
    };
    let headers = lines(&letter.headers)?;
    let forwarded = lines(&letter.forwarded)?;
    let version = if letter.http10 { HttpVersion::Http10 } else { HttpVersion::Http11 };
    let request = Request {
        method: letter.method.clone(),
        path: letter.path.clone(),
        query: letter.query.clone(),
        version,
        headers,
        body: letter.body.clone(),
    };
    Ok((request, (!forwarded.is_empty()).then_some(forwarded)))
}

/// Judges a letter as of the moment at which the relay received it, for the URL that was called there. `is_served` says
/// whether the tunnel serves the source that the letter names.
pub(super) async fn judge_letter(
    capture: &Capture,
    head: &Letterhead,
    letter: Letter,
    request: (Request, Option<HeaderLines>),
    is_served: bool,
) -> Result<Opened, EngineError> {
    let (request, forwarded) = request;
    let (known, assigned) = addressee(&capture.settings, &letter.slug, is_served).await?;
    let page = capture.pages.through_tunnel(&request);
    let arrival = Arrival {
        request,
        url: Some(letter.url),
        remote: Some(letter.remote.chars().take(LONGEST).collect()),
        received_at: head.received_at,
        via: Via::Tunnel,
        page,
    };
    let mut judged = capture.judge(&known, arrival);
    let event = &mut judged.event;
    event.id = EventId::from_bytes(letter.id);
    event.arrival_key = Some(head.arrival_key.clone());
    event.forwarded = forwarded;
    let differs = event.sha256 != letter.sha256;
    event.causes.extend(head.doubt.map(|doubt| doubted(doubt, head.received_at)));
    if !assigned {
        event.route = Route::Withheld("its tunnel serves no such source");
    }
    if differs {
        withhold(event, cause(&letter.sha256));
    }
    Ok(Opened { known, assigned, judged, differs })
}

/// The codes of causes that say what is wrong with a letter.
const BODY_DIFFERS: &str = "relay_body_differs";
const TIME_DOUBTED: &str = "relay_time_doubted";

/// Withholds an event whose letter was altered.
fn withhold(event: &mut NewEvent, why: Cause) {
    event.route = Route::Withheld("its body isn't what the relay received");
    event.causes.insert(0, why);
}

/// Has an event that is judged anew keep what was wrong with the letter that brought it.
pub(crate) fn keep_doubts(event: &mut NewEvent, causes: Vec<Cause>) {
    for cause in causes {
        match cause.code.as_str() {
            BODY_DIFFERS => withhold(event, cause),
            TIME_DOUBTED => event.causes.push(cause),
            _ => {}
        }
    }
}

/// Returns the cause to show if the relay's time of a letter is doubtful.
pub(super) fn doubted(doubt: Doubt, judged_at: Timestamp) -> Cause {
    let (said, why) = match doubt {
        Doubt::Altered(said) => (said, "what was sealed with its event contradicts that"),
        Doubt::TooEarly(said) => (said, "everything it had received by then was already here"),
        Doubt::TooLate(said) => (said, "that is ahead of this machine's clock"),
    };
    Cause {
        code: TIME_DOUBTED.to_owned(),
        title: None,
        message: format!("The relay says it received this at {said}, but {why}: verified as of {judged_at}."),
        fix: match doubt {
            Doubt::Altered(_) => "Check the relay: someone has changed its store.",
            _ => {
                "Compare the clocks of this machine and the relay. If both are right, don't trust the relay."
            }
        }
        .to_owned(),
    }
}

fn cause(sha256: &[u8; 32]) -> Cause {
    Cause {
        code: BODY_DIFFERS.to_owned(),
        title: None,
        message: format!(
            "The relay received a body with the SHA-256 {}; this body has another.",
            hex::encode(sha256)
        ),
        fix: "Don't trust this event. Let the provider send it again, and check the relay and everything between it \
              and this computer."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hookmitt_tunnel::Bounds;

    use super::*;

    fn letter() -> Letter {
        Letter {
            id: [7; 16],
            slug: "github".to_owned(),
            method: "POST".to_owned(),
            path: "/a//b%2Fc".to_owned(),
            query: Some("x=1".to_owned()),
            http10: false,
            headers: Bytes::from_static(b"Host: relay.test\r\nX-A:  b\r\n"),
            body: Bytes::from_static(b"{}"),
            sha256: [0; 32],
            url: "https://relay.test/t/github/a//b%2Fc?x=1".to_owned(),
            remote: "203.0.113.9:5555".to_owned(),
            forwarded: Bytes::from_static(b"X-Forwarded-For: 203.0.113.9\r\n"),
            received: None,
        }
    }

    #[test]
    fn a_letter_becomes_its_request_byte_for_byte() {
        let (request, forwarded) = request(&letter()).unwrap();
        assert_eq!(request.headers.as_wire()[..], b"Host: relay.test\r\nX-A:  b\r\n"[..]);
        assert_eq!((request.path_and_query().as_str(), &request.body[..]), ("/a//b%2Fc?x=1", &b"{}"[..]));
        assert_eq!(forwarded.unwrap().get("x-forwarded-for"), Some(&b"203.0.113.9"[..]));
    }

    fn head() -> Letterhead {
        Letterhead {
            arrival_key: b"acme\0key".to_vec(),
            received_at: Timestamp::from_seconds(1_750_000_000),
            doubt: None,
            bounds: Bounds::none(),
            held: false,
            position: 1,
            waited: false,
            run: 1,
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_body_that_is_not_what_the_relay_received_is_kept_and_never_forwarded() {
        let folder = tempfile::tempdir().unwrap();
        let engine = crate::begun::engine(folder.path()).await;
        engine.sources.add("github".parse().unwrap(), crate::SourceChange::default()).await.unwrap();
        let sha256: [u8; 32] = <sha2::Sha256 as sha2::Digest>::digest(b"{}").into();
        for (told, differs) in [(sha256, false), ([0; 32], true)] {
            let letter = Letter { sha256: told, ..letter() };
            let opened =
                judge_letter(&engine.capture, &head(), letter.clone(), request(&letter).unwrap(), true)
                    .await
                    .unwrap();
            let event = opened.judged.event;
            assert_eq!(opened.differs, differs);
            assert_eq!(event.route == Route::Targets, !differs);
            assert_eq!(event.causes.iter().any(|cause| cause.code == "relay_body_differs"), differs);
            assert_eq!(event.id, EventId::from_bytes([7; 16]), "the id that the sender was told");
            assert_eq!((event.received_at, event.via), (head().received_at, Via::Tunnel));
            assert_eq!(event.arrival_key, Some(head().arrival_key));
        }
        engine.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_wrong_with_a_letter_stays_with_its_event_when_that_is_judged_anew() {
        let folder = tempfile::tempdir().unwrap();
        let engine = crate::begun::engine(folder.path()).await;
        let head = Letterhead { doubt: Some(Doubt::TooEarly(head().received_at)), ..head() };
        let (altered, wanted) = (letter(), request(&letter()).unwrap());
        let opened = judge_letter(&engine.capture, &head, altered, wanted, false).await.unwrap();
        engine.sources.add("shop".parse().unwrap(), crate::SourceChange::default()).await.unwrap();
        let known = Arc::clone(&engine.capture.settings.source(&"shop".parse().unwrap()).unwrap());
        let stored = engine.capture.store_unanswered(&opened.known, opened.judged.event).await.unwrap();
        let moved = engine.fixtures.move_to(stored.id, &known.source.slug).await.unwrap();
        let moved = engine.inbox().event(moved.id).await.unwrap();
        let codes: Vec<_> = moved.causes.iter().map(|cause| cause.code.as_str()).collect();
        assert_eq!((codes[0], codes.last()), (BODY_DIFFERS, Some(&TIME_DOUBTED)), "{codes:?}");
        engine.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn threat_1_a_tunnel_knows_who_was_called_so_a_get_by_any_name_is_forwarded() {
        let folder = tempfile::tempdir().unwrap();
        let engine = crate::begun::engine(folder.path()).await;
        engine.sources.add("github".parse().unwrap(), crate::SourceChange::default()).await.unwrap();
        let sha256 = <sha2::Sha256 as sha2::Digest>::digest(b"{}").into();
        let letter = Letter { method: "GET".to_owned(), sha256, ..letter() };
        let opened = judge_letter(&engine.capture, &head(), letter.clone(), request(&letter).unwrap(), true)
            .await
            .unwrap();
        let event = opened.judged.event;
        assert_eq!((event.route, event.browser, event.foreign_host), (Route::Targets, false, None));
        engine.stop().await;
    }

    #[test]
    fn a_hostile_letter_is_no_request() {
        type Spoil = fn(&mut Letter);
        let spoiled: [(&str, Spoil); 8] = [
            ("method", |letter| letter.method = "GET / HTTP/1.1\r\nX: ".to_owned()),
            ("method", |letter| letter.method.clear()),
            ("path", |letter| letter.path = "/a HTTP/1.1\r\nX: y".to_owned()),
            ("path", |letter| letter.path = "@evil.example".to_owned()),
            ("path", |letter| letter.path = "/a?b".to_owned()),
            ("URL", |letter| letter.query = Some("a\r\nb".to_owned())),
            ("URL", |letter| letter.url = "https://a b".to_owned()),
            ("header", |letter| letter.headers = Bytes::from_static(b"no colon\r\n")),
        ];
        for (words, spoil) in spoiled {
            let mut letter = letter();
            spoil(&mut letter);
            let error = request(&letter).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
