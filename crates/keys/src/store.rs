//! The keys in memory, the queue of wanted keys, and the task that fetches them.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hookmitt_event::Timestamp;
use hookmitt_verify::{PublicKey, Published, PublishedKeys, allowed, parse_public_key};
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::{
    KeyProblem, Network, disk,
    fetch::{Answer, fetch},
    memory::{Fetched, KeyCache},
};

/// How many keys are fetched at the same time, so that a slow host does not delay the others.
const AT_ONCE: usize = 4;

/// The longest URL, in bytes. Providers' URLs are shorter; longer ones would only fill the memory.
const LONGEST_URL: usize = 2_048;

/// How long a key is kept: by default and at most, and at least.
const USUAL: Duration = Duration::from_secs(24 * 60 * 60);
const SHORTEST: Duration = Duration::from_secs(5 * 60);

/// Hosts that give keys only to clients with API credentials.
const BEHIND_CREDENTIALS: &[&str] = &["*.plaid.com"];

/// A function that returns the present time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The published keys that are known. Clones share them.
#[derive(Clone)]
pub struct KeyStore(Arc<Store>);

/// What the clones share. When it is dropped, the fetching task learns that no clone is left.
struct Store {
    shared: Arc<Shared>,
    _open: watch::Sender<()>,
}

struct Shared {
    known: Mutex<KeyCache>,
    /// Notified when there is something to fetch.
    bell: Notify,
    hosts: Vec<String>,
    clock: Clock,
    changes: watch::Sender<u64>,
    /// How many keys have come.
    arrivals: watch::Sender<u64>,
}

impl fmt::Debug for KeyStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "KeyStore({:?})", self.0.shared.hosts)
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, KeyCache> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refusal(&self, url: &str) -> Option<KeyProblem> {
        refusal(url, &self.hosts)
    }
}

/// Returns the reason why a URL is never fetched, if there is one.
fn refusal(url: &str, hosts: &[String]) -> Option<KeyProblem> {
    if url.len() > LONGEST_URL {
        return Some(KeyProblem::Untrusted(hookmitt_verify::UntrustedUrl::NoUrl));
    }
    if allowed(url, BEHIND_CREDENTIALS).is_ok() {
        return Some(KeyProblem::Credentials);
    }
    allowed(url, hosts).err().map(KeyProblem::Untrusted)
}

/// Fetches the key at `url` once, without storing it. For commands, which may wait.
pub async fn ask(network: &Network, hosts: &[String], url: &str) -> Published {
    match asked(network, hosts, url).await {
        Ok((key, _)) => Published::Key(key),
        Err(problem) => Published::Unavailable(problem.to_string()),
    }
}

async fn asked(network: &Network, hosts: &[String], url: &str) -> Result<(PublicKey, Answer), KeyProblem> {
    if let Some(refusal) = refusal(url, hosts) {
        return Err(refusal);
    }
    let parsed = Url::parse(url).map_err(|_| hookmitt_verify::UntrustedUrl::NoUrl)?;
    let answer = fetch(network, &parsed).await?;
    Ok((parse_public_key(&answer.body)?, answer))
}

impl KeyStore {
    /// Opens the store with the keys that were stored in `directory`. Keys are fetched only from `hosts` (see
    /// [`allowed`]), and not before the returned [`Fetching`] runs.
    pub fn open(directory: &Path, hosts: Vec<String>, network: Network, clock: Clock) -> (Self, Fetching) {
        let known = Mutex::new(disk::read(directory));
        let (bell, changes, arrivals) = (Notify::new(), watch::Sender::new(0), watch::Sender::new(0));
        let shared = Arc::new(Shared { known, bell, hosts, clock, changes, arrivals });
        let (open, stores) = watch::channel(());
        let fetcher = Arc::new(Fetcher { shared: shared.clone(), network, directory: directory.to_owned() });
        (Self(Arc::new(Store { shared, _open: open })), Fetching { fetcher, stores })
    }

