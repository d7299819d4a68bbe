//! `hookmitt stats`: the inbox in numbers.

use std::{collections::BTreeMap, time::Duration};

use hookmitt_event::{EventStatus, Plain, Timestamp};
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    moment::Since,
    shown,
    terminal::{BAD, FAINT, ODD, STRONG, Screen, Styled},
};

/// What `stats` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only events since this time: how long ago (10m, 2h, 7d), or an RFC 3339 time. Whole hours count
    #[arg(long, value_name = "T")]
    since: Option<Since>,
    /// Only events before this time
    #[arg(long, value_name = "T")]
    until: Option<Since>,
    /// What to break the events down by
    #[arg(long, value_name = "WHAT", default_value = "source", value_parser = ["source", "via", "verdict", "status", "hour", "day"])]
    by: String,
}

/// What is shown of the answer.
#[derive(Debug, Deserialize)]
struct Stats {
    history: History,
    failures: Vec<Failure>,
    lag: Lag,
    disk: Disk,
    #[serde(default)]
    damage: Option<String>,
    #[serde(default)]
    recovered: Option<String>,
    upkeep: Upkeep,
    retention: Option<Retention>,
}

#[derive(Debug, Deserialize)]
struct History {
    #[serde(flatten)]
    all: Group,
    duplicates_skipped: u64,
    groups: Vec<NamedGroup>,
    capture: Latency,
    delivery: Latency,
    uncounted: u64,
}

#[derive(Debug, Deserialize)]
struct Group {
    events: u64,
    duplicates: u64,
    bytes: u64,
    statuses: BTreeMap<String, u64>,
}

#[derive(Debug, Deserialize)]
struct NamedGroup {
    name: String,
    #[serde(flatten)]
    all: Group,
}

#[derive(Debug, Deserialize)]
struct Latency {
    count: u64,
    p50_ms: f64,
    p95_ms: f64,
    p99_ms: f64,
}

#[derive(Debug, Deserialize)]
struct Failure {
    seq: i64,
    source: String,
    target: String,
    status: String,
    attempts: u32,
    last_error: Option<String>,
    ended_at: Option<Timestamp>,
}

#[derive(Debug, Deserialize)]
struct Lag {
    oldest: Option<Waiting>,
    deliveries: u64,
    over_30_minutes: u64,
}

#[derive(Debug, Deserialize)]
struct Waiting {
    seq: i64,
    seconds: u64,
}

#[derive(Debug, Deserialize)]
struct Disk {
    database: u64,
    log: u64,
    index: Option<u64>,
    free: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Upkeep {
    indexed: Option<u64>,
    last: u64,
    uncompressed: u64,
}

#[derive(Debug, Deserialize)]
struct Retention {
    events: u64,
    bytes: u64,
    warning: Option<String>,
}

/// Prints the numbers.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let moment = |at: Option<Since>| at.map(|at| at.moment(Timestamp::now()).to_string());
    let address = Address::new(["stats"])
        .with("since", moment(args.since))
        .with("until", moment(args.until))
        .with("by", Some(args.by.clone()));
    let answer: Value = client.get(&address).await?;
    if screen.json {
        screen.print_json(&answer)?;
        return Ok(Exit::Success);
    }
    let stats = Stats::deserialize(answer).map_err(|error| CliError::Answer(error.to_string()))?;
    for line in lines(&stats, &args.by, &TimeZone::system()) {
        screen.print(line)?;
    }
    Ok(Exit::Success)
}

