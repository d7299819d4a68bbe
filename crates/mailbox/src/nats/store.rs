//! What all parts of the store share.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_nats::jetstream::{self, stream::Stream};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    clock::SharedClock, counts::Counts, due::Due, index::Index, names::Names, registry::Registry,
    table::Table,
};
use crate::{MailboxError, Usage};

/// For how long the servers are not asked again about the same name.
const AGAIN: Duration = Duration::from_secs(1);

/// How many different names they are asked about in that time; other names are answered from memory alone.
const MOST: usize = 1_000;

/// The stream of one shard, and the index of what is in it.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) stream: Stream,
    pub(super) index: Index,
}

/// The shared state of an open store.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) client: async_nats::Client,
    pub(super) js: jetstream::Context,
    pub(super) names: Names,
    pub(super) shards: Vec<Shard>,
    pub(super) tunnels: Table,
    pub(super) cursors: Table,
    pub(super) clock: SharedClock,
    pub(super) registry: Registry,
    pub(super) counts: Counts,
    pub(super) lookups: Lookups,
    /// Held while a tunnel is marked as used, so that only one task writes the mark.
    pub(super) naming: tokio::sync::Mutex<()>,
    /// Has one permit for each letter that may be in the process of being put.
    pub(super) puts: Semaphore,
    pub(super) due: Due,
    pub(super) closing: CancellationToken,
    pub(super) tasks: TaskTracker,
    /// The server's version.
    pub(super) server: String,
}

impl Store {
    /// Returns the shard that has a tunnel's mailbox.
    pub(super) fn shard(&self, tunnel: &str) -> &Shard {
        &self.shards[usize::from(self.names.shard(tunnel))]
    }

    /// Fails if the store is closed.
    pub(super) fn check_open(&self) -> Result<(), MailboxError> {
        if self.closing.is_cancelled() { Err(MailboxError::Closed) } else { Ok(()) }
    }

    /// Fails unless the cluster answers for each of the streams.
    pub(super) async fn check_cluster(&self) -> Result<(), MailboxError> {
        for shard in &self.shards {
            let asked = shard.stream.get_info().await;
            asked.map_err(|error| MailboxError::Failed(error.to_string()))?;
        }
        Ok(())
    }

    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage { tunnels: self.registry.open_tunnels().len() as u64, ..Usage::default() };
        for shard in &self.shards {
            let total = shard.index.total();
            usage.letters += total.letters;
            usage.bytes += total.bytes;
            usage.oldest = [usage.oldest, total.oldest].into_iter().flatten().min();
        }
        usage
    }

    /// Finishes what is under way. Acknowledged letters are already on the servers.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        // Bounded, because a cluster that is down must not delay the relay's end.
        let _late = tokio::time::timeout(Duration::from_secs(5), self.tasks.wait()).await;
        let _late = tokio::time::timeout(Duration::from_secs(2), self.client.drain()).await;
    }
}

/// The names about which the servers were asked just now. A tunnel that another relay opened this moment is found, but
/// a flood of made-up names costs the servers little.
#[derive(Debug, Default)]
pub(super) struct Lookups(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    names: HashSet<String>,
    since: Option<Instant>,
}

impl Lookups {
    /// Returns whether the servers may be asked about a name.
    pub(super) fn allow(&self, name: &str, now: Instant) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.since.is_none_or(|since| now.duration_since(since) >= AGAIN) {
            asked.names.clear();
            asked.since = Some(now);
        }
        asked.names.len() < MOST && asked.names.insert(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_names_is_not_passed_on() {
        let (lookups, now) = (Lookups::default(), Instant::now());
        assert!(lookups.allow("acme", now));
        assert!(!lookups.allow("acme", now));
        let passed = (0..3 * MOST).filter(|number| lookups.allow(&number.to_string(), now)).count();
        assert_eq!(passed, MOST - 1);
        assert!(lookups.allow("acme", now + AGAIN));
    }
}
