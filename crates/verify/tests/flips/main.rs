//! If any bit that a signature covers is flipped, the request is never valid, for every provider.
//!
//! Every sample is signed as `send` does, and in every scheme that we can sign in. Then single bits of its body, its
//! signed header lines and its URL are flipped. [`loose`] lists what a scheme does not cover, and that list is tested
//! too.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

mod cases;
mod loose;

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use cases::{Case, cases};
use hookmitt_event::{HeaderLines, Request};
use proptest::prelude::*;

/// The request that Braintree sends before any event. Only its answer is signed.
const UNSIGNED: [&str; 1] = ["braintree braintree-challenge"];

/// A part of a request in which bits are flipped.
#[derive(Debug, Clone)]
enum Part {
    Body,
    Header(String),
    Url,
}

/// Returns the case with one bit flipped; `None` if such a request can't be sent or called.
fn flipped(case: &Case, part: &Part, bit: usize) -> Option<Case> {
    let flip = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    };
    let mut other = case.clone();
    match part {
        Part::Body => other.request.body = flip(&case.request.body).into(),
        Part::Url => {
            let url = String::from_utf8(flip(case.url.as_bytes())).ok()?;
            other.url = Some(url).filter(|url| url.bytes().all(|byte| byte.is_ascii_graphic()))?;
        }
        Part::Header(name) => {
            let line = |line: hookmitt_event::HeaderLine<'_>| {
                let value = if line.name == name { flip(line.value) } else { line.value.to_vec() };
                // White space around a value isn't part of it.
                let same = value.trim_ascii().len() == value.len();
                same.then(|| (line.name.to_owned(), value))
            };
            let pairs: Vec<_> = case.request.headers.iter().map(line).collect::<Option<_>>()?;
            other.request = Request { headers: HeaderLines::from_pairs(pairs).ok()?, ..case.request.clone() };
        }
    }
    Some(other)
}

fn bits(case: &Case, part: &Part) -> usize {
    8 * match part {
        Part::Body => case.request.body.len(),
        Part::Url => case.url.len(),
        Part::Header(name) => case.request.headers.get(name).map_or(0, <[u8]>::len),
    }
}

/// Returns up to `most` bits, spread over the part and over the positions within a byte.
fn spread(bits: usize, most: usize) -> impl Iterator<Item = usize> {
    let count = bits.min(most);
    (0..count).map(
        move |number| if bits <= most { number } else { (number * bits / count + number % 8).min(bits - 1) },
    )
}

/// The results of flipping many bits.
#[derive(Default)]
struct Outcome {
    /// Schemes with a request that was still valid after a flip in something that they don't cover.
    survived: BTreeSet<String>,
    /// Requests that were still valid after a flip in a covered part.
    wrong: BTreeSet<String>,
}

impl Outcome {
    fn try_all(&mut self, case: &Case) {
        for part in case.parts() {
            // All bits of short header lines, such as the signature; a sample of all others.
            let most = if matches!(&part, Part::Header(_)) { 640 } else { 160 };
            for bit in spread(bits(case, &part), most) {
                let other = flipped(case, &part, bit);
                let Some(other) = other.filter(Case::is_valid) else { continue };
                let id = case.id();
                if loose::covered(case) == loose::covered(&other) {
                    self.survived.insert(id);
                } else {
                    self.wrong.insert(format!("{id} ({}): bit {bit} of {part:?}", case.kind));
                }
            }
        }
    }
}

#[test]
fn a_flipped_bit_never_verifies() {
    let all = cases();
    let (outcome, next) = (Mutex::new(Outcome::default()), AtomicUsize::new(0));
    let work = || {
        while let Some(case) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut own = Outcome::default();
            own.try_all(case);
            let mut outcome = outcome.lock().unwrap();
            outcome.survived.extend(own.survived);
            outcome.wrong.extend(own.wrong);
        }
    };
    thread::scope(|threads| {
        (0..thread::available_parallelism().map_or(2, usize::from)).for_each(|_| drop(threads.spawn(work)))
    });
    let outcome = outcome.into_inner().unwrap();
    let wrong: Vec<_> = outcome.wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{} covered bits do not matter:\n{}", wrong.len(), wrong.join("\n"));
    let known: BTreeSet<_> = loose::SCHEMES.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(outcome.survived, known, "what is said to be left out is left out");
}

#[test]
fn every_scheme_is_signed_by_some_sample() {
    let signed: BTreeSet<_> = cases().iter().map(Case::id).collect();
    let all: BTreeSet<_> = hookmitt_verify::providers()
        .flat_map(|provider| provider.schemes.iter().map(move |scheme| (provider, scheme)))
        .filter(|(_, scheme)| scheme.algorithm != hookmitt_verify::Algorithm::None)
        .map(|(provider, scheme)| format!("{} {}", provider.id, scheme.id))
        .collect();
    let missing: Vec<_> = all.difference(&signed).map(String::as_str).collect();
    assert_eq!(missing, UNSIGNED);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn several_changes_at_once_never_verify(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        static CASES: std::sync::LazyLock<Vec<Case>> = std::sync::LazyLock::new(cases);
        let case = which.get(&CASES);
        let parts = case.parts();
        let mut other = case.clone();
        for (part, bit) in changes {
            let part = part.get(&parts);
            let bits = bits(&other, part);
            if let Some(changed) = (bits > 0).then(|| flipped(&other, part, bit.index(bits))).flatten() {
                other = changed;
            }
        }
        let same = loose::covered(case) == loose::covered(&other);
        prop_assert!(same || !other.is_valid(), "{}", case.id());
    }
}
