//! `make bench-year`: a year of an inbox in about ten minutes. Each week events come and are delivered, the inbox's clock
//! is turned, and what is old enough goes. Disk and memory must level out.

use anyhow::Context as _;
use hookmitt_stories::{Week, use_for};

const WEEKS: u32 = 52;

/// How many events come in a week, if nobody says otherwise.
const EVENTS: u32 = 10_000;

/// Uses an inbox for a year and prints a line for each week. The argument is the number of events in a week.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    // `cargo bench` adds an argument of its own.
    let typed = arguments.iter().find(|text| !text.starts_with('-'));
    let events = typed.map(|text| text.parse()).transpose().context("events a week")?;
    let runtime = tokio::runtime::Runtime::new()?;
    let mut weeks = Vec::new();
    say("week   events     keys   disk MB  memory MB   list ms  search ms  prune s");
    runtime.block_on(use_for(WEEKS, events.unwrap_or(EVENTS), |week| {
        say(&line(week));
        weeks.push(week.clone());
    }));
    // From the 14th week on, keys go, too; until then they are collected.
    let (middle, last) = (weeks.get(25).context("half a year")?, weeks.last().context("a year")?);
    let grown = |before: u64, after: u64| after as f64 / before.max(1) as f64;
    say(&format!(
        "second half of the year: disk × {:.2}, memory × {:.2}",
        grown(middle.disk, last.disk),
        grown(middle.resident, last.resident)
    ));
    Ok(())
}

fn line(week: &Week) -> String {
    let millis = |span: std::time::Duration| span.as_secs_f64() * 1_000.0;
    format!(
        "{:>4} {:>8} {:>8} {:>9.1} {:>10.1} {:>9.1} {:>10.1} {:>8.1}",
        week.number,
        week.events,
        week.keys,
        week.disk as f64 / 1e6,
        week.resident as f64 / 1e6,
        millis(week.list),
        millis(week.search),
        week.prune.as_secs_f64()
    )
}

#[expect(clippy::print_stdout, reason = "a benchmark reports to its caller")]
fn say(line: &str) {
    println!("{line}");
}
