//! The outcome of an attempt, and what to do next.

use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use hookmitt_event::{ResponseHead, Silence, Timestamp};

/// The outcome of one attempt.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The target sent a complete answer.
    Answered {
        /// The answer's status and header lines.
        response: ResponseHead,
        /// The answer's body, up to [`KEPT_BODY`](crate::KEPT_BODY) bytes.
        body: Bytes,
        /// Whether the body was longer than that.
        truncated: bool,
        /// The time from the start of the attempt to the end of the answer.
        duration: Duration,
    },
    /// Nobody listens there: the connection was refused, there is no route, or the name doesn't resolve. Nothing was
    /// sent, so this doesn't count as an attempt.
    Unreachable(Silence),
    /// This machine could not try, because it has no file descriptor left. Nothing was sent, so this doesn't count as
    /// an attempt.
    Hindered {
        /// The system's error.
        error: String,
    },
    /// The time limit was reached, TLS failed, or the connection or the answer broke off.
    Broken {
        /// What went wrong.
        error: String,
        /// Whether the connection was open, so that the target may have got the request.
        sent: bool,
        /// The head of the answer, if it arrived.
        response: Option<ResponseHead>,
        /// The part of the answer's body that arrived, up to [`KEPT_BODY`](crate::KEPT_BODY) bytes.
        body: Bytes,
        /// The time from the start of the attempt until it failed.
        duration: Duration,
    },
}

/// What to do after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The event is delivered.
    Completed,
    /// The delivery has failed for good, because a retry would not help.
    Final,
    /// Try again.
    Retry {
        /// The shortest wait that the answer asked for (`Retry-After`), an hour at most.
        after: Option<Duration>,
    },
    /// The target is down: the delivery waits, and no attempt is counted.
    Down,
}

/// The longest wait that a target's `Retry-After` can cause.
pub const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Returns what to do after `outcome`. A `Retry-After` that is a date is measured from `now`.
///
/// 2xx means delivered. 3xx, and 4xx except 408, 409, 425 and 429, are final at once. Everything else is tried again,
/// including a 2xx whose body broke off.
pub fn next_step(outcome: &Outcome, now: Timestamp) -> Next {
    match outcome {
        Outcome::Answered { response, .. } => judge(response, now),
        Outcome::Unreachable(_) | Outcome::Hindered { .. } => Next::Down,
        Outcome::Broken { response: None, .. } => Next::Retry { after: None },
        Outcome::Broken { response: Some(response), .. } => match judge(response, now) {
            Next::Completed => Next::Retry { after: None },
            other => other,
        },
    }
}

fn judge(response: &ResponseHead, now: Timestamp) -> Next {
    match response.status {
        200..=299 => Next::Completed,
        408 | 409 | 425 | 429 => Next::Retry { after: retry_after(response, now) },
        300..=499 => Next::Final,
        _ => Next::Retry { after: retry_after(response, now) },
    }
}

/// Reads a `Retry-After` value: seconds or a date (RFC 9110, 10.2.3).
fn retry_after(response: &ResponseHead, now: Timestamp) -> Option<Duration> {
    let text = response.headers.get_str("retry-after")?;
    let wait = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().map_or(LONGEST_WAIT, Duration::from_secs)
    } else {
        let date = httpdate::parse_http_date(text).ok()?;
        let date = date.duration_since(UNIX_EPOCH).ok()?;
        let now = Duration::from_micros(u64::try_from(now.as_micros()).unwrap_or(0));
        date.saturating_sub(now)
    };
    Some(wait.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use hookmitt_event::{HeaderLines, NoConnection};

    use super::*;

    fn answered(status: u16, retry_after: Option<&str>) -> Outcome {
        let headers = HeaderLines::from_pairs(retry_after.map(|value| ("Retry-After", value))).unwrap();
        let response = ResponseHead { status, headers };
        Outcome::Answered { response, body: Bytes::new(), truncated: false, duration: Duration::ZERO }
    }

    fn next(status: u16, retry_after: Option<&str>) -> Next {
        // 2015-10-21 07:28:00 UTC
        next_step(&answered(status, retry_after), Timestamp::from_seconds(1_445_412_480))
    }

    #[test]
    fn the_status_decides() {
        for status in [200, 204, 299] {
            assert_eq!(next(status, None), Next::Completed);
        }
        for status in [301, 304, 308, 400, 401, 404, 410, 413, 422, 499] {
            assert_eq!(next(status, None), Next::Final, "{status}");
        }
        for status in [101, 408, 409, 425, 429, 500, 503, 599, 600, 999] {
            assert_eq!(next(status, None), Next::Retry { after: None }, "{status}");
        }
    }

    #[test]
    fn a_target_may_ask_for_a_pause_of_an_hour_at_most() {
        let after = |text| match next(503, Some(text)) {
            Next::Retry { after } => after.map(|wait| wait.as_secs()),
            other => panic!("{other:?}"),
        };
        assert_eq!(after("120"), Some(120));
        assert_eq!(after("99999999999999999999999"), Some(3600));
        assert_eq!(after("Wed, 21 Oct 2015 07:29:30 GMT"), Some(90));
        assert_eq!(after("Wed, 21 Oct 2015 07:00:00 GMT"), Some(0));
        assert_eq!(after("Wed, 21 Oct 2026 07:28:00 GMT"), Some(3600));
        assert_eq!(after("soon"), None);
        assert_eq!(after("-1"), None);
    }

    #[test]
    fn a_2xx_that_broke_off_is_tried_again_and_a_404_is_not() {
        let broken = |status| Outcome::Broken {
            error: String::new(),
            sent: true,
            response: Some(ResponseHead { status, headers: HeaderLines::default() }),
            body: Bytes::new(),
            duration: Duration::ZERO,
        };
        let now = Timestamp::from_seconds(0);
        assert_eq!(next_step(&broken(200), now), Next::Retry { after: None });
        assert_eq!(next_step(&broken(404), now), Next::Final);
        let refused = Silence { why: NoConnection::ConnectionRefused, error: String::new() };
        assert_eq!(next_step(&Outcome::Unreachable(refused), now), Next::Down);
    }
}
