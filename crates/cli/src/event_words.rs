//! Texts about an event that several views share: its subject, its warnings, and the outcomes of its attempts.

use std::fmt::Write as _;

use hookmitt_api::{AttemptJson, EventJson};
use hookmitt_event::{Cause, Plain, Timestamp, WithheldReason};

use crate::{
    shown,
    terminal::{BAD, FAINT, GOOD, Styled},
};

/// Returns an event's subject, escaped: its type and title, or its request line if it has neither. Warnings stand
/// before the subject, in brackets.
pub(crate) fn subject(event: &EventJson) -> String {
    let what = match (&event.r#type, &event.title) {
        (Some(kind), Some(title)) => format!("{kind} {title}"),
        (Some(only), None) | (None, Some(only)) => only.clone(),
        (None, None) => format!("{} {}", event.method, request_path(event)),
    };
    let marks: Vec<_> = marks(event).map(|(short, _)| short).collect();
    match marks.is_empty() {
        true => Plain(&what).to_string(),
        false => format!("[{}] {}", marks.join(", "), Plain(&what)),
    }
}

/// Returns the part of the request's path after the source's name, and the query.
pub(crate) fn request_path(event: &EventJson) -> String {
    let path = if event.path.is_empty() { "/" } else { &event.path };
    match &event.query {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

/// Returns an event's warnings. Each has a short form for lists, and a full text.
pub(crate) fn marks(event: &EventJson) -> impl Iterator<Item = (&'static str, &'static str)> {
    let repeats = event.duplicate_of.is_some();
    let withheld = event.withheld.as_ref().map(|withheld| withheld.reason);
    let marks = [
        (repeats && !event.conflict, "dup", "a duplicate"),
        (repeats && event.conflict, "dup, other bytes", "a duplicate whose bytes differ from the first"),
        (!repeats && event.conflict, "conflict", "another event with the same key has other bytes"),
        (event.stale, "stale", "older than an event already delivered for the same object"),
        (
            event.browser && event.withheld.is_none(),
            "web page",
            "sent from a web page, and answered by the local server",
        ),
        (
            withheld == Some(WithheldReason::ForeignHost),
            "foreign host",
            "called by a host name that isn't this machine's",
        ),
        (
            withheld.is_some_and(|reason| reason != WithheldReason::ForeignHost),
            "web page",
            "sent by a web page",
        ),
        (event.handshake.is_some(), "handshake", "a set-up request"),
        (event.parent.is_some(), "edited", "an edited copy"),
        (event.deleted_at.is_some(), "deleted", "in the trash"),
    ];
    marks.into_iter().filter(|(holds, ..)| *holds).map(|(_, short, full)| (short, full))
}

/// Returns how long ago something happened, for example `2 min ago`.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    format!("{} ago", shown::span(now.since(at)))
}

/// Returns an attempt's answer, how long the attempt took, and what went wrong.
pub(crate) fn outcome(attempt: &AttemptJson) -> String {
    let is_timed = attempt.duration_ms > 0 || !attempt.ambiguous; // an interrupted attempt has no known end
    let took = is_timed.then(|| shown::span(std::time::Duration::from_millis(attempt.duration_ms)));
    let mut out = format!("{}  {}", answer(attempt), took.as_deref().unwrap_or("–"));
    if let Some(error) = &attempt.error {
        let _ = write!(out, "  {}", Plain(error));
    }
    if attempt.ambiguous {
        out.push_str("; it may have arrived");
    }
    out
}

/// Returns the status of an attempt's answer, in its colour.
fn answer(attempt: &AttemptJson) -> Styled<String> {
    match attempt.response_status {
        Some(status @ 200..300) => Styled(GOOD, status.to_string()),
        Some(status) => Styled(BAD, status.to_string()),
        None => Styled(BAD, "no answer".to_owned()),
    }
}

/// Returns a line that says what a valid signature does not prove, or nothing if there is nothing to say.
pub(crate) fn note(uncovered: Option<&str>) -> String {
    uncovered.map(|says| format!("  note   {}\n", Plain(says))).unwrap_or_default()
}

/// Returns the causes with their fixes, two lines for each cause.
pub(crate) fn causes(causes: &[Cause]) -> String {
    causes.iter().fold(String::new(), |mut out, cause| {
        let code = Styled(FAINT, format!("[{}]", Plain(&cause.code)));
        let _ = writeln!(out, "  cause  {} {code}", Plain(&cause.message));
        let _ = writeln!(out, "  fix    {}", Plain(&cause.fix));
        out
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns an event with control characters in every field that a stranger can set.
    pub(crate) fn hostile() -> EventJson {
        serde_json::from_value(serde_json::json!({
            "id": "0199a5f0-1111-7abc-8def-0123456789ab", "seq": 12, "source": "github", "provider": "github",
            "type": "push\u{1b}[2J", "title": "x\r\n#99 forged\u{202e}", "method": "POST", "path": "/a\u{7}",
            "query": null, "url": "http://h/\u{9b}31m", "http_version": "HTTP/1.1", "remote": "127.0.0.1:5",
            "headers": [["Host", "h"], ["X-\u{41}", "\u{1b}]0;title\u{7}"]],
            "forwarded": [["X-Forwarded-For", "\u{1b}[2J203.0.113.9"]],
            "size": 3349, "sha256": "ab", "received_at": "2026-11-21T14:03:59Z", "event_time": null,
            "via": "direct", "verdict": "invalid",
            "causes": [{"code": "no_match", "message": "none\u{1b}[0m fits", "fix": "set\nit"}],
            "dedupe_key": "id:\u{1b}c", "duplicate_of": "0199a5f0-1111-7abc-8def-0123456789aa",
            "conflict": false, "stale": true, "browser": false, "parent": null, "handshake": null,
            "deleted_at": null, "pinned": true, "tags": ["look"], "note": "see\u{1b}[2J\n\u{202e}here", "status": "dead_letter",
            "deliveries": [hostile_delivery()]
        }))
        .unwrap()
    }

    fn hostile_delivery() -> serde_json::Value {
        serde_json::json!({
            "id": "0199a5f0-1111-7abc-8def-0123456789ab.1", "target": "http://t/\u{1b}[1m", "target_id": 1,
            "status": "dead_letter", "replay": false, "last_error": "500\u{8}", "next_attempt_at": null,
            "completed_at": null,
            "attempts": [{
                "number": 1, "started_at": "2026-11-21T14:04:00Z", "duration_ms": 12, "response_status": 500,
                "response_headers": [["A", "\u{1b}[7m"]], "response_body": "oops\u{1b}[5m\nsecond",
                "response_truncated": false, "error": null
            }]
        })
    }

    /// Returns whether a text has no control characters other than line breaks and our own styles.
    pub(crate) fn is_safe(text: &str) -> bool {
        let plain = anstream::adapter::strip_str(text).to_string();
        let ours = text.matches('\u{1b}').count() == text.matches("\u{1b}[").count();
        let odd = |letter: char| letter != '\n' && letter.is_control() || letter == '\u{202e}';
        ours && !plain.contains(odd)
    }

    #[test]
    fn an_attempt_that_was_cut_off_has_no_duration_and_may_have_arrived() {
        let attempt = |duration: u64, error: &str| {
            let attempt = serde_json::json!({
                "number": 1, "started_at": "2026-11-21T14:04:00Z", "duration_ms": duration, "response_status": null,
                "response_headers": [], "response_body": "", "response_truncated": false, "error": error,
                "ambiguous": true
            });
            let line = outcome(&serde_json::from_value(attempt).unwrap());
            anstream::adapter::strip_str(&line).to_string()
        };
        let cut_off = attempt(0, "hookmitt stopped before an answer arrived");
        assert_eq!(cut_off, "no answer  –  hookmitt stopped before an answer arrived; it may have arrived");
        assert_eq!(
            attempt(30_000, "no answer within 30 s"),
            "no answer  30.0 s  no answer within 30 s; it may have arrived"
        );
    }
}