fn lines(stats: &Stats, by: &str, zone: &TimeZone) -> Vec<String> {
    let Stats { history, failures, lag, disk, damage, recovered, upkeep, retention } = stats;
    let mut lines = groups(history, by, zone);
    let wide = |name: &str, said: String| format!("{name:11} {said}");
    lines.push(String::new());
    lines.push(wide(
        "duplicates",
        format!(
            "{}, {} of them not sent",
            shown::grouped(history.all.duplicates),
            shown::grouped(history.duplicates_skipped)
        ),
    ));
    lines.push(wide("bodies", shown::size(history.all.bytes)));
    lines.push(wide("waiting", waiting(lag)));
    lines.push(wide("capture", latency(&history.capture)));
    lines.push(wide("delivery", latency(&history.delivery)));
    lines.push(wide("disk", taken(disk)));
    lines.extend(damage.as_ref().map(|said| Styled(BAD, Plain(said)).to_string()));
    lines.extend(recovered.as_ref().map(|said| Styled(ODD, Plain(said)).to_string()));
    if let Some(Retention { events, bytes, warning }) = retention {
        let said =
            format!("takes about {} events within a day, {}", shown::grouped(*events), shown::size(*bytes));
        lines.push(wide("retention", said));
        lines.extend(warning.as_ref().map(|warning| wide("", Styled(ODD, Plain(warning)).to_string())));
    }
    lines.extend(behind(upkeep, history.uncounted).map(|said| Styled(FAINT, said).to_string()));
    if !failures.is_empty() {
        lines.push(format!("\n{}", Styled(STRONG, "LATEST FAILURES")));
        lines.extend(failures.iter().map(|failure| failed(failure, zone)));
    }
    lines
}

/// Returns a row for each group, and one for all of them.
fn groups(history: &History, by: &str, zone: &TimeZone) -> Vec<String> {
    let name = |name: &str| match name.parse::<Timestamp>() {
        Ok(hour) if by == "hour" => shown::day_and_clock(hour, zone),
        _ => Plain(name).to_string(),
    };
    let row = |name: &str, group: &Group| {
        let statuses = statuses(&group.statuses);
        format!("{}  {:>12}  {statuses}", shown::fitted(name, 24), shown::grouped(group.events))
            .trim_end()
            .to_owned()
    };
    let head = format!("{}  {:>12}  STATUS", shown::fitted(&by.to_uppercase(), 24), "EVENTS");
    let rows = history.groups.iter().map(|group| row(&name(&group.name), &group.all));
    let mut lines: Vec<_> = [Styled(STRONG, head).to_string()].into_iter().chain(rows).collect();
    lines.push(row("all", &history.all));
    lines
}

/// Says how many events have each status: `completed 12  failed 1`.
fn statuses(counts: &BTreeMap<String, u64>) -> String {
    let told = EventStatus::ALL.iter().rev().filter_map(|(status, name)| {
        let count = counts.get(*name)?;
        Some(format!("{} {}", shown::status(*status), shown::grouped(*count)))
    });
    told.collect::<Vec<_>>().join("  ")
}

fn waiting(lag: &Lag) -> String {
    let Some(Waiting { seq, seconds }) = lag.oldest else { return "nothing".to_owned() };
    let since = shown::span(Duration::from_secs(seconds));
    let said = format!("{} deliveries, the oldest #{seq} for {since}", shown::grouped(lag.deliveries));
    match lag.over_30_minutes {
        0 => said,
        long => format!("{said}; {}", Styled(ODD, format!("{} for more than 30 min", shown::grouped(long)))),
    }
}

fn latency(times: &Latency) -> String {
    if times.count == 0 {
        return "not timed".to_owned();
    }
    let ms = |ms: f64| {
        if ms < 10.0 { format!("{ms:.1} ms") } else { shown::span(Duration::from_secs_f64(ms / 1_000.0)) }
    };
    let (p50, p95, p99) = (ms(times.p50_ms), ms(times.p95_ms), ms(times.p99_ms));
    format!("p50 {p50}, p95 {p95}, p99 {p99}, of {}", shown::grouped(times.count))
}

fn taken(disk: &Disk) -> String {
    let Disk { database, log, index, free } = disk;
    let mut said = format!("inbox {}, its log {}", shown::size(*database), shown::size(*log));
    for (name, bytes) in [("search index", index), ("free", free)] {
        if let Some(bytes) = bytes {
            said += &format!(", {name} {}", shown::size(*bytes));
        }
    }
    said
}

