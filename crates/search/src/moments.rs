//! Moments as they are typed: `2h`, `yesterday`, `09:30`, `2026-11-21`.

use hookmitt_event::Timestamp;
use jiff::{
    SignedDuration, ToSpan as _, Zoned,
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};

use crate::fault::{Fault, shown};

/// Reads a moment, as of `now`. Days and times of day are those of `zone`.
pub(crate) fn moment(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, Fault> {
    const WRONG: &str =
        "is no time. Write it like 2h, today, yesterday, 09:30, 2026-11-21 or 2026-11-21T14:00:00Z.";
    let now = jiff::Timestamp::from_microsecond(now.as_micros()).unwrap_or_default().to_zoned(zone.clone());
    let read = ago(text, &now).or_else(|| day(text, &now)).or_else(|| exact(text, &now));
    let read = read.ok_or_else(|| Fault::new(format!("{} {WRONG}", shown(text))))?;
    Ok(Timestamp::from_micros(read.as_microsecond()))
}

/// Reads how long ago.
fn ago(text: &str, now: &Zoned) -> Option<jiff::Timestamp> {
    let (digits, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit())?);
    let millis: i64 = match unit.to_ascii_lowercase().as_str() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let millis = digits.parse::<i64>().ok()?.checked_mul(millis)?;
    now.timestamp().checked_sub(SignedDuration::from_millis(millis)).ok()
}

/// Reads the start of a day.
fn day(text: &str, now: &Zoned) -> Option<jiff::Timestamp> {
    let date = match text.to_ascii_lowercase().as_str() {
        "today" => now.date(),
        "yesterday" => now.date().checked_sub(1.day()).ok()?,
        _ => date(text)?,
    };
    Some(date.to_zoned(now.time_zone().clone()).ok()?.timestamp())
}

fn date(text: &str) -> Option<Date> {
    (text.len() == "2026-11-21".len()).then(|| text.parse().ok()).flatten()
}

/// Reads a time of today, or a date with a time. Without an offset, it is local.
fn exact(text: &str, now: &Zoned) -> Option<jiff::Timestamp> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(moment);
    }
    let is_time = matches!(text.len(), 5 | 8) && text.as_bytes()[2] == b':';
    let local = match is_time {
        true => now.date().to_datetime(text.parse::<Time>().ok()?),
        false => date(text.get(..10)?).and_then(|_| text.parse::<DateTime>().ok())?,
    };
    Some(local.to_zoned(now.time_zone().clone()).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_local_and_as_of_now() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now = "2026-11-24T23:30:00Z".parse().unwrap(); // half past one on the 25th, over there
        for (text, expected) in [
            ("2h", "2026-11-24T21:30:00.000000Z"),
            ("500MS", "2026-11-24T23:29:59.500000Z"),
            ("today", "2026-11-24T22:00:00.000000Z"),
            ("Yesterday", "2026-11-23T22:00:00.000000Z"),
            ("09:30", "2026-11-25T07:30:00.000000Z"),
            ("09:30:15", "2026-11-25T07:30:15.000000Z"),
            ("2026-11-21", "2026-11-20T22:00:00.000000Z"),
            ("2026-11-21T10:00", "2026-11-21T08:00:00.000000Z"),
            ("2026-11-21 10:00", "2026-11-21T08:00:00.000000Z"),
            ("2026-11-21T10:00:00.25-05:00", "2026-11-21T15:00:00.250000Z"),
        ] {
            let read = moment(text, now, &zone).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            assert_eq!(read.to_string(), expected, "{text}");
        }
        for text in
            ["", "2", "h", "tomorrow", "25:00", "2026-13-01", "99999999999999999d", "2026-11", "ä:äää"]
        {
            assert!(moment(text, now, &zone).is_err(), "{text}");
        }
    }
}
