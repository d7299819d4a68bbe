//! How long events are kept.

use std::{collections::BTreeMap, fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize, de::Error as _};

use crate::EventStatus;

/// What retention tells apart: the statuses of events that wait for nothing, and what is in the trash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// Events without a delivery.
    Captured,
    /// Events that were delivered.
    Completed,
    /// Events whose deliveries were skipped on purpose.
    Skipped,
    /// Events with a delivery that ended for a reason which a retry cannot fix.
    Failed,
    /// Events with a delivery that used up its attempts.
    DeadLetter,
    /// Deleted events, counted from when they were deleted.
    Trash,
}

impl Kept {
    /// Everything that is told apart, with its name. The inbox stores one as its position here, from 0.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Captured, "captured"),
        (Self::Completed, "completed"),
        (Self::Skipped, "skipped"),
        (Self::Failed, "failed"),
        (Self::DeadLetter, "dead_letter"),
        (Self::Trash, "trash"),
    ];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Returns what an event with this status counts as; `None` if it waits for something, and so is kept in any case.
    pub const fn of(status: EventStatus) -> Option<Self> {
        match status {
            EventStatus::Captured => Some(Self::Captured),
            EventStatus::Completed => Some(Self::Completed),
            EventStatus::Skipped => Some(Self::Skipped),
            EventStatus::Failed => Some(Self::Failed),
            EventStatus::DeadLetter => Some(Self::DeadLetter),
            EventStatus::Processing | EventStatus::Pending => None,
        }
    }

    /// Returns for how long it is kept if nobody says otherwise.
    pub const fn default_keep(self) -> Keep {
        const DAY: u64 = 24 * 60 * 60;
        match self {
            Self::Captured | Self::Completed | Self::Skipped | Self::Trash => {
                Keep::For(Duration::from_secs(7 * DAY))
            }
            Self::Failed | Self::DeadLetter => Keep::For(Duration::from_secs(30 * DAY)),
        }
    }
}

/// For how long something is kept. Written as `90s`, `30m`, `12h`, `7d` or `never`, which stands for never deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// For this long: a minute to ten years.
    For(Duration),
    /// Until somebody deletes it.
    Forever,
}

/// The units in which a time is written, in seconds.
const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];

/// The shortest and the longest time, in seconds.
const SHORTEST: u64 = 60;
const LONGEST: u64 = 3_650 * 86_400;

impl fmt::Display for Keep {
    /// Writes the time in the largest unit in which it is a whole number.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::For(span) = self else { return out.write_str("never") };
        let seconds = span.as_secs();
        let (unit, name) =
            UNITS.into_iter().find(|(unit, _)| seconds.is_multiple_of(*unit)).unwrap_or((1, "s"));
        write!(out, "{}{name}", seconds / unit)
    }
}

impl FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(Self::Forever);
        }
        let wrong = || format!("{text:?} isn't a time to keep events for: write it like 12h, 7d or never");
        let place = text.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(place);
        let (unit, _) = UNITS.into_iter().find(|(_, name)| *name == unit).ok_or_else(wrong)?;
        let seconds =
            number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(wrong)?;
        if (SHORTEST..=LONGEST).contains(&seconds) {
            Ok(Self::For(Duration::from_secs(seconds)))
        } else {
            Err(format!(
                "events can be kept for a minute to ten years, or never be deleted; {text} is neither"
            ))
        }
    }
}

impl Serialize for Keep {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Keep {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(D::Error::custom)
    }
}

/// What is done when the disk is nearly full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// A warning is shown, and nothing is deleted.
    #[default]
    Warn,
    /// The oldest events that aren't pinned and wait for nothing are deleted.
    Prune,
}

impl FromStr for WhenFull {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "warn" => Ok(Self::Warn),
            "prune" => Ok(Self::Prune),
            _ => Err(format!("{text:?} can't be done when the disk is nearly full: use warn or prune")),
        }
    }
}

impl fmt::Display for WhenFull {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Warn => "warn",
            Self::Prune => "prune",
        })
    }
}

/// How long events are kept, and how large the inbox may become. Pinned events, and those that wait for something, are
/// kept in any case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Retention {
    /// For how long each is kept: a number with `s`, `m`, `h` or `d`, or `never`.
    #[cfg_attr(feature = "schema", schema(value_type = BTreeMap<String, String>))]
    pub keep: BTreeMap<Kept, Keep>,
    /// What holds for some sources instead, by name.
    #[cfg_attr(feature = "schema", schema(value_type = BTreeMap<String, BTreeMap<String, String>>))]
    pub sources: BTreeMap<String, BTreeMap<Kept, Keep>>,
    /// How many bytes of the inbox file may be in use. Above that, the oldest events are deleted that aren't pinned and
    /// wait for nothing. Null: there is no limit.
    pub size_limit: Option<u64>,
    /// What is done when the disk is nearly full.
    pub when_full: WhenFull,
}

impl Default for Retention {
    fn default() -> Self {
        let keep = Kept::ALL.into_iter().map(|(kept, _)| (kept, kept.default_keep())).collect();
        Self { keep, sources: BTreeMap::new(), size_limit: None, when_full: WhenFull::Warn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stands_at_its_place() {
        for (place, (kept, name)) in Kept::ALL.into_iter().enumerate() {
            assert_eq!((kept as usize, kept.as_str()), (place, name));
        }
    }

    #[test]
    fn a_time_is_read_as_it_is_written() {
        for text in ["60s", "90s", "5m", "12h", "7d", "3650d", "never"] {
            assert_eq!(text.parse::<Keep>().unwrap().to_string(), text.replace("60s", "1m"));
        }
        for wrong in
            ["", "7", "d", "7w", "-1d", "0d", "59s", "3651d", "Never", "99999999999999999999d", "7 d"]
        {
            assert!(wrong.parse::<Keep>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn by_default_failures_are_kept_for_longer() {
        let json = serde_json::to_value(Retention::default()).unwrap();
        assert_eq!(json["keep"]["completed"], "7d");
        assert_eq!(json["keep"]["dead_letter"], "30d");
        assert_eq!(json["when_full"], "warn");
        assert_eq!(serde_json::from_value::<Retention>(json).unwrap(), Retention::default());
    }
}