/// Says what upkeep has yet to do.
fn behind(upkeep: &Upkeep, uncounted: u64) -> impl Iterator<Item = String> {
    let Upkeep { indexed, last, uncompressed } = upkeep;
    let done = indexed.unwrap_or(0);
    let indexing =
        (done < *last).then(|| format!("indexing: {} of {}", shown::grouped(done), shown::grouped(*last)));
    let compressing =
        (*uncompressed > 0).then(|| format!("compressing: {} to go", shown::grouped(*uncompressed)));
    let counting =
        (uncounted > 0).then(|| format!("counting earlier events: {} to go", shown::grouped(uncounted)));
    [indexing, compressing, counting].into_iter().flatten()
}

fn failed(failure: &Failure, zone: &TimeZone) -> String {
    let Failure { seq, source, target, status, attempts, last_error, ended_at } = failure;
    let at = ended_at.map(|at| shown::day_and_clock(at, zone)).unwrap_or_default();
    let error = Plain(last_error.as_deref().unwrap_or("no reason is known")).to_string();
    let tries = if *attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    let status = Styled(BAD, Plain(status));
    format!("{}  #{seq}  {}  {}  {status}, {tries}: {error}", Styled(FAINT, at), Plain(source), Plain(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sample() -> Value {
        json!({
            "history": {
                "events": 1_234, "duplicates": 12, "bytes": 3_300, "statuses": { "completed": 1_233, "failed": 1 },
                "duplicates_skipped": 10, "uncounted": 7,
                "groups": [{ "name": "demo", "events": 1_234, "duplicates": 12, "bytes": 3_300,
                    "statuses": { "completed": 1_233, "failed": 1 } }],
                "capture": { "count": 1_234, "p50_ms": 1.25, "p95_ms": 4.0, "p99_ms": 12.0 },
                "delivery": { "count": 0, "p50_ms": 0.0, "p95_ms": 0.0, "p99_ms": 0.0 }
            },
            "failures": [{ "seq": 9, "source": "demo", "target": "http://localhost:3000/", "status": "failed",
                "attempts": 1, "last_error": "answered 400\u{1b}[2J", "ended_at": "2026-11-21T14:03:59Z" }],
            "lag": { "oldest": { "seq": 3, "seconds": 4_200 }, "deliveries": 7, "over_30_minutes": 4 },
            "disk": { "database": 5_000_000, "log": 0, "index": 1_000, "free": null },
            "upkeep": { "indexed": 12_340, "last": 1_000_000, "uncompressed": 0 },
            "retention": { "events": 3, "bytes": 2_000 }
        })
    }

    #[test]
    fn the_numbers_are_told_in_lines_that_control_no_terminal() {
        let stats = Stats::deserialize(sample()).unwrap();
        let told = lines(&stats, "source", &TimeZone::UTC).join("\n");
        let told = anstream::adapter::strip_str(&told).to_string();
        let expected = "SOURCE                          EVENTS  STATUS
demo                             1,234  completed 1,233  failed 1
all                              1,234  completed 1,233  failed 1

duplicates  12, 10 of them not sent
bodies      3.3 kB
waiting     7 deliveries, the oldest #3 for 1 h; 4 for more than 30 min
capture     p50 1.2 ms, p95 4.0 ms, p99 12 ms, of 1,234
delivery    not timed
disk        inbox 5.0 MB, its log 0 B, search index 1.0 kB
retention   takes about 3 events within a day, 2.0 kB
indexing: 12,340 of 1,000,000
counting earlier events: 7 to go

LATEST FAILURES
11-21 14:03:59  #9  demo  http://localhost:3000/  failed, 1 attempt: answered 400\\u{1b}[2J";
        assert_eq!(told, expected);
    }
}
