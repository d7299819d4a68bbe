//! Formats one event in full.

use std::{fmt::Write as _, time::Duration};

use hookmitt_api::{AttemptJson, DeliveryJson, EventJson};
use hookmitt_event::{Answerer, EventStatus, HandshakeOffer, Plain, SenderAnswer, Timestamp};
use jiff::tz::TimeZone;

use crate::{
    event_words::{ago, causes, marks, note, outcome, request_path},
    json_layout, shown,
    terminal::{FAINT, ODD, STRONG, Styled},
};

/// How many bytes of a body are shown. `--body` writes the whole body.
const SHOWN_BODY: usize = 64 * 1024;
/// How many characters of an answer's body are shown.
const SHOWN_ANSWER: usize = 400;

/// An event, and what is needed to show it.
pub(crate) struct EventView<'a> {
    /// The event with its deliveries.
    pub(crate) event: &'a EventJson,
    /// The event's body. `None` leaves it out.
    pub(crate) body: Option<&'a [u8]>,
    /// The local time zone.
    pub(crate) zone: &'a TimeZone,
    /// The current time.
    pub(crate) now: Timestamp,
}

impl EventView<'_> {
    /// Returns the whole text, without a line break at its end.
    pub(crate) fn text(&self) -> String {
        let mut out = self.head();
        out.push_str(&note(self.event.uncovered.as_deref()));
        out.push_str(&causes(&self.event.causes));
        for delivery in self.event.deliveries.iter().flatten() {
            out.push_str(&self.delivery(delivery));
        }
        if let Some(note) = &self.event.note {
            let _ = write!(out, "\n{}\n{}\n", Styled(STRONG, "note"), shown::text(note));
        }
        let _ = write!(out, "\n{}\n{}\n", Styled(STRONG, "headers"), shown::headers(&self.event.headers));
        if let Some(lines) = &self.event.forwarded {
            let head = Styled(STRONG, "added by proxies, not part of the request");
            let _ = write!(out, "\n{head}\n{}\n", shown::headers(lines));
        }
        if let Some(bytes) = self.body {
            let _ = write!(out, "\n{}\n{}", Styled(STRONG, "body"), body(bytes));
        }
        out
    }

    fn head(&self) -> String {
        let event = self.event;
        let mut out = String::new();
        let name = [event.r#type.as_deref(), event.title.as_deref()].into_iter().flatten();
        let name = name.map(|text| Plain(text).to_string()).collect::<Vec<_>>().join("  ");
        let title = format!("#{}  {}  {name}", event.seq, Plain(event.source.as_str()));
        let _ = writeln!(out, "{}", Styled(STRONG, title.trim_end()));
        let mut line = |name: &str, value: String| {
            let _ = writeln!(out, "{}  {value}", Styled(FAINT, format!("{name:<9}")));
        };
        line("id", event.id.to_string());
        line("received", self.received());
        if let Some(answered) = answered(event) {
            line("answered", answered);
        }
        let request = format!("{} {} {}", event.method, request_path(event), event.http_version);
        line("request", Plain(&request).to_string());
        line("url", Plain(&event.url).to_string());
        line("provider", Plain(event.provider.as_deref().unwrap_or("not recognised")).to_string());
        if let Some(time) = event.event_time {
            line("happened", shown::moment(time, self.zone));
        }
        line("body", format!("{}, sha256 {}", shown::size(event.size), Plain(&event.sha256)));
        if let Some(key) = &event.dedupe_key {
            line("key", Plain(key).to_string());
        }
        self.relations(&mut line);
        if !event.tags.is_empty() {
            line("tags", shown::tags(&event.tags));
        }
        if event.pinned {
            line("pinned", "retention keeps it".to_owned());
        }
        line("status", shown::status(event.status).to_string());
        line("verdict", shown::verdict(event.verdict).to_string());
        out
    }

    fn received(&self) -> String {
        let event = self.event;
        let at = shown::moment(event.received_at, self.zone);
        let via = serde_json::to_value(event.via).unwrap_or_default();
        let via = via.as_str().unwrap_or_default().replace('_', " ");
        let from = event.remote.as_ref().map_or(String::new(), |remote| format!(" from {}", Plain(remote)));
        format!("{at} ({}){from}, {via}", ago(event.received_at, self.now))
    }

    fn relations(&self, line: &mut impl FnMut(&str, String)) {
        let event = self.event;
        if let Some(first) = event.duplicate_of {
            line("first", first.to_string());
        }
        if let Some(parent) = event.parent {
            line("edit of", parent.to_string());
        }
        for (_, mark) in marks(event) {
            line("note", Styled(ODD, mark).to_string());
        }
        if let Some(withheld) = &event.withheld {
            line("withheld", Styled(ODD, Plain(&withheld.message)).to_string());
            line("", Plain(&withheld.fix).to_string());
        }
        if let Some(handshake) = &event.handshake {
            line("handshake", Plain(handshake).to_string());
        }
        if let Some(answer) = &event.handshake_answer {
            let body: String = answer.body.chars().take(SHOWN_ANSWER).collect();
            let name = if event.answered.is_some() { "with" } else { "answered" };
            line(name, format!("{}  {}", answer.status, Plain(&body)).trim_end().to_owned());
        }
        if let Some(at) = event.handshake_answer.as_ref().and_then(|answer| answer.confirmed_at) {
            line("confirmed", shown::moment(at, self.zone));
        }
        if let Some(offer) = event.handshake_offer {
            let what = match offer {
                HandshakeOffer::SaveSecret => "hookmitt secret accept",
                HandshakeOffer::Confirm => "hookmitt confirm",
            };
            line("next", Styled(ODD, format!("`{what} '#{}'`", event.seq)).to_string());
        }
        if let Some(note) = &event.handshake_note {
            line("next", Styled(ODD, Plain(&format!("{} {}", note.message, note.fix))).to_string());
        }
    }

    fn delivery(&self, delivery: &DeliveryJson) -> String {
        let status = shown::status(EventStatus::of([delivery.status]));
        let replay = if delivery.replay { " (replay)" } else { "" };
        let mut out = format!("\n{} {}  {status}{replay}\n", Styled(STRONG, "to"), Plain(&delivery.target));
        let _ = writeln!(out, "  {}", Styled(FAINT, delivery.id));
        for attempt in &delivery.attempts {
            out.push_str(&self.attempt(attempt));
        }
        let told = delivery.attempts.last().and_then(|attempt| attempt.error.as_ref());
        if let Some(error) = delivery.last_error.as_ref().filter(|error| Some(*error) != told) {
            let _ = writeln!(out, "  {}", Plain(error));
        }
        if let Some(next) = delivery.next_attempt_at {
            let _ = writeln!(out, "  next attempt {}", shown::clock(next, self.zone));
        }
        out
    }

    fn attempt(&self, attempt: &AttemptJson) -> String {
        let at = shown::clock(attempt.started_at, self.zone);
        let mut out = format!("  {}. {at}  {}\n", attempt.number, outcome(attempt));
        let is_fine = attempt.response_status.is_some_and(|status| (200..300).contains(&status));
        if !is_fine && !attempt.response_body.is_empty() {
            let shown: String = attempt.response_body.chars().take(SHOWN_ANSWER).collect();
            let more = if shown.len() < attempt.response_body.len() || attempt.response_truncated {
                " …"
            } else {
                ""
            };
            for line in format!("{}{more}", shown::text(&shown)).lines() {
                let _ = writeln!(out, "     {}", Styled(FAINT, line));
            }
        }
        out
    }
}

