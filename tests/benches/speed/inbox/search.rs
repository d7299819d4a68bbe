//! Searches: from the newest event on, and from places in between.

use std::time::Duration;

use super::{
    client::{Answer, Client},
    figure::{Figures, Part},
    place::Place,
    queries,
    sample::times,
};

/// How often each query is asked.
const TIMES: usize = 25;

/// How often a text is asked for before: the index and the events are mostly on the disk then. A search that takes long
/// answers with what it has, so it takes a few.
const FROM_DISK: usize = 5;

/// The limits of the issue, in milliseconds.
const KEYS_MS: f64 = 30.0;
const TEXT_MS: f64 = 50.0;
const FIRST_ROWS_MS: f64 = 200.0;

pub(super) async fn measure(
    client: &mut Client,
    place: &Place,
    part: Part,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    // Without the language, the server takes `type:push` for a text.
    let known = part == Part::Text || client.get(&path(queries::PROBE)).await?.status == 400;
    let (queries, limit) = asked(place, part);
    let which: fn(&Answer) -> Duration =
        if part == Part::Unindexed { |answer| answer.first_row } else { |answer| answer.took };
    for (name, query) in queries {
        let asked = path(&query);
        if part == Part::Text
            && let Some(cold) = times(client, FROM_DISK, |_| asked.clone(), which).await?
        {
            figures.add(part, format!("{name}, from the disk, ms"), cold.p95, None);
        }
        let found = if known { times(client, TIMES, |_| asked.clone(), which).await? } else { None };
        let name = format!("{name}, {}", if part == Part::Unindexed { "first row, ms" } else { "p95, ms" });
        match found {
            Some(times) => figures.add_times(part, name, times, Some(limit)),
            None => figures.add_missing(part, name, Some(limit)),
        }
    }
    Ok(())
}

/// Returns the queries of a part, each with its name, and their limit.
fn asked(place: &Place, part: Part) -> (Vec<(String, String)>, f64) {
    let as_named = |query: &&str| ((*query).to_owned(), (*query).to_owned());
    let owned = |(name, query): (&str, String)| (name.to_owned(), query);
    match part {
        Part::Keys => {
            let times = queries::times(place.until()).into_iter().map(owned);
            (queries::KEYS.iter().map(as_named).chain(times).collect(), KEYS_MS)
        }
        Part::Pairs => (queries::PAIRS.iter().map(as_named).collect(), KEYS_MS),
        Part::Unindexed => (queries::UNINDEXED.iter().map(as_named).collect(), FIRST_ROWS_MS),
        _ => (queries::texts().into_iter().map(owned).collect(), TEXT_MS),
    }
}

/// Returns the path of a search.
fn path(query: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    format!("/api/events?limit=100&q={}", query.bytes().map(escaped).collect::<String>())
}
