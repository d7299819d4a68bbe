//! What is known of each URL: the key, that it is being fetched, or why it could not be.

use std::{collections::HashMap, time::Duration};

use hookmitt_event::Timestamp;
use hookmitt_verify::{PublicKey, Published};

use crate::KeyProblem;

/// URLs that are remembered. PayPal names certificates by path, and anybody can make up paths.
const MOST: usize = 64;

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
struct Failed {
    problem: KeyProblem,
    /// In a row.
    times: u32,
    again_at: Timestamp,
}

#[derive(Debug, Default)]
struct Entry {
    fetched: Option<Fetched>,
    failed: Option<Failed>,
    queued: bool,
}

/// All that is known.
#[derive(Debug, Default)]
pub(crate) struct Known(HashMap<String, Entry>);

impl Known {
    /// What is known of a URL that may be asked.
    pub(crate) fn find(&self, url: &str, kid: Option<&str>, now: Timestamp) -> Published {
        let Some(entry) = self.0.get(url) else {
            let room = self.0.len() < MOST || self.idle(now).is_some();
            return if room { Published::Awaited } else { unavailable(&KeyProblem::TooMany) };
        };
        let paused = entry.failed.as_ref().filter(|failed| now < failed.again_at);
        match (entry.fetched.as_ref().filter(|fetched| now < fetched.expires_at), paused) {
            (Some(fetched), _) if fetched.key.knows(kid) => Published::Key(fetched.key.clone()),
            (Some(fetched), paused) => {
                let lately = now < fetched.fetched_at.after(AGAIN_FOR_KEY_ID);
                if lately || paused.is_some() {
                    Published::Key(fetched.key.clone())
                } else {
                    Published::Awaited
                }
            }
            (None, Some(failed)) => unavailable(&failed.problem),
            (None, None) => Published::Awaited,
        }
    }

    /// Notes that a URL is queued; `false` where it already is, or where there is no room to remember it.
    pub(crate) fn queue(&mut self, url: &str, now: Timestamp) -> bool {
        if !self.0.contains_key(url) && self.0.len() >= MOST && !self.forget_one(now) {
            return false;
        }
        let entry = self.0.entry(url.to_owned()).or_default();
        !std::mem::replace(&mut entry.queued, true)
    }

    /// The queue had no room for it.
    pub(crate) fn unqueue(&mut self, url: &str) {
        if let Some(entry) = self.0.get_mut(url) {
            entry.queued = false;
        }
    }

    /// Notes what a fetch came to.
    pub(crate) fn note(&mut self, url: &str, result: Result<Fetched, KeyProblem>, now: Timestamp) {
        let entry = self.0.entry(url.to_owned()).or_default();
        entry.queued = false;
        match result {
            Ok(fetched) => {
                entry.fetched = Some(fetched);
                entry.failed = None;
            }
            Err(problem) => {
                let times = entry.failed.as_ref().map_or(0, |failed| failed.times).saturating_add(1);
                let pause = PAUSE.saturating_mul(1 << (times - 1).min(10)).min(LONGEST_PAUSE);
                entry.failed = Some(Failed { problem, times, again_at: now.after(pause) });
            }
        }
    }

    /// Puts a key there that was kept on disk.
    pub(crate) fn restore(&mut self, url: String, fetched: Fetched) {
        if self.0.len() < MOST {
            self.0.insert(url, Entry { fetched: Some(fetched), ..Entry::default() });
        }
    }

    /// The keys that are worth keeping.
    pub(crate) fn fetched(&self, now: Timestamp) -> impl Iterator<Item = (&str, &Fetched)> {
        self.0.iter().filter_map(move |(url, entry)| {
            let fetched = entry.fetched.as_ref().filter(|fetched| now < fetched.expires_at)?;
            Some((url.as_str(), fetched))
        })
    }

    /// A URL that holds no usable key and isn't being fetched, and whose pause is over.
    fn idle(&self, now: Timestamp) -> Option<&str> {
        let idle = |entry: &Entry| {
            !entry.queued
                && entry.fetched.as_ref().is_none_or(|fetched| fetched.expires_at <= now)
                && entry.failed.as_ref().is_none_or(|failed| failed.again_at <= now)
        };
        self.0.iter().find(|(_, entry)| idle(entry)).map(|(url, _)| url.as_str())
    }

    /// Makes room for another.
    fn forget_one(&mut self, now: Timestamp) -> bool {
        let Some(url) = self.idle(now).map(str::to_owned) else { return false };
        self.0.remove(&url).is_some()
    }
}

fn unavailable(problem: &KeyProblem) -> Published {
    Published::Unavailable(problem.to_string())
}
