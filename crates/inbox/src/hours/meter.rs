//! What this process has counted since it began, for a monitor: numbers that only grow, which those of the history do
//! not when a verdict changes.

use std::{collections::HashMap, time::Duration};

use hdrhistogram::Histogram;
use hookmitt_event::{DeliveryState, Verdict, Via};

use super::{
    latencies::histogram,
    timed::{Kind, Took},
};

/// What a job adds to the meter.
#[derive(Debug, Default)]
pub(crate) struct Happened {
    /// Events that were stored: their sources, ways in and verdicts.
    pub(crate) captured: Vec<(i64, Via, Verdict)>,
    /// How claims ended. One that waits for a retry is pending.
    pub(crate) delivered: Vec<DeliveryState>,
    /// What took time.
    pub(crate) took: Vec<Took>,
}

impl Happened {
    /// Adds what happened in a later job.
    pub(crate) fn merge(&mut self, later: Self) {
        self.captured.extend(later.captured);
        self.delivered.extend(later.delivered);
        self.took.extend(later.took);
    }
}

/// What this process has stored and delivered since it opened the inbox.
#[derive(Clone, Debug)]
pub struct Meter {
    captured: HashMap<(i64, Via, Verdict), u64>,
    delivered: [u64; DeliveryState::ALL.len()],
    /// How long it took to store requests, from when all of it was there.
    pub capture: Times,
    /// How long attempts took.
    pub delivery: Times,
}

/// How long something took.
#[derive(Clone, Debug)]
pub struct Times(Histogram<u64>);

impl Default for Meter {
    fn default() -> Self {
        let times = || Times(histogram());
        let (captured, delivered) = Default::default();
        Self { captured, delivered, capture: times(), delivery: times() }
    }
}

impl Times {
    /// Returns how often it took at most so long.
    pub fn up_to(&self, time: Duration) -> u64 {
        self.0.count_between(0, u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
    }

    /// Returns how often it was timed.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns how long it took altogether.
    pub fn sum(&self) -> Duration {
        let micros = self.0.iter_recorded().fold(0_u64, |sum, step| {
            sum.saturating_add(step.value_iterated_to().saturating_mul(step.count_since_last_iteration()))
        });
        Duration::from_micros(micros)
    }
}

impl Meter {
    pub(crate) fn add(&mut self, happened: &Happened) {
        for captured in &happened.captured {
            *self.captured.entry(*captured).or_default() += 1;
        }
        for state in &happened.delivered {
            self.delivered[*state as usize] += 1;
        }
        for Took { kind, time, .. } in &happened.took {
            let times = if *kind == Kind::Capture { &mut self.capture } else { &mut self.delivery };
            times.0.saturating_record(u64::try_from(time.now().as_micros()).unwrap_or(u64::MAX));
        }
    }

    /// Returns how many events of a source came in one way and had one verdict at first.
    pub(crate) fn captured(&self) -> impl Iterator<Item = ((i64, Via, Verdict), u64)> {
        self.captured.iter().map(|(origin, events)| (*origin, *events))
    }

    /// Returns how many claims ended in each state. One that waits for a retry is pending.
    pub fn delivered(&self) -> impl Iterator<Item = (DeliveryState, u64)> {
        DeliveryState::ALL.into_iter().map(|(state, _)| (state, self.delivered[state as usize]))
    }
}
