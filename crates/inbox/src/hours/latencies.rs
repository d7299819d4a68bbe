//! Latencies that wait to be written. What a transaction takes is known only after its commit, so latencies are written
//! with a later one. They are written every few seconds, because a histogram is more to write than a number; if the
//! process is killed, those of the last seconds are lost.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    counted::hour_of,
    timed::{Kind, Took},
};
use crate::{InboxError, now::Now};

/// How long latencies wait at least.
const WAIT: Duration = Duration::from_secs(10);

/// The longest time that is told from longer ones: an hour, in microseconds.
const LONGEST: u64 = 3_600_000_000;

/// A histogram of microseconds, which are exact to one part in a hundred.
pub(crate) fn histogram() -> Histogram<u64> {
    #[expect(clippy::expect_used, reason = "the bounds are constants, and valid")]
    Histogram::new_with_bounds(1, LONGEST, 2).expect("valid bounds")
}

/// Adds stored counts to a histogram.
pub(crate) fn add_stored(histogram: &mut Histogram<u64>, counts: &[u8]) {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    for pair in counts.chunks_exact(8) {
        let (value, times) = pair.split_at(4);
        histogram.saturating_record_n(number(value), number(times));
    }
}

/// Returns the counts of a histogram as they are stored.
pub(crate) fn stored(histogram: &Histogram<u64>) -> Vec<u8> {
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
    let pairs = histogram.iter_recorded().map(|step| {
        let value = histogram.lowest_equivalent(step.value_iterated_to());
        [number(value), number(step.count_since_last_iteration())].concat()
    });
    pairs.flatten().collect()
}

/// Adds latencies to those that are stored of an hour.
pub(crate) fn store(
    db: &Connection,
    (hour, source, kind): (i64, i64, Kind),
    mut counts: Histogram<u64>,
    now: Now,
) -> Result<(), InboxError> {
    const FIND: &str = "SELECT counts FROM latency WHERE hour = ?1 AND source = ?2 AND kind = ?3";
    const SET: &str = "INSERT OR REPLACE INTO latency VALUES (?1, ?2, ?3, ?4, ?5)";
    let key = params![hour, source, kind as i64];
    let earlier: Option<Vec<u8>> = db.prepare_cached(FIND)?.query_row(key, |row| row.get(0)).optional()?;
    add_stored(&mut counts, &earlier.unwrap_or_default());
    db.prepare_cached(SET)?.execute(params![hour, source, kind as i64, stored(&counts), now.store])?;
    Ok(())
}

/// Latencies of commits, until they are written.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    waiting: HashMap<(i64, i64, Kind), Histogram<u64>>,
    since: Option<Instant>,
    /// Whether the running transaction writes them.
    are_written: bool,
}

impl Latencies {
    /// Writes what has waited long enough, or everything if `at_once` says so.
    pub(crate) fn write(&mut self, db: &Connection, now: Now, at_once: bool) -> Result<(), InboxError> {
        self.are_written = self.since.is_some_and(|since| at_once || since.elapsed() >= WAIT);
        if self.are_written {
            for (key, counts) in &self.waiting {
                store(db, *key, counts.clone(), now)?;
            }
        }
        Ok(())
    }

    /// Takes what a commit took.
    pub(crate) fn committed(&mut self, took: Vec<Took>) {
        if std::mem::take(&mut self.are_written) {
            self.waiting.clear();
            self.since = None;
        }
        for Took { kind, source, at, time } in took {
            let counts = self.waiting.entry((hour_of(at), source, kind)).or_insert_with(histogram);
            counts.saturating_record(u64::try_from(time.now().as_micros()).unwrap_or(LONGEST));
            self.since.get_or_insert_with(Instant::now);
        }
    }
}
