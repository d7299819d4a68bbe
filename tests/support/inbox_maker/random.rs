//! Everything random in an event comes from here, so that the same seed makes the same inbox.

use std::ops::Range;

use hookmitt_event::Timestamp;
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::SmallRng};

use super::words::Words;

const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many people, projects, and objects of each kind the events are about.
const PEOPLE: u64 = 5_000;
const PROJECTS: u64 = 400;
const OBJECTS: u64 = 20_000;

/// The source of chance of one inbox.
pub(super) struct Random {
    numbers: SmallRng,
    words: Words,
    /// When the event at hand happened: the times in its body are shortly before that.
    pub(super) now: Timestamp,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let now = Timestamp::from_seconds(0);
        Self { numbers: SmallRng::seed_from_u64(seed), words: Words::new(), now }
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.numbers.random_range(0..end)
    }

    pub(super) fn within(&mut self, range: Range<i64>) -> i64 {
        self.numbers.random_range(range)
    }

    /// Returns a number from 0 up to 1.
    pub(super) fn share(&mut self) -> f64 {
        self.numbers.random()
    }

    /// Whether a thing happens that happens this many times in a thousand.
    pub(super) fn per_mille(&mut self, share: usize) -> bool {
        self.below(1_000) < share
    }

    /// Returns a number of the standard normal distribution.
    pub(super) fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.share(), self.share());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    pub(super) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.numbers.fill_bytes(&mut bytes);
        bytes
    }

    /// Returns as many random bytes in base64, as an attachment is written.
    pub(super) fn base64(&mut self, bytes: usize) -> String {
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        let mut raw = vec![0; bytes];
        self.numbers.fill_bytes(&mut raw);
        STANDARD.encode(raw)
    }

    pub(super) fn hex(&mut self, letters: usize) -> String {
        (0..letters).map(|_| char::from(b"0123456789abcdef"[self.below(16)])).collect()
    }

    pub(super) fn token(&mut self, letters: usize) -> String {
        (0..letters).map(|_| char::from(BASE62[self.below(62)])).collect()
    }

    /// Returns a digit for a digit and a letter for a letter; anything else stays as it is.
    pub(super) fn like(&mut self, letter: char) -> char {
        let of = |set: &[u8], random: &mut Self| char::from(set[random.below(set.len())]);
        match letter {
            '0'..='9' => of(&BASE62[..10], self),
            'A'..='Z' => of(&BASE62[10..36], self),
            'a'..='z' => of(&BASE62[36..], self),
            other => other,
        }
    }

    pub(super) fn text(&mut self, bytes: usize) -> String {
        self.words.text(bytes, &mut self.numbers)
    }

    /// Returns the name of one of the people, who come again and again.
    pub(super) fn person(&mut self) -> String {
        let number = self.numbers.random_range(0..PEOPLE);
        self.named(number, ' ')
    }

    /// Returns the e-mail address of one of the people.
    pub(super) fn email(&mut self) -> String {
        let number = self.numbers.random_range(0..PEOPLE);
        format!("{}{number}@example.com", self.named(number, '.').to_ascii_lowercase())
    }

    /// Returns the name of one of the projects.
    pub(super) fn project(&mut self) -> String {
        let number = PEOPLE + self.numbers.random_range(0..PROJECTS);
        self.named(number, '-').to_lowercase()
    }

    /// Returns the id of one of the objects.
    pub(super) fn object(&mut self) -> String {
        let mut own = SmallRng::seed_from_u64(self.numbers.random_range(0..OBJECTS));
        (0..14).map(|_| char::from(BASE62[own.random_range(0..62)])).collect()
    }

    fn named(&self, number: u64, between: char) -> String {
        let mut own = SmallRng::seed_from_u64(number);
        let mut name = || capital(self.words.one(&mut own));
        format!("{}{between}{}", name(), name())
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