fn body(body: &[u8]) -> String {
    if body.is_empty() {
        return Styled(FAINT, "(empty)").to_string();
    }
    let Ok(text) = std::str::from_utf8(body) else {
        let note = format!("({}, not text; --body writes the exact bytes)", shown::size(body.len() as u64));
        return Styled(FAINT, note).to_string();
    };
    let laid_out = json_layout::indented(text);
    let text = laid_out.as_deref().unwrap_or(text);
    if text.len() <= SHOWN_BODY {
        return shown::text(text);
    }
    let end = text.floor_char_boundary(SHOWN_BODY);
    let note = Styled(
        FAINT,
        format!("(cut, {} in all; --body writes the whole body)", shown::size(body.len() as u64)),
    );
    format!("{}\n{note}", shown::text(&text[..end]))
}

/// Says what the sender was answered: `200 after 4 ms`.
fn answered(event: &EventJson) -> Option<String> {
    let SenderAnswer { by, status, after_ms } = event.answered?;
    let after = after_ms.map_or(String::new(), |ms| match ms {
        0 => " after less than 1 ms".to_owned(),
        ms => format!(" after {}", shown::span(Duration::from_millis(ms))),
    });
    Some(match (by, status) {
        (Answerer::Channel, _) => "by the channel".to_owned(),
        (Answerer::Relay, None) => "by the relay".to_owned(),
        (Answerer::Relay, Some(status)) => format!("{status}, passed to the relay{after}"),
        (Answerer::Hookmitt, status) => format!("{}{after}", status.unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_words::tests::{hostile, is_safe};

    fn view(bytes: &[u8]) -> String {
        let now = "2026-11-21T14:05:59Z".parse().unwrap();
        EventView { event: &hostile(), body: Some(bytes), zone: &TimeZone::UTC, now }.text()
    }

    #[test]
    fn a_stranger_cannot_steer_the_terminal() {
        let bodies: [&[u8]; 4] = [
            b"{\"a\":\"\\u001b[2J\",\"\xc2\x9b\":1}",
            b"plain \x1b]0;title\x07\r\nsecond",
            "{\"a\":\"\u{202e}evil\"}".as_bytes(),
            b"\xff\x1b[2J",
        ];
        for bytes in bodies {
            let text = view(bytes);
            assert!(is_safe(&text), "{text:?}");
        }
    }

    #[test]
    fn everything_that_is_known_is_there() {
        let text = anstream::adapter::strip_str(&view(b"{\"a\":[1]}")).to_string();
        for part in [
            "#12  github  push",
            "2026-11-21 14:03:59.000 UTC (2 min ago) from 127.0.0.1:5, direct",
            "POST /a\\u{7} HTTP/1.1",
            "verdict    invalid",
            "cause  none\\u{1b}[0m fits [no_match]",
            "fix    set\\u{a}it",
            "1. 14:04:00  500  12 ms",
            "oops\\u{1b}[5m\n     second",
            "note       a duplicate\nnote       older than",
            "Host: h\n",
            "added by proxies, not part of the request\nX-Forwarded-For: \\u{1b}[2J203.0.113.9\n",
            "{\n  \"a\": [\n    1\n  ]\n}",
        ] {
            assert!(text.contains(part), "{part:?} is missing in {text}");
        }
    }

    #[test]
    fn what_the_sender_was_answered_is_said() {
        let said = |by, status, after_ms| {
            let answered = Some(SenderAnswer { by, status, after_ms });
            super::answered(&EventJson { answered, ..hostile() }).unwrap()
        };
        assert_eq!(said(Answerer::Hookmitt, Some(200), Some(4)), "200 after 4 ms");
        assert_eq!(said(Answerer::Hookmitt, Some(202), Some(0)), "202 after less than 1 ms");
        assert_eq!(said(Answerer::Relay, Some(201), Some(1_500)), "201, passed to the relay after 1.5 s");
        assert_eq!(said(Answerer::Relay, None, None), "by the relay");
        assert_eq!(said(Answerer::Channel, None, None), "by the channel");
        assert_eq!(super::answered(&hostile()), None);
    }

    #[test]
    fn a_large_body_is_cut_and_says_so() {
        let text = body(&"ä".repeat(SHOWN_BODY).into_bytes());
        assert!(text.contains("cut, 131.0 kB in all; --body writes the whole body"));
        assert!(body(&[0xff; 2_000]).contains("2.0 kB, not text"));
    }
}
