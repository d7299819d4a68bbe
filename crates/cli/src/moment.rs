//! Durations and points in time on the command line.

use std::{fmt, str::FromStr, time::Duration};

use hookmitt_event::{Plain, Timestamp};

/// A duration, typed as `500ms`, `10s`, `5m`, `2h` or `7d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

impl Span {
    /// Returns the duration in whole milliseconds.
    pub(crate) fn as_millis(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Span {
    /// Writes the duration in the largest unit in which it is a whole number: `500 ms`, `90 s`, `2 h`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
        let millis = self.as_millis();
        let unit = UNITS.into_iter().find(|(unit, _)| millis >= *unit && millis.is_multiple_of(*unit));
        let (unit, name) = unit.unwrap_or((1, "ms"));
        write!(out, "{} {name}", millis / unit)
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("{} isn't a duration: write it like 500ms, 10s, 5m, 2h or 7d", Plain(text));
        let unit = text.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(unit);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let millis = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        number.checked_mul(millis).map(|millis| Self(Duration::from_millis(millis))).ok_or_else(wrong)
    }
}

/// The start of a period, typed as a duration before now or as a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// This long ago.
    Ago(Span),
    /// At this time.
    At(Timestamp),
}

impl Since {
    /// Returns the point in time, given the current time.
    pub(crate) fn moment(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(Span(span)) => now.before(span),
            Self::At(moment) => moment,
        }
    }
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(span) = text.parse() {
            return Ok(Self::Ago(span));
        }
        text.parse().map(Self::At).map_err(|_| {
            format!(
                "{} isn't a time: write how long ago (10m, 2h, 7d), or a time like 2026-11-21T14:00:00Z",
                Plain(text)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_every_unit() {
        let millis = |text: &str| text.parse::<Span>().map(Span::as_millis);
        assert_eq!(millis("500ms"), Ok(500));
        assert_eq!(millis("10s"), Ok(10_000));
        assert_eq!(millis("5m"), Ok(300_000));
        assert_eq!(millis("2h"), Ok(7_200_000));
        assert_eq!(millis("7d"), Ok(604_800_000));
        for text in ["", "10", "s", "-1s", "1.5s", "1w", "10 s", "99999999999999999999d", "9999999999999999d"]
        {
            assert!(millis(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_duration_is_written_as_a_whole_number() {
        let written = |text: &str| text.parse::<Span>().map(|span| span.to_string());
        for (typed, said) in [
            ("10ms", "10 ms"),
            ("30s", "30 s"),
            ("90s", "90 s"),
            ("60m", "1 h"),
            ("48h", "2 d"),
            ("0s", "0 ms"),
        ] {
            assert_eq!(written(typed).as_deref(), Ok(said));
        }
    }

    #[test]
    fn since_takes_a_duration_or_a_moment() {
        let now: Timestamp = "2026-11-21T14:00:00Z".parse().unwrap();
        let moment = |text: &str| text.parse::<Since>().map(|since| since.moment(now).to_string());
        assert_eq!(moment("2h").unwrap(), "2026-11-21T12:00:00.000000Z");
        assert_eq!(moment("2026-11-21T12:00:00+01:00").unwrap(), "2026-11-21T11:00:00.000000Z");
        assert!(moment("yesterday").unwrap_err().contains("yesterday isn't a time"));
    }
}
