//! Formats bytes, times and sizes for the terminal. Bytes from strangers never control the terminal.

use std::{fmt::Write as _, time::Duration};

use hookmitt_event::{EventStatus, HeaderLines, Plain, Tag, Timestamp, Verdict};
use jiff::tz::TimeZone;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::terminal::{BAD, FAINT, GOOD, ODD, Styled};

/// Formats bytes from strangers. [`Plain`] escapes the UTF-8 parts, and any other byte becomes `\xNN`.
pub(crate) fn bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let _ = write!(out, "{}", Plain(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}"); // writing to a String can't fail
        }
    }
    out
}

/// Formats header lines as they arrived, one on each line.
pub(crate) fn headers(headers: &HeaderLines) -> String {
    headers.iter().map(|line| bytes(line.line)).collect::<Vec<_>>().join("\n")
}

/// Formats a text of several lines. Each line is escaped by itself, so that the line breaks stay.
pub(crate) fn text(text: &str) -> String {
    let lines = text.split('\n').map(|line| Plain(line.strip_suffix('\r').unwrap_or(line)).to_string());
    lines.collect::<Vec<_>>().join("\n")
}

/// Formats tags in one line: `flaky, look here`.
pub(crate) fn tags(tags: &[Tag]) -> String {
    tags.iter().map(|tag| Plain(tag.as_str()).to_string()).collect::<Vec<_>>().join(", ")
}

/// Formats the local time of day: `14:03:59`.
pub(crate) fn clock(at: Timestamp, zone: &TimeZone) -> String {
    strftime(at, zone, "%H:%M:%S")
}

/// Formats the local date and time: `11-21 14:03:59`.
pub(crate) fn day_and_clock(at: Timestamp, zone: &TimeZone) -> String {
    strftime(at, zone, "%m-%d %H:%M:%S")
}

/// Formats a time to the millisecond, with its time zone: `2026-11-21 14:03:59.123 CET`.
pub(crate) fn moment(at: Timestamp, zone: &TimeZone) -> String {
    strftime(at, zone, "%Y-%m-%d %H:%M:%S%.3f %Z")
}

fn strftime(at: Timestamp, zone: &TimeZone, format: &str) -> String {
    match jiff::Timestamp::from_microsecond(at.as_micros()) {
        Ok(moment) => moment.to_zoned(zone.clone()).strftime(format).to_string(),
        Err(_) => at.to_string(), // jiff can't represent a time after the year 9999
    }
}

/// Formats a number of bytes: `812 B`, `3.3 kB`, `25.0 MB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} B"),
    }
}

/// Formats a number with commas: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a duration: `12 ms`, `1.5 s`, `4 min`, `3 h`, `2 d`.
pub(crate) fn span(span: Duration) -> String {
    match span.as_secs() {
        0 => format!("{} ms", span.as_millis()),
        1..60 => format!("{}.{} s", span.as_secs(), span.subsec_millis() / 100),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// Formats a verdict in its colour.
pub(crate) fn verdict(verdict: Verdict) -> Styled<&'static str> {
    let style = match verdict {
        Verdict::Valid => GOOD,
        Verdict::Invalid => BAD,
        Verdict::NoSecret | Verdict::Unsupported | Verdict::Pending => ODD,
        Verdict::Unsigned => FAINT,
    };
    Styled(style, verdict.as_str())
}

/// Formats a status in its colour.
pub(crate) fn status(status: EventStatus) -> Styled<&'static str> {
    let style = match status {
        EventStatus::Completed => GOOD,
        EventStatus::Failed | EventStatus::DeadLetter => BAD,
        EventStatus::Pending | EventStatus::Processing => ODD,
        EventStatus::Captured | EventStatus::Skipped => FAINT,
    };
    Styled(style, status.as_str())
}

/// Cuts or pads a text to `width` columns (at least one). A text that was cut ends in `…`.
pub(crate) fn fitted(text: &str, width: usize) -> String {
    let own = text.width();
    if own <= width {
        return format!("{text}{}", " ".repeat(width - own));
    }
    let mut kept = String::new();
    let mut used = 0;
    for letter in text.chars() {
        let letter_width = letter.width().unwrap_or(0);
        if used + letter_width >= width {
            break;
        }
        used += letter_width;
        kept.push(letter);
    }
    kept.push('…');
    kept.push_str(&" ".repeat(width.saturating_sub(used + 1)));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn hostile_bytes_are_spelt_out() {
        assert_eq!(bytes(b"a\x1b]0;x\x07\xff\r\n"), r"a\u{1b}]0;x\u{7}\xff\u{d}\u{a}");
        assert_eq!(text("a\r\n\u{202e}b\u{1b}[2J\nc"), "a\n\\u{202e}b\\u{1b}[2J\nc");
        let lines = HeaderLines::from_pairs([("A", &b"\x1b[31m"[..]), ("b", b"\xff")]).unwrap();
        assert_eq!(headers(&lines), "A: \\u{1b}[31m\nb: \\xff");
    }

    #[test]
    fn texts_are_fitted_by_columns() {
        assert_eq!(fitted("ab", 4), "ab  ");
        assert_eq!(fitted("abcde", 4), "abc…");
        assert_eq!(fitted("東京都", 4), "東… ");
        assert_eq!(fitted("東京", 4), "東京");
        for width in 1..8 {
            assert_eq!(fitted("a東b京c都", width).width(), width);
        }
    }

    #[test]
    fn sizes_spans_and_moments_are_short() {
        assert_eq!([0, 999, 3_349, 25_000_000].map(size), ["0 B", "999 B", "3.3 kB", "25.0 MB"]);
        let spans = [12, 1_500, 240_000, 7_200_000].map(|millis| span(Duration::from_millis(millis)));
        assert_eq!(spans, ["12 ms", "1.5 s", "4 min", "2 h"]);
        let at: Timestamp = "2026-11-21T14:03:59.123456Z".parse().unwrap();
        assert_eq!(clock(at, &TimeZone::UTC), "14:03:59");
        assert_eq!(moment(at, &TimeZone::UTC), "2026-11-21 14:03:59.123 UTC");
    }
}
