//! Asks a query of all chunks, from the newest down.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use hookmitt_search::{Query, WordKey, fold};
use rusqlite::Connection;

use crate::{
    chunk,
    error::IndexError,
    evaluate::{Found, Searched, slots},
    lookup::Lookup,
    plan::{Plan, column_of},
    schema, words,
};

/// After how long a search stops, so that its caller can show what there is and go on.
const LONG: Duration = Duration::from_millis(100);

/// After how long counting stops.
const LONG_COUNT: Duration = Duration::from_millis(200);

/// The events that may be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// Their sequence numbers, newest first. Every event of the index from `reached` on that the query finds is here;
    /// others may be too.
    pub seqs: Vec<i64>,
    /// How far down the search has come: the least sequence number that was looked at, or the start of the range.
    pub reached: i64,
    /// Whether the query finds all of them.
    pub exact: bool,
    /// Up to which sequence number the index had all events. Later ones may be missing.
    pub done: i64,
    /// The name of the [`Step`](crate::Step) that the index had stored last; `None` if it is empty.
    pub step: Option<i64>,
}

/// How many events a query finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// It finds at least as many.
    pub at_least: u64,
    /// Whether it finds no more than that.
    pub exact: bool,
    /// Up to which sequence number the index had all events. Later ones may be missing.
    pub done: i64,
    /// The name of the [`Step`](crate::Step) that the index had stored last; `None` if it is empty.
    pub step: Option<i64>,
}

/// Finds candidates in a range of sequence numbers. Stops after `limit`, or if it takes long.
pub(crate) fn candidates(
    db: &Connection,
    query: &Query,
    range: &Range<i64>,
    limit: usize,
) -> Result<Candidates, IndexError> {
    let end = Instant::now() + LONG;
    let (done, step) = (schema::done(db)?, schema::step(db)?);
    let mut candidates = Candidates { seqs: Vec::new(), reached: range.start, exact: true, done, step };
    each_chunk(db, query, range, |chunk, found| {
        let left = limit.saturating_sub(candidates.seqs.len());
        let seqs = found.maybe.newest_first().map(|slot| chunk::seq(chunk, slot));
        candidates.seqs.extend(seqs.take(left));
        candidates.exact &= found.sure == found.maybe;
        if found.maybe.len() >= left {
            candidates.reached = candidates.seqs.last().copied().unwrap_or(range.end);
            return false;
        }
        let goes_on = Instant::now() < end;
        if !goes_on {
            candidates.reached = chunk::seq(chunk, 0).max(range.start);
        }
        goes_on
    })?;
    Ok(candidates)
}

/// Counts what a query finds. Stops if it takes long.
pub(crate) fn count(db: &Connection, query: &Query) -> Result<Count, IndexError> {
    let end = Instant::now() + LONG_COUNT;
    let mut count = Count { at_least: 0, exact: true, done: schema::done(db)?, step: schema::step(db)? };
    each_chunk(db, query, &(0..i64::MAX), |_, found| {
        count.at_least += found.sure.len() as u64;
        let goes_on = Instant::now() < end;
        count.exact &= goes_on && found.sure == found.maybe;
        goes_on
    })?;
    Ok(count)
}

/// Calls `each` with what a query finds in each chunk, the newest first, until it returns `false`.
fn each_chunk(
    db: &Connection,
    query: &Query,
    range: &Range<i64>,
    mut each: impl FnMut(i64, Found) -> bool,
) -> Result<(), IndexError> {
    if range.is_empty() {
        return Ok(());
    }
    let (plan, mut lookup) = (Plan::new(db, query)?, Lookup::default());
    let (first, mut last) = (chunk::place(range.start).0, chunk::place(range.end - 1).0);
    while let Some((number, _)) = chunk::newest(db, first, last)? {
        let within = slots(number, range.start, range.end);
        let found = Searched::read(db, number)?.find(&plan, &mut lookup, &within)?;
        if !each(number, found) {
            break;
        }
        last = number - 1;
    }
    Ok(())
}

/// Returns words of a key that contain a text, with the number of events that have each, most frequent first.
pub(crate) fn words(
    db: &Connection,
    key: WordKey,
    part: &str,
    limit: usize,
) -> Result<Vec<(String, u64)>, IndexError> {
    let (mut uses, part) = (std::collections::HashMap::<String, u64>::new(), fold(part));
    words::each(db, column_of(key), |_, set, count| {
        for word in words::split(set).filter(|word| fold(word).contains(&part)) {
            *uses.entry(word.to_owned()).or_default() += count;
        }
        true
    })?;
    let mut words: Vec<_> = uses.into_iter().collect();
    words.sort_unstable_by(|(a, often), (b, other)| other.cmp(often).then_with(|| a.cmp(b)));
    words.truncate(limit);
    Ok(words)
}
