//! Signed timestamps: parsed in the scheme's unit, and judged at the time of receipt.

use hookmitt_event::{Cause, Timestamp};

use crate::{cause, inquiry::Inquiry, scheme::TimeUnit, signature::Signed};

/// Numbers from here on are milliseconds, because as seconds they would lie beyond the year 5138.
const FIRST_MILLISECONDS: i64 = 100_000_000_000;

/// Parses a timestamp in that unit; `None` if it isn't written that way.
pub(crate) fn read(unit: TimeUnit, text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?;
    match unit {
        TimeUnit::S => text.parse().ok().map(Timestamp::from_seconds),
        TimeUnit::Ms => text.parse::<i64>().ok()?.checked_mul(1000).map(Timestamp::from_micros),
        TimeUnit::Rfc3339 => text.parse().ok(),
    }
}

/// Whether the sender may have meant this time: not before 1970, and not after the year 5138.
pub(crate) fn is_plausible(at: Timestamp) -> bool {
    (0..FIRST_MILLISECONDS).contains(&at.as_seconds())
}

/// Writes a time as a scheme does.
pub(crate) fn write(unit: TimeUnit, at: Timestamp) -> String {
    match unit {
        TimeUnit::S => at.as_seconds().to_string(),
        TimeUnit::Ms => (at.as_micros() / 1000).to_string(),
        TimeUnit::Rfc3339 => at.to_string(),
    }
}

/// Returns what is wrong with the signed timestamp. Returns `None` if it is right, or if the scheme limits none.
pub(crate) fn fault(inquiry: &Inquiry<'_>, signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let scheme = signed.scheme;
    let rules = scheme.clock.as_ref();
    let tolerance = inquiry.tolerance_by(scheme)?;
    if scheme.timestamp.is_empty() {
        return None;
    }
    let unit = rules.map(|rules| rules.unit).unwrap_or_default();
    let text = String::from_utf8_lossy(&signed.parts.timestamp);
    let Some(stamp) = read(unit, text.as_bytes()) else {
        return Some(cause::timestamp_unreadable(sender, &text, unit));
    };
    let limit = i64::try_from(tolerance.as_secs()).unwrap_or(i64::MAX);
    let age = inquiry.at.as_seconds().saturating_sub(stamp.as_seconds());
    let number = text.parse::<i64>().unwrap_or_default();
    let exactly = age == limit && inquiry.tolerance.is_none() && rules.is_some_and(|rules| rules.exclusive);
    if age > limit || exactly {
        return Some(match unit {
            TimeUnit::Ms if number < FIRST_MILLISECONDS => cause::timestamp_in_seconds(sender, &text),
            _ => cause::timestamp_old(sender, age, limit),
        });
    }
    if age < limit.saturating_neg() && rules.is_none_or(|rules| rules.future_checked) {
        return Some(match unit {
            TimeUnit::S if number >= FIRST_MILLISECONDS => cause::timestamp_in_milliseconds(sender, &text),
            _ => cause::timestamp_future(sender, age.saturating_neg(), limit),
        });
    }
    None
}
