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

/// How long the servers are not asked again for the same name.
const AGAIN: Duration = Duration::from_secs(1);

/// How many names are asked for meanwhile; others are answered from memory alone.
const MOST: usize = 1_000;

/// The stream of one shard, and what is known of it.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) stream: Stream,
    pub(super) index: Index,
}

/// What all parts share.
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
    /// Whoever notes that a name is in use does so alone.
    pub(super) naming: tokio::sync::Mutex<()>,
    /// One permit a letter that is being put.
    pub(super) puts: Semaphore,
    pub(super) due: Due,
    pub(super) closing: CancellationToken,
    pub(super) tasks: TaskTracker,
    /// The servers' version.
    pub(super) server: String,
}

impl Store {
    /// The shard in which a tunnel's mailbox is.
    pub(super) fn shard(&self, tunnel: &str) -> &Shard {
        &self.shards[usize::from(self.names.shard(tunnel))]
    }

    /// Whether the store is open still.
    pub(super) fn check_open(&self) -> Result<(), MailboxError> {
        if self.closing.is_cancelled() { Err(MailboxError::Closed) } else { Ok(()) }
    }

    /// Whether the cluster answers for its streams.
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

    /// Ends what is under way. What was acknowledged is with the servers already.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        // Bounded: a cluster that is down must not hold up the end.
        let _late = tokio::time::timeout(Duration::from_secs(5), self.tasks.wait()).await;
        let _late = tokio::time::timeout(Duration::from_secs(2), self.client.drain()).await;
    }
}

/// Names that were asked for just now: a tunnel that another relay opened this moment is found, and a flood of made-up
/// names costs the servers little.
#[derive(Debug, Default)]
pub(super) struct Lookups(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    names: HashSet<String>,
    since: Option<Instant>,
}

impl Lookups {
    /// Whether the servers may be asked for a name.
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
