//! Moments in UTC, in microseconds.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// Microseconds since the Unix epoch, UTC. Printed as RFC 3339 with six decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The error for a text that is not an RFC 3339 time.
#[derive(Debug, thiserror::Error)]
#[error("not an RFC 3339 time: {0}")]
pub struct TimestampError(String);

impl Timestamp {
    /// Returns the current time. This is the only place where the product reads the wall clock.
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everything else is handed")]
    pub fn now() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self(since.map_or(0, |past| i64::try_from(past.as_micros()).unwrap_or(i64::MAX)))
    }

    /// Makes a timestamp from microseconds since the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Makes a timestamp from whole seconds since the epoch; saturates.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// Returns the microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the whole seconds since the epoch, rounded down.
    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// Returns this moment plus `span`; saturates.
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    /// Returns this moment minus `span`; saturates.
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    /// Returns the time since `earlier`, or zero if `earlier` is later than this moment.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(moment) => write!(out, "{moment:.6}"),
            Err(_) => write!(out, "{}us", self.0), // beyond year 9999; the product stores no such time
        }
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let moment: jiff::Timestamp = text.parse().map_err(|_| TimestampError(text.to_owned()))?;
        Ok(Self(moment.as_microsecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_printed_with_six_decimals_and_read_back() {
        let moment = Timestamp::from_micros(1_750_000_000_000_120);
        assert_eq!(moment.to_string(), "2025-06-15T15:06:40.000120Z");
        assert_eq!("2025-06-15T15:06:40.000120Z".parse::<Timestamp>().unwrap(), moment);
    }
}
