//! Deleting what nobody wants any more, a little later and many at once.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::StreamExt as _;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{
    failure::{Trouble, keep_trying},
    index::Litter,
    store::Store,
    tunnels,
};
use crate::MailboxError;

/// What is due is gathered for this long: one request deletes all that a mailbox has to give.
const GATHER: Duration = Duration::from_millis(500);

/// How many mailboxes are cleared at once.
const AT_ONCE: usize = 8;

/// How long one deletion is tried.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be done soon.
#[derive(Debug, Default)]
pub(super) struct Due {
    list: Mutex<List>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct List {
    letters: HashMap<String, Litter>,
    /// Mailboxes of several devices, one of which moved at another relay.
    looks: HashSet<String>,
}

impl Store {
    /// A record of a tunnel came from a bucket: forgets what nobody wants.
    pub(super) fn learned(&self, tunnel: &str) {
        let floor = self.registry.floor(tunnel);
        let in_parts = self.trim(tunnel, floor);
        if !in_parts.is_empty() {
            self.delete_later(tunnel, 0, in_parts);
        }
        // Two relays that acknowledge at once each know of the other's device only afterwards.
        if self.registry.is_shared(tunnel) {
            self.due.list().looks.insert(tunnel.to_owned());
            self.due.bell.notify_one();
        }
    }

    /// Letters up to here are wanted by nobody: forgets them, and deletes them soon.
    pub(super) fn give_up(&self, tunnel: &str, through: u64) {
        let in_parts = self.trim(tunnel, through);
        if through > 0 {
            self.delete_later(tunnel, through, in_parts);
        }
    }

    fn trim(&self, tunnel: &str, through: u64) -> Vec<Arc<str>> {
        let index = &self.shard(tunnel).index;
        let in_parts = index.trim(tunnel, through);
        if through == u64::MAX {
            index.ring(tunnel); // it is shut
        }
        in_parts
    }

    /// Deletes the letters of a mailbox up to a position, and the parts of those that were in parts.
    pub(super) fn delete_later(&self, tunnel: &str, through: u64, in_parts: Vec<Arc<str>>) {
        let mut list = self.due.list();
        let due = list.letters.entry(tunnel.to_owned()).or_default();
        due.0 = through.max(due.0);
        due.1.extend(in_parts);
        drop(list);
        self.due.bell.notify_one();
    }

    /// Deletes the parts of a letter.
    pub(super) async fn delete_parts(&self, tunnel: &str, letter: &str) -> Result<(), MailboxError> {
        self.purge(tunnel, &self.names.parts(tunnel, letter), None).await
    }

    async fn purge(&self, tunnel: &str, subjects: &str, through: Option<u64>) -> Result<(), MailboxError> {
        let stream = &self.shard(tunnel).stream;
        keep_trying(PATIENCE, || async {
            let purged = match through {
                Some(through) => stream.purge().filter(subjects).sequence(through.saturating_add(1)).await,
                None => stream.purge().filter(subjects).await,
            };
            purged.map(drop).map_err(Trouble::passing)
        })
        .await
    }

    async fn delete(&self, tunnel: &str, (through, in_parts): Litter) -> Result<(), MailboxError> {
        if through > 0 {
            let through = Some(through).filter(|&through| through < u64::MAX);
            self.purge(tunnel, &self.names.mailbox(tunnel), through).await?;
        }
        // Only now: a letter without its parts is never there.
        for letter in in_parts {
            self.delete_parts(tunnel, &letter).await?;
        }
        Ok(())
    }

    /// Looks anew at what all devices of a mailbox have.
    async fn look(&self, tunnel: &str) -> Result<(), MailboxError> {
        let record = tunnels::read(self, tunnel).await?;
        let floor = self.registry.slowest(tunnel, &record.record.devices, None);
        if floor > self.registry.floor(tunnel) {
            self.give_up(tunnel, floor);
        }
        Ok(())
    }
}

impl Due {
    fn list(&self) -> std::sync::MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Deletes what is due, until the store closes; then once more.
pub(super) async fn clear_until(store: &Store, closing: CancellationToken) {
    while closing.run_until_cancelled(store.due.bell.notified()).await.is_some() {
        closing.run_until_cancelled(tokio::time::sleep(GATHER)).await;
        clear(store).await;
    }
    clear(store).await;
}

async fn clear(store: &Store) {
    let looks = std::mem::take(&mut store.due.list().looks);
    let looked = futures_util::stream::iter(looks);
    looked.for_each_concurrent(AT_ONCE, |tunnel| async move { drop(store.look(&tunnel).await) }).await;
    let letters = std::mem::take(&mut store.due.list().letters);
    let deleted = futures_util::stream::iter(letters);
    deleted
        .for_each_concurrent(AT_ONCE, |(tunnel, litter)| async move {
            if let Err(error) = store.delete(&tunnel, litter).await {
                // They go with the mailbox's next acknowledgement, or when a relay starts.
                tracing::warn!(tunnel, %error, "letters that nobody wants could not be deleted");
            }
        })
        .await;
}
