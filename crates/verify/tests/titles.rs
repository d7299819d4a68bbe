//! Every sample of every provider is recognised without a set provider, and gives its id, type and title.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use std::collections::HashSet;

use hookmitt_event::{Facts, Timestamp};
use hookmitt_verify::{facts, provider, providers, recognise, sample, sample_types};

#[path = "titles/a.rs"]
mod a;
#[path = "titles/b.rs"]
mod b;

/// A sample, and what is read from it.
struct Row<'t> {
    provider: &'t str,
    /// The provider that the request alone identifies. For an adopter, that is its family.
    recognised: &'t str,
    sample: &'t str,
    kind: &'t str,
    /// Whether the event has an id of its own.
    id: bool,
    title: &'t str,
}

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);

fn rows() -> impl Iterator<Item = Row<'static>> {
    a::ROWS.lines().chain(b::ROWS.lines()).map(|line| {
        let cells: Vec<_> = line.splitn(6, " | ").collect();
        let [provider, recognised, sample, kind, id, title] = cells[..] else { panic!("{line}") };
        Row { provider, recognised, sample, kind, id: id == "id", title }
    })
}

fn read(row: &Row<'_>, fresh_id: &str) -> (Option<&'static str>, Facts) {
    let provider = provider(row.provider).unwrap();
    let request = sample(provider, Some(row.sample), fresh_id, AT).unwrap();
    (recognise(&request).map(|found| found.id.as_str()), facts(&request, Some(provider), None))
}

#[test]
fn every_sample_says_what_it_is() {
    let mut wrong = Vec::new();
    for row in rows() {
        let (recognised, facts) = read(&row, "0197abc-1");
        let (_, later) = read(&row, "0197abc-2");
        let own_id = facts.event_id.is_some() && facts.event_id != later.event_id;
        let seen = (recognised, own_id, facts.event_type.as_deref(), facts.title.as_deref());
        let expected = (Some(row.recognised), row.id, Some(row.kind), Some(row.title));
        if seen != expected {
            wrong.push(format!("{} {}: {seen:?} instead of {expected:?}", row.provider, row.sample));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_sample_is_left_out() {
    let known: HashSet<_> = rows().map(|row| (row.provider, row.sample)).collect();
    let there = providers()
        .flat_map(|provider| sample_types(provider).into_iter().map(|kind| (provider.id.as_str(), kind)));
    let missing: Vec<_> = there.filter(|sample| !known.contains(sample)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
