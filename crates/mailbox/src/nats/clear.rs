//! Deleting what nobody wants any more, a little later and many at once.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{erase::Gone, stash::Stash, store::Store, tunnels};
use crate::{MailboxError, short};

/// What is due is gathered for this long.
const GATHER: Duration = Duration::from_millis(100);

/// When deleting is tried again that failed.
const AGAIN: Duration = Duration::from_secs(5);

/// How many letters are deleted at once.
const AT_ONCE: usize = 64;

/// What is to be done soon.
#[derive(Debug, Default)]
pub(super) struct Due {
    list: Mutex<List>,
    bell: Notify,
}

#[derive(Debug)]
struct List {
    letters: Vec<(String, Gone)>,
    stash: Stash,
    /// Mailboxes of several devices, one of which moved at another relay.
    looks: HashSet<String>,
}

impl Default for List {
    fn default() -> Self {
        Self { letters: Vec::new(), stash: Stash::new(Instant::now()), looks: HashSet::new() }
    }
}

impl Store {
    /// A record of a tunnel came from a bucket: forgets what nobody wants.
    pub(super) fn learned(&self, tunnel: &str) {
        let floor = self.registry.floor(tunnel);
        self.due.stash(tunnel, || self.trim(tunnel, floor));
        // Two relays that acknowledge at once each know of the other's device only afterwards.
        if self.registry.is_shared(tunnel) {
            self.due.list().looks.insert(tunnel.to_owned());
            self.due.bell.notify_one();
        }
    }

    /// Letters up to here are wanted by nobody: forgets them, and deletes them soon.
    pub(super) fn give_up(&self, tunnel: &str, through: u64) {
        self.due.give_up(tunnel, || self.trim(tunnel, through));
    }

    fn trim(&self, tunnel: &str, through: u64) -> Vec<Gone> {
        let index = &self.shard(tunnel).index;
        let gone = index.trim(tunnel, through);
        if through == u64::MAX {
            index.ring(tunnel); // it is shut
        }
        gone
    }

    /// Deletes letters of a mailbox soon.
    pub(super) fn delete_later(&self, tunnel: &str, gone: impl IntoIterator<Item = Gone>) {
        self.due.give_up(tunnel, || gone);
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
    /// Forgets letters, but remembers them for a while, in case this relay's own acknowledgement has to delete them.
    fn stash(&self, tunnel: &str, forget: impl FnOnce() -> Vec<Gone>) {
        let mut list = self.list();
        let gone = forget();
        list.stash.add(tunnel, gone, Instant::now());
    }

    /// Forgets letters, and deletes them soon, with those that were stashed. Like `stash`, it is one step under the lock: at
    /// any moment a letter is known, stashed or due, so that none is missed and stays in the stream.
    fn give_up<G: IntoIterator<Item = Gone>>(&self, tunnel: &str, forget: impl FnOnce() -> G) {
        let mut list = self.list();
        let gone = forget();
        let stashed = list.stash.take(tunnel);
        let gone = stashed.into_iter().chain(gone).map(|gone| (tunnel.to_owned(), gone));
        list.letters.extend(gone);
        drop(list);
        self.bell.notify_one();
    }

    fn list(&self) -> std::sync::MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Deletes what is due, until the store closes; then once more.
pub(super) async fn clear_until(store: &Store, closing: CancellationToken) {
    while closing.run_until_cancelled(store.due.bell.notified()).await.is_some() {
        closing.run_until_cancelled(tokio::time::sleep(GATHER)).await;
        if !clear(store).await {
            closing.run_until_cancelled(tokio::time::sleep(AGAIN)).await;
            store.due.bell.notify_one();
        }
    }
    clear(store).await; // what fails now goes when a relay starts
}

/// Deletes what is due. Answers whether all of it is gone; the rest is due still.
async fn clear(store: &Store) -> bool {
    let looks = std::mem::take(&mut store.due.list().looks);
    let looked = futures_util::stream::iter(looks);
    looked.for_each_concurrent(AT_ONCE, |tunnel| async move { drop(store.look(&tunnel).await) }).await;
    let letters = std::mem::take(&mut store.due.list().letters);
    let deleted = futures_util::stream::iter(letters).map(|(tunnel, gone)| async move {
        let error = store.delete(&tunnel, gone).await.err()?;
        tracing::warn!(
            tunnel = short(&tunnel),
            error = error.logged(),
            "a letter that nobody wants could not be deleted yet"
        );
        Some((tunnel, gone))
    });
    let left: Vec<_> = deleted.buffer_unordered(AT_ONCE).filter_map(std::future::ready).collect().await;
    let all_gone = left.is_empty();
    store.due.list().letters.extend(left);
    all_gone
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    /// How long an acknowledgement has to come in between.
    const MEANWHILE: Duration = Duration::from_millis(200);

    #[test]
    fn a_letter_that_is_being_stashed_is_deleted_by_the_acknowledgement_of_just_then() {
        let due = Due::default();
        let (done, is_done) = mpsc::channel();
        thread::scope(|scope| {
            due.stash("acme", || {
                scope.spawn(|| {
                    due.give_up("acme", Vec::new); // the letter is forgotten already
                    done.send(()).unwrap();
                });
                let _none = is_done.recv_timeout(MEANWHILE);
                vec![(7, true)]
            });
        });
        assert_eq!(due.list().letters, [("acme".to_owned(), (7, true))]);
    }
}
