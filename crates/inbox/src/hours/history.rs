//! The history: what is asked for, and the answer.

use std::{ops::Range, time::Duration};

use hdrhistogram::Histogram;
use hookmitt_event::{EventStatus, Timestamp};

use super::counted::{beginning, hour_of};

/// A time, in whole hours. The hours in which its ends lie are part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Its beginning; `None` stands for the first hour that is kept.
    pub since: Option<Timestamp>,
    /// Its end; `None` stands for the present.
    pub until: Option<Timestamp>,
}

impl Period {
    pub(crate) fn hours(self) -> Range<i64> {
        let first = self.since.map_or(i64::MIN, |since| hour_of(since.as_micros()));
        let end = self.until.map_or(i64::MAX, |until| hour_of(until.as_micros() - 1) + 1);
        first..end
    }

    /// Returns the period with its ends moved to the full hours.
    #[must_use]
    pub fn in_hours(self) -> Self {
        let Range { start, end } = self.hours();
        let moment = |hour| Timestamp::from_micros(beginning(hour));
        Self { since: self.since.map(|_| moment(start)), until: self.until.map(|_| moment(end)) }
    }
}

/// By what the history is broken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By the name of the source.
    Source,
    /// By how events came in.
    Via,
    /// By verdict.
    Verdict,
    /// By the hour in which events were received.
    Hour,
}

/// What is counted of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// How many there were.
    pub events: u64,
    /// How many of them were duplicates.
    pub duplicates: u64,
    /// The size of their bodies, in bytes.
    pub bytes: u64,
}

/// The events of a group by their statuses. What is being sent counts as pending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// What the group has in common: a source's name, the name of a way in or of a verdict, or when an hour begins.
    pub name: String,
    /// The statuses that occur, each with its sums.
    pub statuses: Vec<(EventStatus, Sums)>,
}

impl Group {
    /// Returns the sums over all statuses.
    pub fn all(&self) -> Sums {
        self.statuses.iter().fold(Sums::default(), |all, (_, sums)| all.plus(*sums))
    }
}

impl Sums {
    /// Returns the sums of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            events: self.events + other.events,
            duplicates: self.duplicates + other.duplicates,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// How long something took. Times are exact to one part in a hundred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// How often it was timed.
    pub count: u64,
    /// Half of the times were at most that long.
    pub p50: Duration,
    /// 95 % of the times were at most that long.
    pub p95: Duration,
    /// 99 % of the times were at most that long.
    pub p99: Duration,
    /// The longest time.
    pub longest: Duration,
}

impl Quantiles {
    pub(crate) fn of(counts: &Histogram<u64>) -> Self {
        let at = |quantile| Duration::from_micros(counts.value_at_quantile(quantile));
        let longest = Duration::from_micros(counts.max());
        Self { count: counts.len(), p50: at(0.5), p95: at(0.95), p99: at(0.99), longest }
    }
}

/// The inbox's history in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// All events by their statuses. The group has no name.
    pub all: Group,
    /// The same events, broken down as asked; in the order of their names, and empty if not asked.
    pub groups: Vec<Group>,
    /// How long it took to store a request, from when all of it was there.
    pub capture: Quantiles,
    /// How long attempts took.
    pub delivery: Quantiles,
    /// How many events of earlier versions are not counted yet, at most.
    pub uncounted: u64,
}
