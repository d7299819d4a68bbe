//! Requests that were refused: logged and announced at once, and written together, once a second at most.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hookmitt_catch::{Refusal, RefusedHead};
use hookmitt_event::{HeaderLines, Plain, Slug};
use hookmitt_inbox::Refused;
use tokio::sync::Notify;

use crate::{Change, base::Base};

/// The log target of refusals. A command that shows them itself leaves them out of its log by this name.
const REFUSED: &str = "hookmitt::refused";

/// How long refusals are gathered before they are written. So long, too, until the next try on a full disk.
const GATHER: Duration = Duration::from_secs(1);

/// How many refusals are written at a time. Beyond that only one of each code is, and the rest are counted.
const GROUP: usize = 50;

/// The requests that were refused and are not written yet, oldest first.
#[derive(Debug)]
pub(crate) struct Refusals {
    base: Arc<Base>,
    unwritten: Arc<Mutex<Vec<Refused>>>,
    came: Arc<Notify>,
    /// How many there were, by code.
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

impl Refusals {
    pub(crate) fn new(base: Arc<Base>) -> Self {
        Self { base, unwritten: Arc::default(), came: Arc::default(), counts: Mutex::default() }
    }

    pub(crate) fn note(&self, refusal: Refusal) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(refusal.code).or_default() += 1;
        let refused = known_of(refusal);
        tracing::warn!(
            target: REFUSED,
            remote = %refused.remote,
            target = %Plain(refused.target.as_deref().unwrap_or("-")),
            status = refused.status,
            code = refused.code,
            "refused: {}", Plain(&refused.message)
        );
        self.base.announce(Change::Refused(Box::new(refused.clone())));
        add(&mut self.unwritten.lock().unwrap_or_else(PoisonError::into_inner), refused);
        self.came.notify_one();
    }

    /// Returns how many there were since the start, by code.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns those that are not written yet, newest first.
    pub(crate) fn unwritten(&self) -> Vec<Refused> {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().cloned().collect()
    }

    /// Writes refusals in the background until the engine stops, and then the last ones.
    pub(crate) fn keep_writing(&self) {
        let (base, unwritten, came) =
            (Arc::clone(&self.base), Arc::clone(&self.unwritten), Arc::clone(&self.came));
        self.base.tasks.keep_going("writing refusals", move || {
            let (base, unwritten, came) = (Arc::clone(&base), Arc::clone(&unwritten), Arc::clone(&came));
            async move {
                let stop = base.tasks.stop.clone();
                while stop.run_until_cancelled(came.notified()).await.is_some() {
                    stop.run_until_cancelled(tokio::time::sleep(GATHER)).await;
                    if !write(&base, &unwritten).await {
                        came.notify_one(); // again, after a while
                    }
                }
                write(&base, &unwritten).await;
            }
        });
    }
}

/// Writes what was gathered. What could not be written, as on a full disk, is kept for the next try.
async fn write(base: &Base, unwritten: &Mutex<Vec<Refused>>) -> bool {
    let lock = || unwritten.lock().unwrap_or_else(PoisonError::into_inner);
    let group = lock().clone();
    if group.is_empty() {
        return true;
    }
    if let Err(error) = base.inbox.note_refusals(group.clone()).await {
        tracing::debug!(%error, "refusals could not be written yet");
        return false;
    }
    // What came meanwhile stands behind them, or was counted at one of them.
    let mut left = lock();
    for (kept, written) in left.iter_mut().zip(&group) {
        kept.more -= written.more;
    }
    let counted: Vec<_> = left.drain(..group.len()).filter(|kept| kept.more > 0).collect();
    for kept in counted {
        left.push(Refused { more: kept.more - 1, ..kept });
    }
    true
}

/// Adds a refusal; if there are many already, counts it at the last one with the same code.
fn add(unwritten: &mut Vec<Refused>, refused: Refused) {
    let is_full = unwritten.len() >= GROUP;
    match unwritten.iter_mut().rfind(|other| is_full && other.code == refused.code) {
        Some(like_it) => like_it.more += 1 + refused.more,
        None => unwritten.push(refused),
    }
}

/// Gathers what is known of a refused request.
fn known_of(refusal: Refusal) -> Refused {
    let Refusal { at, remote, head, size, status, code, message } = refusal;
    let (method, target, headers) = match head {
        Some(RefusedHead { method, target, headers }) => (Some(method), Some(target), headers),
        None => (None, None, HeaderLines::default()),
    };
    let host = headers.get("host").map(|host| String::from_utf8_lossy(host).into_owned());
    let segment = target.as_deref().and_then(|target| target.strip_prefix('/')?.split(['/', '?']).next());
    let source = segment.and_then(|segment| segment.parse::<Slug>().ok()).map(|slug| slug.to_string());
    let provider = hookmitt_verify::recognise_by_headers(&headers).map(|provider| provider.id.to_string());
    let (remote, code) = (remote.to_string(), code.to_owned());
    Refused { at, remote, method, target, host, status, code, message, source, provider, size, more: 0 }
}

#[cfg(test)]
mod tests {
    use hookmitt_event::Timestamp;

    use super::*;

    fn refused(code: &str) -> Refused {
        Refused {
            at: Timestamp::from_micros(0),
            remote: String::new(),
            method: None,
            target: None,
            host: None,
            status: 503,
            code: code.to_owned(),
            message: String::new(),
            source: None,
            provider: None,
            size: None,
            more: 0,
        }
    }

    #[test]
    fn a_flood_takes_a_bounded_place_and_every_request_of_it_is_counted() {
        let mut unwritten = Vec::new();
        for number in 0..100_000 {
            add(&mut unwritten, refused(if number % 100 == 99 { "rare" } else { "disk-full" }));
        }
        add(&mut unwritten, refused("other"));
        assert_eq!(unwritten.len(), GROUP + 2);
        let all: u64 = unwritten.iter().map(|refused| 1 + refused.more).sum();
        assert_eq!(all, 100_001);
        let codes = unwritten.iter().filter(|refused| refused.code == "rare").count();
        assert_eq!(codes, 1);
    }
}
