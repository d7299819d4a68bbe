//! Fills a data directory with events as a real one has them, for tests and measurements by hand.
//!
//! `fill-inbox DIRECTORY EVENTS [--seed N] [--small] [--aged]`: `--small` makes bodies as small as the samples allow,
//! `--aged` lets the store's own clock pass with the events, so that retention takes the old ones.

use std::{path::PathBuf, time::Instant};

use anyhow::{Context as _, bail, ensure};
use hookmitt_stories::{Plan, Sizes, fill_inbox};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let (directory, plan) = asked(std::env::args().skip(1))?;
    ensure!(!directory.join("inbox.db").exists(), "{} has an inbox already", directory.display());
    let started = Instant::now();
    fill_inbox(&directory, plan, |count| progress(count, plan.events, started)).await?;
    Ok(())
}

fn asked(mut words: impl Iterator<Item = String>) -> anyhow::Result<(PathBuf, Plan)> {
    const USAGE: &str = "use: fill-inbox DIRECTORY EVENTS [--seed N] [--small] [--aged]";
    let directory = words.next().context(USAGE)?.into();
    let mut plan = Plan::of(words.next().context(USAGE)?.parse().context(USAGE)?);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seed" => plan.seed = words.next().context(USAGE)?.parse().context(USAGE)?,
            "--small" => plan.sizes = Sizes::Small,
            "--aged" => plan.aged = true,
            _ => bail!(USAGE),
        }
    }
    Ok((directory, plan))
}

#[expect(clippy::print_stderr, reason = "it is a program of the command line")]
fn progress(count: u64, events: u64, started: Instant) {
    let each = (events / 20).max(1);
    if count.is_multiple_of(each) || count == events {
        let rate = count as f64 / started.elapsed().as_secs_f64();
        eprintln!("{count} of {events} events, {rate:.0} a second");
    }
}
