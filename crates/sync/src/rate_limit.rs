//! How long an API wants to be left alone.

use std::time::Duration;

use hookmitt_event::Timestamp;

/// What an answer says about how often may be called.
pub(crate) struct RateLimit {
    pub(crate) retry_after: Option<String>,
    pub(crate) remaining: Option<String>,
    /// Unix seconds.
    pub(crate) reset: Option<String>,
    /// What time it is there.
    pub(crate) now: Timestamp,
}

impl RateLimit {
    /// Whether no more calls are let through.
    pub(crate) fn is_spent(&self) -> bool {
        self.retry_after.is_some() || self.remaining.as_deref() == Some("0")
    }

    /// Returns how long to wait (RFC 9110, 10.2.3).
    pub(crate) fn after(&self) -> Option<Duration> {
        let text = self.retry_after.as_deref()?.trim();
        let seconds = text.parse().ok().map(Duration::from_secs);
        seconds.or_else(|| Some(self.until(date_of(text)?)))
    }

    /// Returns how long to wait until calls are let through again.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let reset = self.reset.as_deref().and_then(|text| text.trim().parse().ok());
        self.after().or_else(|| Some(self.until(Timestamp::from_seconds(reset?))))
    }

    fn until(&self, at: Timestamp) -> Duration {
        let micros = at.as_micros().saturating_sub(self.now.as_micros());
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }
}

/// Reads the date of a header line.
pub(crate) fn date_of(text: &str) -> Option<Timestamp> {
    let at = httpdate::parse_http_date(text.trim()).ok()?;
    let since = at.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_seconds(i64::try_from(since.as_secs()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_wait_is_told_by_the_clock_there() {
        let now = Timestamp::from_seconds(1_000_000);
        let limit = |retry_after: Option<&str>, reset: Option<&str>| RateLimit {
            retry_after: retry_after.map(str::to_owned),
            remaining: None,
            reset: reset.map(str::to_owned),
            now,
        };
        let seconds = |limit: RateLimit| limit.wait().map(|wait| wait.as_secs());
        assert_eq!(seconds(limit(Some("7"), Some("1000900"))), Some(7));
        assert_eq!(seconds(limit(None, Some("1000060"))), Some(60));
        assert_eq!(seconds(limit(Some("Mon, 12 Jan 1970 13:46:50 GMT"), None)), Some(10));
        assert_eq!(seconds(limit(Some("Mon, 12 Jan 1970 13:46:30 GMT"), None)), Some(0), "it is over");
        assert_eq!(seconds(limit(Some("soon"), None)), None);
    }
}
