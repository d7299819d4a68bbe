//! The inbox's history in numbers, as JSON.

use std::{collections::BTreeMap, time::Duration};

use hookmitt_engine::{Failure, Group, History, HistoryBy, Lag, Period, Quantiles, Sums};
use hookmitt_event::{EventId, EventStatus, TargetId, Timestamp};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// By what the history is broken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum By {
    /// By source.
    Source,
    /// By how events came in.
    Via,
    /// By verdict.
    Verdict,
    /// By the status of their deliveries.
    Status,
    /// By hour.
    Hour,
    /// By day, in the time zone of the machine that hookmitt runs on.
    Day,
}

impl By {
    /// Returns what the inbox breaks the history down by.
    pub(crate) fn kept(self) -> Option<HistoryBy> {
        match self {
            Self::Source => Some(HistoryBy::Source),
            Self::Via => Some(HistoryBy::Via),
            Self::Verdict => Some(HistoryBy::Verdict),
            Self::Hour | Self::Day => Some(HistoryBy::Hour),
            Self::Status => None,
        }
    }

    fn groups(self, history: &History) -> Vec<Group> {
        match self {
            Self::Status => {
                let one = |status: &(EventStatus, Sums)| Group {
                    name: status.0.as_str().to_owned(),
                    statuses: vec![*status],
                };
                history.all.statuses.iter().map(one).collect()
            }
            Self::Day => days(&history.groups, &TimeZone::system()),
            Self::Source | Self::Via | Self::Verdict | Self::Hour => history.groups.clone(),
        }
    }
}

/// Puts hours together to days.
fn days(hours: &[Group], zone: &TimeZone) -> Vec<Group> {
    let mut days = BTreeMap::<String, BTreeMap<u8, (EventStatus, Sums)>>::new();
    for hour in hours {
        let at = hour.name.parse::<jiff::Timestamp>();
        let day = at.map(|at| zone.to_datetime(at).date().to_string()).unwrap_or_default();
        for (status, sums) in &hour.statuses {
            let all = days.entry(day.clone()).or_default();
            let all = all.entry(*status as u8).or_insert((*status, Sums::default()));
            all.1 = all.1.plus(*sums);
        }
    }
    let day = |(name, statuses): (String, BTreeMap<u8, _>)| Group {
        name,
        statuses: statuses.into_values().collect(),
    };
    days.into_iter().map(day).collect()
}

/// The events of a period in numbers. They stay the same when events are deleted.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct HistoryJson {
    /// The beginning of the first hour that counts, RFC 3339; null: of the first hour that is kept.
    since: Option<String>,
    /// The end of the last hour that counts, RFC 3339; null: now.
    until: Option<String>,
    #[serde(flatten)]
    all: GroupJson,
    /// How many duplicates were not sent.
    duplicates_skipped: u64,
    /// The same events, broken down as asked.
    groups: Vec<NamedGroupJson>,
    /// How long it took to store a request, from when all of it was there.
    capture: LatencyJson,
    /// How long attempts at deliveries took.
    delivery: LatencyJson,
    /// How many events of an earlier version are not counted yet, at most.
    uncounted: u64,
}

/// What is counted of events.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct GroupJson {
    /// The number of events.
    events: u64,
    /// How many of them were duplicates.
    duplicates: u64,
    /// The size of their bodies, in bytes.
    bytes: u64,
    /// The number of events with each status; what is being sent counts as `pending`.
    statuses: BTreeMap<&'static str, u64>,
}

/// What is counted of the events of a group.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct NamedGroupJson {
    /// The source's slug, the way in, the verdict, the status, when the hour begins (RFC 3339), or the date.
    name: String,
    #[serde(flatten)]
    all: GroupJson,
}

/// How long something took, in milliseconds; exact to one part in a hundred.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct LatencyJson {
    /// How often it was timed.
    count: u64,
    /// Half of the times were at most that long.
    p50_ms: f64,
    /// 95 % of the times were at most that long.
    p95_ms: f64,
    /// 99 % of the times were at most that long.
    p99_ms: f64,
    /// The longest time.
    longest_ms: f64,
}

impl From<Quantiles> for LatencyJson {
    fn from(times: Quantiles) -> Self {
        let Quantiles { count, p50, p95, p99, longest } = times;
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        Self { count, p50_ms: ms(p50), p95_ms: ms(p95), p99_ms: ms(p99), longest_ms: ms(longest) }
    }
}

