//! Counts the causes that were found and those that were not.

use std::collections::{BTreeMap, BTreeSet};

use hookmitt_event::Verdict;

use crate::case::{Case, Explained};

const VALID: &str = "valid";

/// The number of pairs, of those with the right code among the causes, and of those with the right code first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) pairs: usize,
    pub(crate) named: usize,
    pub(crate) first: usize,
}

/// A fault whose right cause was not the first.
#[derive(Debug)]
pub(crate) struct Miss {
    pub(crate) row: String,
    pub(crate) group: String,
    pub(crate) fault: String,
    pub(crate) expected: Vec<String>,
    pub(crate) verdict: Verdict,
    pub(crate) got: Vec<String>,
}

/// The results of the whole bench.
#[derive(Debug, Default)]
pub(crate) struct Score {
    /// The tallies by row and group.
    pub(crate) tallies: BTreeMap<(String, String), Tally>,
    pub(crate) misses: Vec<Miss>,
    /// The number of correct requests, including those with changes that the provider's scheme permits.
    pub(crate) right: usize,
    /// Correct requests that were not judged valid.
    pub(crate) slandered: Vec<Miss>,
    /// Rows whose provider isn't in the catalogue.
    pub(crate) unknown: BTreeSet<String>,
}

impl Score {
    pub(crate) fn add(&mut self, case: &Case, found: &Explained) {
        let expects_valid = case.expect.iter().any(|code| code == VALID);
        let is_valid = found.verdict == Verdict::Valid;
        let codes = || case.expect.iter().filter(|code| *code != VALID);
        if expects_valid && (is_valid || codes().next().is_none()) {
            self.right += 1;
            if !is_valid {
                self.slandered.push(miss(case, found));
            }
            return;
        }
        let named = !is_valid && codes().any(|code| found.codes.contains(code));
        let first = !is_valid && found.codes.first().is_some_and(|first| codes().any(|code| code == first));
        let tally = self.tallies.entry((case.row.clone(), case.group.clone())).or_default();
        tally.pairs += 1;
        tally.named += usize::from(named);
        tally.first += usize::from(first);
        if !first {
            self.misses.push(miss(case, found));
        }
    }

    fn sum(&self, of: fn(&Tally) -> usize) -> usize {
        self.tallies.values().map(of).sum()
    }

    pub(crate) fn pairs(&self) -> usize {
        self.sum(|tally| tally.pairs)
    }

    pub(crate) fn named(&self) -> usize {
        self.sum(|tally| tally.named)
    }

    pub(crate) fn first(&self) -> usize {
        self.sum(|tally| tally.first)
    }

    pub(crate) fn named_percent(&self) -> f64 {
        percent(self.named(), self.pairs())
    }

    pub(crate) fn first_percent(&self) -> f64 {
        percent(self.first(), self.pairs())
    }
}

fn miss(case: &Case, found: &Explained) -> Miss {
    Miss {
        row: case.row.clone(),
        group: case.group.clone(),
        fault: case.fault.clone(),
        expected: case.expect.clone(),
        verdict: found.verdict,
        got: found.codes.clone(),
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap());
    if whole == 0 { 0.0 } else { number(part) / number(whole) * 100.0 }
}
