//! What is known of each URL: the key, that it is to be fetched, or why it could not be.
//!
//! Anybody can make up URLs at a provider's host (PayPal names certificates by path, Amazon hosts by region). So none of
//! these lists turns a newcomer away: each is bounded, and makes room by giving up what is worth least.

use std::{collections::HashMap, time::Duration};

use hookmitt_event::Timestamp;
use hookmitt_verify::{PublicKey, Published};

use crate::{KeyProblem, queue::Queue};

/// Keys that are remembered. The one that was looked up the longest ago makes room.
const MOST_KEYS: usize = 64;

/// URLs whose failure is remembered, so that they are left alone for a while. The one whose pause ends first makes room.
const MOST_FAILURES: usize = 1_024;

/// A key id that a set doesn't hold makes the set be fetched again, so often at most.
const AGAIN_FOR_KEY_ID: Duration = Duration::from_secs(60);

/// How long a failure keeps others away: at first, and at most.
const PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// A key that was fetched.
#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    pub(crate) key: PublicKey,
    /// As it was published.
    pub(crate) text: String,
    pub(crate) fetched_at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

#[derive(Debug)]
struct Key {
    fetched: Fetched,
    /// Which look-up was the last for it.
    used: u64,
}

#[derive(Debug)]
struct Failed {
    problem: KeyProblem,
    /// In a row.
    times: u32,
    again_at: Timestamp,
}

/// All that is known.
#[derive(Debug, Default)]
pub(crate) struct KeyCache {
    keys: HashMap<String, Key>,
    failures: HashMap<String, Failed>,
    queue: Queue,
    /// Look-ups so far.
    looked_up: u64,
}

impl KeyCache {
    /// What is known of a URL that may be asked.
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

    /// Notes that a URL is to be fetched; `false` where that is known already.
    pub(crate) fn queue(&mut self, url: &str) -> bool {
        // One that has published a key before is the provider's own, and goes first.
        let is_genuine = self.keys.contains_key(url);
        self.queue.add(url, is_genuine)
    }

    /// The URL that is to be fetched next. Whoever takes it notes what came of it.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.queue.next()
    }

    /// Notes what a fetch came to.
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

    /// Puts a key there that was kept on disk, or fetched.
    pub(crate) fn keep(&mut self, url: String, fetched: Fetched) {
        make_room(&mut self.keys, MOST_KEYS, &url, |key| key.used);
        self.looked_up += 1;
        self.keys.insert(url, Key { fetched, used: self.looked_up });
    }

    /// The keys that are worth keeping.
    pub(crate) fn fetched(&self, now: Timestamp) -> impl Iterator<Item = (&str, &Fetched)> {
        let usable = self.keys.iter().filter(move |(_, key)| now < key.fetched.expires_at);
        usable.map(|(url, key)| (url.as_str(), &key.fetched))
    }
}

/// Makes room for one more in a full list: what is worth least goes.
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