impl From<&Group> for GroupJson {
    fn from(group: &Group) -> Self {
        let Sums { events, duplicates, bytes } = group.all();
        let statuses = group.statuses.iter().map(|(status, sums)| (status.as_str(), sums.events)).collect();
        Self { events, duplicates, bytes, statuses }
    }
}

impl HistoryJson {
    pub(crate) fn new(period: Period, by: Option<By>, history: &History) -> Self {
        let Period { since, until } = period.in_hours();
        let named = |group: &Group| NamedGroupJson { name: group.name.clone(), all: group.into() };
        let skipped = history.all.statuses.iter().find(|(status, _)| *status == EventStatus::Skipped);
        Self {
            since: since.map(|since| since.to_string()),
            until: until.map(|until| until.to_string()),
            all: (&history.all).into(),
            duplicates_skipped: skipped.map_or(0, |(_, sums)| sums.duplicates),
            groups: by.map_or_else(Vec::new, |by| by.groups(history).iter().map(named).collect()),
            capture: history.capture.into(),
            delivery: history.delivery.into(),
            uncounted: history.uncounted,
        }
    }
}

/// How long events wait to be delivered.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct LagJson {
    /// The oldest event that waits; null if none does.
    oldest: Option<WaitingJson>,
    /// How many deliveries wait or are being tried.
    deliveries: u64,
    /// How many of them are of events that have waited for more than 30 minutes.
    over_30_minutes: u64,
}

/// An event that waits.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct WaitingJson {
    #[schema(value_type = String, format = "uuid")]
    event_id: EventId,
    seq: i64,
    /// When it was received, RFC 3339.
    #[schema(value_type = String, format = "date-time")]
    received_at: Timestamp,
    /// For how many seconds it has waited.
    seconds: u64,
}

impl From<Lag> for LagJson {
    fn from(lag: Lag) -> Self {
        let oldest = lag.oldest.map(|oldest| WaitingJson {
            event_id: oldest.id,
            seq: oldest.seq,
            received_at: oldest.received_at,
            seconds: oldest.waited.as_secs(),
        });
        Self { oldest, deliveries: lag.deliveries, over_30_minutes: lag.long }
    }
}

/// A delivery that failed or died.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct FailureJson {
    #[schema(value_type = String, format = "uuid")]
    event_id: EventId,
    seq: i64,
    source: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    target_id: TargetId,
    target: String,
    /// `failed` or `dead_letter`.
    status: &'static str,
    /// How many attempts were made.
    attempts: u32,
    last_error: Option<String>,
    /// When it ended, RFC 3339.
    #[schema(value_type = Option<String>, format = "date-time")]
    ended_at: Option<Timestamp>,
}

impl From<Failure> for FailureJson {
    fn from(failure: Failure) -> Self {
        let Failure { event, seq, source, event_type, target, url, state, attempts, last_error, ended_at } =
            failure;
        let (status, kind) = (state.as_str(), event_type);
        Self {
            event_id: event,
            seq,
            source,
            kind,
            target_id: target,
            target: url,
            status,
            attempts,
            last_error,
            ended_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_put_together_to_the_days_of_a_time_zone() {
        let of = |events| Sums { events, duplicates: 1, bytes: 2 };
        let hour = |name: &str, statuses| Group { name: name.to_owned(), statuses };
        let hours = [
            hour("2026-11-24T21:00:00.000000Z", vec![(EventStatus::Completed, of(1))]),
            hour("2026-11-24T22:00:00.000000Z", vec![(EventStatus::Completed, of(2))]),
            hour(
                "2026-11-24T23:00:00.000000Z",
                vec![(EventStatus::Failed, of(4)), (EventStatus::Completed, of(8))],
            ),
        ];
        let days = days(&hours, &TimeZone::fixed(jiff::tz::offset(2)));
        let told: Vec<_> = days.iter().map(|day| (day.name.as_str(), day.all())).collect();
        let sums = |events, times| Sums { events, duplicates: times, bytes: 2 * times };
        assert_eq!(told, [("2026-11-24", sums(1, 1)), ("2026-11-25", sums(14, 3))]);
        assert_eq!(
            days[1].statuses,
            [(EventStatus::Failed, sums(4, 1)), (EventStatus::Completed, sums(10, 2))]
        );
    }
}
