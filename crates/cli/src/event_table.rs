//! Formats a list of events as a table that fits the terminal.

use hookmitt_api::EventJson;
use hookmitt_event::Plain;
use jiff::tz::TimeZone;

use crate::{
    event_words::subject,
    shown,
    terminal::{FAINT, STRONG, Styled},
};

/// The smallest width of the subject column, in characters.
const LEAST_SUBJECT: usize = 16;
/// The widths, in characters, of the columns other than source and subject. `GAPS` is the two blanks between each two of
/// the seven columns.
const NUMBER: usize = 6;
const CLOCK: usize = 8;
const DAY_AND_CLOCK: usize = 14;
const VERDICT: usize = 11;
const STATUS: usize = 11;
const SIZE: usize = 8;
const GAPS: usize = 2 * 6;

/// The widths of the columns whose width varies. The first rows set the width of the source, so that later rows can be
/// printed as they arrive.
#[derive(Clone, Debug)]
pub(crate) struct EventTable {
    source: usize,
    /// The width of the time. On a narrow terminal, the day is left out.
    time: usize,
    /// The width of the subject, which is the last column. `None` if nothing limits the width; then the subject is
    /// never cut.
    subject: Option<usize>,
    zone: TimeZone,
}

impl EventTable {
    /// Makes a table for a terminal of this width. The longest source of the first events sets the width of that
    /// column.
    pub(crate) fn new(first: &[EventJson], width: Option<usize>, zone: TimeZone) -> Self {
        let longest = first.iter().map(|event| event.source.as_str().len()).max().unwrap_or(0);
        let narrow = width.is_some_and(|width| width < 100);
        let source = longest.clamp(8, if narrow { 10 } else { 20 });
        let time = if narrow { CLOCK } else { DAY_AND_CLOCK };
        let taken = NUMBER + time + source + VERDICT + STATUS + SIZE + GAPS;
        let subject = width.map(|width| width.saturating_sub(taken).max(LEAST_SUBJECT));
        Self { source, time, subject, zone }
    }

    /// Returns the header row.
    pub(crate) fn head(&self) -> String {
        let cells = self.line(["#", "TIME", "SOURCE", "VERDICT", "STATUS", "SIZE"], "EVENT");
        Styled(STRONG, cells).to_string()
    }

    /// Returns the row for an event.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_words::tests::{hostile, is_safe};

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