    /// Queues the key at `url` to be fetched, unless it is known or has failed lately. Returns at once.
    /// [`changes`](Self::changes) tells when the fetch has ended.
    pub fn want(&self, url: &str, kid: Option<&str>) {
        let shared = &self.0.shared;
        if self.find(url, kid) == Published::Awaited && shared.known().queue(url) {
            shared.bell.notify_one();
        }
    }

    /// Returns a counter of fetches that ended, with a key or without. A key is on the disk by then.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.shared.changes.subscribe()
    }

    /// Returns a counter of keys that have come. While it stays the same, [`find`](PublishedKeys::find) finds no key that it
    /// didn't find before.
    pub fn arrivals(&self) -> watch::Receiver<u64> {
        self.0.shared.arrivals.subscribe()
    }
}

impl PublishedKeys for KeyStore {
    fn find(&self, url: &str, kid: Option<&str>) -> Published {
        let shared = &self.0.shared;
        match shared.refusal(url) {
            Some(problem) => Published::Unavailable(problem.to_string()),
            None => shared.known().find(url, kid, (shared.clock)()),
        }
    }
}

/// The fetching half of a [`KeyStore`]. It must be run in a task.
pub struct Fetching {
    fetcher: Arc<Fetcher>,
    stores: watch::Receiver<()>,
}

struct Fetcher {
    shared: Arc<Shared>,
    network: Network,
    directory: PathBuf,
}

impl fmt::Debug for Fetching {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Fetching")
    }
}

impl Fetching {
    /// Fetches the wanted keys, few at a time, until `stop` is cancelled or every [`KeyStore`] is dropped.
    pub async fn run(self, stop: CancellationToken) {
        let Self { fetcher, mut stores } = self;
        let mut under_way = JoinSet::new();
        loop {
            while under_way.len() < AT_ONCE
                && let Some(url) = fetcher.next()
            {
                let fetcher = Arc::clone(&fetcher);
                under_way.spawn(async move { fetcher.fetch(&url).await });
            }
            tokio::select! {
                () = stop.cancelled() => return,
                Err(_) = stores.changed() => return,
                Some(_ended) = under_way.join_next() => {}
                () = fetcher.shared.bell.notified() => {}
            }
        }
    }
}

impl Fetcher {
    fn next(&self) -> Option<String> {
        self.shared.known().next()
    }

    async fn fetch(&self, url: &str) {
        let result = self.fetched(url).await;
        let now = (self.shared.clock)();
        if let Err(problem) = &result {
            tracing::info!(url, %problem, "a published key could not be fetched");
        }
        let keep = result.is_ok();
        let content = {
            let mut known = self.shared.known();
            known.note(url, result, now);
            if keep {
                self.shared.arrivals.send_modify(|count| *count += 1); // before anybody finds the key
            }
            keep.then(|| disk::content(&known, now))
        };
        if let Some(content) = content {
            let directory = self.directory.clone();
            let written = tokio::task::spawn_blocking(move || disk::write(&directory, &content)).await;
            if let Ok(Err(error)) = written {
                tracing::warn!(%error, "the published keys could not be stored");
            }
        }
        self.shared.changes.send_modify(|count| *count += 1);
    }

    async fn fetched(&self, url: &str) -> Result<Fetched, KeyProblem> {
        // `asked` checks the host once more, right before connecting, so that a wrong URL in the queue does no harm.
        let (key, Answer { body, max_age }) = asked(&self.network, &self.shared.hosts, url).await?;
        let text = String::from_utf8_lossy(&body).into_owned();
        let fetched_at = (self.shared.clock)();
        let lasts = max_age.map_or(USUAL, |age| age.clamp(SHORTEST, USUAL));
        Ok(Fetched { key, text, fetched_at, expires_at: fetched_at.after(lasts) })
    }
}
