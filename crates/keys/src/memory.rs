//! What is known of each URL: its key, that it waits to be fetched, or why its key could not be fetched.
//!
//! Anybody can make up URLs at a provider's host (PayPal names certificates by path, Amazon hosts by region). So none
//! of these lists refuses a new entry: each list is bounded, and drops its least valuable entry to make room.

use std::{collections::HashMap, time::Duration};

use hookmitt_event::Timestamp;
use hookmitt_verify::{PublicKey, Published};

use crate::{KeyProblem, queue::Queue};

/// The maximum number of keys in memory. The least recently looked up key is dropped to make room.
const MOST_KEYS: usize = 64;

/// The maximum number of URLs whose failure is remembered, so that they are not fetched again for a while. The failure
/// whose pause ends first is dropped to make room.
const MOST_FAILURES: usize = 1_024;

/// A key set is fetched again if it lacks a key id, but not sooner than this after its last fetch.
const AGAIN_FOR_KEY_ID: Duration = Duration::from_secs(60);

/// How long a failed URL is not fetched again: after the first failure, and at most. The pause doubles with each
/// failure.
const PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// A key that was fetched.
#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    pub(crate) key: PublicKey,
    /// The key's text as it was published.
    pub(crate) text: String,
    pub(crate) fetched_at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

#[derive(Debug)]
struct Key {
    fetched: Fetched,
    /// The number of the latest lookup of this key.
    used: u64,
}

#[derive(Debug)]
struct Failed {
    problem: KeyProblem,
    /// How often the fetch failed in a row.
    times: u32,
    again_at: Timestamp,
}

/// Everything that is known of the keys' URLs.
#[derive(Debug, Default)]
pub(crate) struct KeyCache {
    keys: HashMap<String, Key>,
    failures: HashMap<String, Failed>,
    queue: Queue,
    /// The number of lookups so far.
    looked_up: u64,
}

impl KeyCache {
    /// Returns what is known of a URL. The caller must have checked that the URL may be called.
    pub(crate) fn find(&mut self, url: &str, kid: Option<&str>, now: Timestamp) -> Published {
        let paused = self.failures.get(url).filter(|failed| now < failed.again_at);
        self.looked_up += 1;
        let usable = self.keys.get_mut(url).filter(|key| now < key.fetched.expires_at);
        let Some(key) = usable else {
            return paused
                .map_or(Published::Awaited, |failed| Published::Unavailable(failed.problem.to_string()));
        };
        key.used = self.looked_up;
        let fetched = &key.fetched;
        let lately = now < fetched.fetched_at.after(AGAIN_FOR_KEY_ID);
        if fetched.key.knows(kid) || lately || paused.is_some() {
            Published::Key(fetched.key.clone())
        } else {
            Published::Awaited
        }
    }

    /// Adds a URL to the queue. Returns `false` if it is in the queue or being fetched already.
    pub(crate) fn queue(&mut self, url: &str) -> bool {
        // A URL that has published a key before is genuine, so it goes first.
        let is_genuine = self.keys.contains_key(url);
        self.queue.add(url, is_genuine)
    }

    /// Takes the next URL to fetch. The caller must [`note`](Self::note) the result.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.queue.next()
    }

    /// Stores the result of a fetch.
    pub(crate) fn note(&mut self, url: &str, result: Result<Fetched, KeyProblem>, now: Timestamp) {
        self.queue.done(url);
        match result {
            Ok(fetched) => {
                self.failures.remove(url);
                self.keep(url.to_owned(), fetched);
            }
            Err(problem) => {
                let times = self.failures.get(url).map_or(0, |failed| failed.times).saturating_add(1);
                let pause = PAUSE.saturating_mul(1 << (times - 1).min(10)).min(LONGEST_PAUSE);
                make_room(&mut self.failures, MOST_FAILURES, url, |failed| failed.again_at);
                let failed = Failed { problem, times, again_at: now.after(pause) };
                self.failures.insert(url.to_owned(), failed);
            }
        }
    }

    /// Adds a key that was fetched, or was stored on disk.
    pub(crate) fn keep(&mut self, url: String, fetched: Fetched) {
        make_room(&mut self.keys, MOST_KEYS, &url, |key| key.used);
        self.looked_up += 1;
        self.keys.insert(url, Key { fetched, used: self.looked_up });
    }

    /// Returns the keys that are not expired, to be stored on disk.
    pub(crate) fn fetched(&self, now: Timestamp) -> impl Iterator<Item = (&str, &Fetched)> {
        let usable = self.keys.iter().filter(move |(_, key)| now < key.fetched.expires_at);
        usable.map(|(url, key)| (url.as_str(), &key.fetched))
    }
}

/// Makes room for one more entry in a full list by dropping the least valuable one.
fn make_room<T, Worth: Ord>(
    list: &mut HashMap<String, T>,
    most: usize,
    url: &str,
    worth: impl Fn(&T) -> Worth,
) {
    if list.len() < most || list.contains_key(url) {
        return;
    }
    let least = list.iter().min_by_key(|(_, entry)| worth(entry)).map(|(url, _)| url.clone());
    least.and_then(|url| list.remove(&url));
}
