//! Asks for the same thing many times, and says how long that took.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use super::client::{Answer, Client};
use crate::report::{millis, percentile};

/// How long one thing is asked for at most, however few answers came.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often it is asked for at least.
const LEAST: usize = 3;

/// How long answers took, in milliseconds.
#[derive(Clone, Copy)]
pub(super) struct Times {
    /// The first answer.
    pub(super) first: f64,
    pub(super) p50: f64,
    pub(super) p95: f64,
    /// How many answers there were.
    pub(super) count: usize,
    /// How many rows the first answer had.
    pub(super) rows: usize,
}

impl Times {
    pub(super) fn json(&self) -> Value {
        let Self { first, p50, p95, count, rows } = self;
        json!({ "first": first, "p50": p50, "p95": p95, "answers": count, "rows": rows })
    }
}

/// Asks for `count` paths, one after the other, and measures with `which` how long each answer took. If the server
/// refuses the first as bad input, there are no times: it doesn't know such a thing yet.
pub(super) async fn times(
    client: &mut Client,
    count: usize,
    mut path: impl FnMut(usize) -> String,
    which: impl Fn(&Answer) -> Duration,
) -> anyhow::Result<Option<Times>> {
    let (started, mut spans, mut rows) = (Instant::now(), Vec::with_capacity(count), 0);
    for number in 0..count {
        if number >= LEAST && started.elapsed() > PATIENCE {
            break;
        }
        let path = path(number);
        let answer = client.get(&path).await?;
        if answer.status == 400 && number == 0 {
            return Ok(None);
        }
        ensure!(answer.status == 200, "{path} is answered with {}: {}", answer.status, answer.text());
        if number == 0 {
            rows = answer.rows();
        }
        spans.push(which(&answer));
    }
    let first = spans.first().copied().map_or(0.0, millis);
    let count = spans.len();
    spans.sort_unstable();
    Ok(Some(Times { first, p50: percentile(&spans, 50.0), p95: percentile(&spans, 95.0), count, rows }))
}
