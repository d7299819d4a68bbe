//! The list of events as a table that fits the terminal.

use hookmitt_event::{EventJson, Plain, Timestamp, WithheldReason};
use jiff::tz::TimeZone;

use crate::{
    shown,
    terminal::{FAINT, STRONG, Styled},
};

/// The least room for a type and title.
const LEAST_SUBJECT: usize = 16;
/// Columns of what stands beside source and subject: number, time, verdict, status, size, and two blanks between each.
const NUMBER: usize = 6;
const CLOCK: usize = 8;
const DAY_AND_CLOCK: usize = 14;
const VERDICT: usize = 11;
const STATUS: usize = 11;
const SIZE: usize = 8;
const GAPS: usize = 2 * 6;

/// How wide each column is. Fixed by the first rows, so that later ones can be printed as they come.
#[derive(Clone, Debug)]
pub(crate) struct EventTable {
    source: usize,
    /// Where there is little room, the day is left out.
    time: usize,
    /// `None` where nothing limits the width: the subject comes last and is never cut.
    subject: Option<usize>,
    zone: TimeZone,
}

impl EventTable {
    /// A table whose sources are about as long as those of these events, in a terminal of that width.
    pub(crate) fn new(first: &[EventJson], width: Option<usize>, zone: TimeZone) -> Self {
        let longest = first.iter().map(|event| event.source.as_str().len()).max().unwrap_or(0);
        let narrow = width.is_some_and(|width| width < 100);
        let source = longest.clamp(8, if narrow { 10 } else { 20 });
        let time = if narrow { CLOCK } else { DAY_AND_CLOCK };
        let taken = NUMBER + time + source + VERDICT + STATUS + SIZE + GAPS;
        let subject = width.map(|width| width.saturating_sub(taken).max(LEAST_SUBJECT));
        Self { source, time, subject, zone }
    }

    /// The line above the rows.
    pub(crate) fn head(&self) -> String {
        let cells = self.line(["#", "TIME", "SOURCE", "VERDICT", "STATUS", "SIZE"], "EVENT");
        Styled(STRONG, cells).to_string()
    }

    /// One event.
    pub(crate) fn row(&self, event: &EventJson) -> String {
        let verdict = shown::verdict(event.verdict);
        let status = shown::status(event.status);
        let number = format!("{:>NUMBER$}", format!("#{}", event.seq));
        let time = match self.time {
            CLOCK => shown::clock(event.received_at, &self.zone),
            _ => shown::day_and_clock(event.received_at, &self.zone),
        };
        let time = shown::fitted(&time, self.time);
        let source = shown::fitted(&Plain(event.source.as_str()).to_string(), self.source);
        let verdict = Styled(verdict.0, shown::fitted(verdict.1, VERDICT));
        let status = Styled(status.0, shown::fitted(status.1, STATUS));
        let size = format!("{:>SIZE$}", shown::size(event.size));
        let subject = self.subject(&subject(event));
        format!("{number}  {}  {source}  {verdict}  {status}  {size}  {subject}", Styled(FAINT, time))
    }

    fn line(&self, cells: [&str; 6], subject: &str) -> String {
        let [number, time, source, verdict, status, size] = cells;
        format!(
            "{number:>NUMBER$}  {time:when$}  {source:width$}  {verdict:VERDICT$}  {status:STATUS$}  {size:>SIZE$}  {}",
            self.subject(subject),
            width = self.source,
            when = self.time,
        )
    }

    fn subject(&self, text: &str) -> String {
        match self.subject {
            Some(width) => shown::fitted(text, width).trim_end().to_owned(),
            None => text.to_owned(),
        }
    }
}

/// What an event is about: its type and title, else its request line; then what is odd about it. Escaped.
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

/// The path and query behind the source's name.
pub(crate) fn request_path(event: &EventJson) -> String {
    let path = if event.path.is_empty() { "/" } else { &event.path };
    match &event.query {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

/// What is odd about an event: a word for lists, and in full.
pub(crate) fn marks(event: &EventJson) -> impl Iterator<Item = (&'static str, &'static str)> {
    let repeats = event.duplicate_of.is_some();
    let withheld = event.withheld.as_ref().map(|withheld| withheld.reason);
    let marks = [
        (repeats && !event.conflict, "dup", "a duplicate"),
        (repeats && event.conflict, "dup, other bytes", "a duplicate whose bytes differ from the first"),
        (!repeats && event.conflict, "conflict", "its bytes differ from another with the same key"),
        (event.stale, "stale", "older than one already delivered for the same object"),
        (
            event.browser && event.withheld.is_none(),
            "web page",
            "a web page led to it, and the local server answers it",
        ),
        (
            withheld == Some(WithheldReason::ForeignHost),
            "foreign host",
            "called by a name that isn't this machine's",
        ),
        (
            withheld.is_some_and(|reason| reason != WithheldReason::ForeignHost),
            "web page",
            "sent by a web page",
        ),
        (event.handshake.is_some(), "handshake", "a set-up request"),
        (event.parent.is_some(), "edited", "an edited copy"),
        (event.deleted_at.is_some(), "deleted", "in the bin"),
    ];
    marks.into_iter().filter(|(holds, ..)| *holds).map(|(_, short, full)| (short, full))
}

/// How long ago something was, in words.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    format!("{} ago", shown::span(now.since(at)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An event with control characters wherever a stranger can put them.
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
            "deleted_at": null, "status": "dead_letter",
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

    /// Whether nothing steers a terminal but our own colours.
    pub(crate) fn is_safe(text: &str) -> bool {
        let plain = anstream::adapter::strip_str(text).to_string();
        let ours = text.matches('\u{1b}').count() == text.matches("\u{1b}[").count();
        let odd = |letter: char| letter != '\n' && letter.is_control() || letter == '\u{202e}';
        ours && !plain.contains(odd)
    }

    #[test]
    fn a_row_fits_the_terminal_and_a_stranger_cannot_steer_it() {
        for (width, start) in [
            (80, "   #12  14:03:59  github    invalid      dead_letter    3.3 kB  [dup, stale] pu…"),
            (200, "   #12  11-21 14:03:59  github    invalid      dead_letter    3.3 kB  [dup, stale] push"),
        ] {
            let table = EventTable::new(&[hostile()], Some(width), TimeZone::UTC);
            let row = table.row(&hostile());
            assert!(is_safe(&row), "{row:?}");
            let plain = anstream::adapter::strip_str(&row).to_string();
            assert!(unicode_width::UnicodeWidthStr::width(plain.as_str()) <= width, "{plain}");
            assert!(plain.starts_with(start), "{plain}");
        }
    }

    #[test]
    fn without_a_terminal_nothing_is_cut() {
        let table = EventTable::new(&[], None, TimeZone::UTC);
        let row = anstream::adapter::strip_str(&table.row(&hostile())).to_string();
        assert!(row.ends_with(r"[dup, stale] push\u{1b}[2J x\u{d}\u{a}#99 forged\u{202e}"), "{row}");
    }
}
