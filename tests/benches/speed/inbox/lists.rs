//! Lists and numbers: pages from random places, views, the filters that have parameters of their own.

use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

use super::{
    client::Client,
    figure::{Figures, Part},
    sample::{Times, times},
};
use crate::measured::SEED;

/// How many pages of each list are read.
const PAGES: usize = 100;

/// The limits of the issue, in milliseconds.
const PAGE_MS: f64 = 10.0;
const GLANCE_MS: f64 = 20.0;
const FILTER_MS: f64 = 30.0;

/// The lists that people look at. Each is read twice: first mostly from the disk, from where each of its events may take
/// a read of its own, then from memory.
const LISTS: [(&str, &str, f64); 8] = [
    ("list page", "", PAGE_MS),
    ("list page with glance", "&glance=true", GLANCE_MS),
    ("with glance, folded", "&fold=true&glance=true", GLANCE_MS),
    ("view needs_action", "&view=needs_action&glance=true", GLANCE_MS),
    ("view invalid", "&view=invalid&glance=true", GLANCE_MS),
    ("view dead_letter", "&view=dead_letter&glance=true", GLANCE_MS),
    ("view waiting", "&view=waiting&glance=true", GLANCE_MS),
    ("of one source, with glance", "&source=shop&fold=true&glance=true", GLANCE_MS),
];

const FILTERS: [&str; 5] =
    ["status=failed", "verdict=invalid", "type=push", "type=nothing.like.this", "verdict=unsupported"];

/// Measures an inbox whose highest number is `last`.
pub(super) async fn measure(client: &mut Client, last: i64, figures: &mut Figures) -> anyhow::Result<()> {
    for (name, query, limit) in LISTS {
        let cold = pages(client, query, last, PAGES).await?;
        figures.add(Part::Lists, format!("{name}, first after start, ms"), cold.first, None);
        figures.add(Part::Lists, format!("{name}, p95 from the disk, ms"), cold.p95, None);
        let times = pages(client, query, last, PAGES).await?;
        figures.add(Part::Lists, format!("{name}, p50, ms"), times.p50, None);
        figures.add_times(Part::Lists, format!("{name}, p95, ms"), times, Some(limit));
    }
    if let Some(times) = times(client, PAGES, |_| "/api/stats".to_owned(), |answer| answer.took).await? {
        figures.add_times(Part::Lists, "/api/stats, p95, ms", times, None);
    }
    for filter in FILTERS {
        let path = format!("/api/events?limit=100&{filter}");
        if let Some(times) = times(client, PAGES / 4, |_| path.clone(), |answer| answer.took).await? {
            figures.add_times(Part::Lists, format!("{filter}, p95, ms"), times, Some(FILTER_MS));
        }
    }
    Ok(())
}

/// Reads the newest page of a list, and then pages from random places.
pub(super) async fn pages(
    client: &mut Client,
    query: &str,
    last: i64,
    count: usize,
) -> anyhow::Result<Times> {
    let mut random = SmallRng::seed_from_u64(SEED);
    let path = |number| {
        let cursor = random.random_range(1..=last.max(1));
        let from = if number == 0 { String::new() } else { format!("&cursor={cursor}") };
        format!("/api/events?limit=100{query}{from}")
    };
    let found = times(client, count, path, |answer| answer.took).await?;
    found.ok_or_else(|| anyhow::anyhow!("the list {query:?} is refused"))
}
