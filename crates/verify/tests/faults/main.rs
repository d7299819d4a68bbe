//! The bench of faults: requests are signed as providers sign them and damaged by the software that damages them in
//! real life. The verifier has to find the right cause.
//!
//! The programs of `tests/faults` make the requests: Node, Express, Flask, Django, PHP, nginx. They share no code with
//! the verifier. `make bench-explain` prints the table; `FAULTS_ROW` limits a run to one row.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be")]

mod case;
mod programs;
mod score;
mod table;

use std::{
    num::NonZero,
    sync::atomic::{AtomicUsize, Ordering},
};

use case::{Case, Explained};
use score::Score;

/// The required results. A pair is one fault of one provider.
const PAIRS: usize = 600;
const NAMED_PERCENT: f64 = 100.0;
const FIRST_PERCENT: f64 = 98.0;

#[test]
fn every_fault_is_named_and_nothing_right_is_called_wrong() {
    let Some(cases) = programs::cases() else { return };
    let mut score = Score::default();
    for (case, found) in cases.iter().zip(explained(&cases)) {
        match found {
            Some(found) => score.add(case, &found),
            None => drop(score.unknown.insert(case.row.clone())),
        }
    }
    table::print(&score);
    table::write(&score);
    if std::env::var_os("FAULTS_ROW").is_some() {
        return;
    }
    assert!(score.unknown.is_empty(), "not in the catalogue: {:?}", score.unknown);
    assert!(score.slandered.is_empty(), "called invalid although right: {:#?}", score.slandered);
    assert!(score.pairs() >= PAIRS, "{} pairs", score.pairs());
    assert!(score.named_percent() >= NAMED_PERCENT, "{:.2} % named", score.named_percent());
    assert!(score.first_percent() >= FIRST_PERCENT, "{:.2} % first", score.first_percent());
}

/// Explains each case, with one thread per processor.
fn explained(cases: &[Case]) -> Vec<Option<Explained>> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let mut found: Vec<Option<Explained>> = cases.iter().map(|_| None).collect();
    let work = || {
        let mut own = Vec::new();
        while let Some((at, case)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, cases.get(at)?)))
        {
            own.push((at, case.explained()));
        }
        own
    };
    let all: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.into_iter().for_each(|(at, explained)| found[at] = explained);
    found
}
