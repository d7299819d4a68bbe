//! Records under keys, changed from their current value, where necessary by one relay at a time.
//!
//! If servers before 2.10 form a cluster, a bucket's update from a given revision is no lock: the leader compares
//! before it proposes, so two updates at the same moment may both pass. Creating a key is different: every replica
//! compares when it writes, so only one of two passes.

use std::{collections::HashMap, future::Future, hash::Hash, time::Duration};

use async_nats::jetstream::{
    self,
    kv::{self, UpdateErrorKind},
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    runtime::Handle,
    time::{Instant, timeout},
};

use super::servers::{self, PATIENCE, Trouble, keep_trying};
use crate::MailboxError;

/// A holder that is seen with the lock for longer than this counts as gone. Shorter than the time that anybody waits
/// for a lock.
const GONE: Duration = Duration::from_secs(15);

/// Work under a lock is abandoned after this time, before another holder takes the lock. A cluster has a new leader
/// sooner.
const LONGEST_WORK: Duration = Duration::from_secs(12);

// Live holders keep their lock, and abandoned locks expire before waiters give up.
const _: () = assert!(LONGEST_WORK.as_secs() < GONE.as_secs() && GONE.as_secs() < PATIENCE.as_secs());

/// The pause between two looks at a lock that another holder has.
const PAUSE: Duration = Duration::from_millis(25);

/// How often to look for a lock that may be ours, so that none is left behind, and the pause between two looks.
const LOOKS: u32 = 5;
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// A record and its revision.
#[derive(Clone, Debug)]
pub(super) struct Versioned<R> {
    pub(super) record: R,
    pub(super) revision: u64,
}

impl<R: DeserializeOwned> Versioned<R> {
    /// Parses a bucket's value. Returns `None` if it can't be read.
    pub(super) fn parse(value: &[u8], revision: u64) -> Option<Self> {
        Some(Self { record: serde_json::from_slice(value).ok()?, revision })
    }
}

/// Keeps a record unless the same or a newer revision is known. Returns whether it was kept.
pub(super) fn keep_newer<K: Eq + Hash, R>(
    known: &mut HashMap<K, Versioned<R>>,
    key: K,
    record: Versioned<R>,
) -> bool {
    if known.get(&key).is_some_and(|known| known.revision >= record.revision) {
        return false;
    }
    known.insert(key, record);
    true
}

/// What to do with a record.
pub(super) enum Next<R> {
    /// Leave it as it is.
    Keep,
    /// Write this value.
    Write(R),
}

/// A bucket of records.
#[derive(Clone, Debug)]
pub(super) struct Table {
    store: kv::Store,
}

impl Table {
    pub(super) fn new(store: kv::Store) -> Self {
        Self { store }
    }

    /// Reads the newest record under a key from the leader. `known` is a revision that was seen before, or 0.
    ///
    /// A node that was killed and leads again may lag for a moment and deny a record that exists. Therefore the leader
    /// is asked again if its answer is older than `known`.
    pub(super) async fn read<R: DeserializeOwned>(
        &self,
        key: &str,
        known: u64,
    ) -> Result<Option<Versioned<R>>, MailboxError> {
        keep_trying(PATIENCE, || async {
            let found = self.try_read(key).await?;
            if found.as_ref().map_or(0, |found: &Versioned<R>| found.revision) < known {
                return Err(Trouble::passing(format!("the leader of {key} is behind")));
            }
            Ok(found)
        })
        .await
    }

    async fn try_read<R: DeserializeOwned>(&self, key: &str) -> Result<Option<Versioned<R>>, Trouble> {
        let entry = self.store.entry(key).await.map_err(Trouble::passing)?;
        let Some(entry) = entry.filter(|entry| entry.operation == kv::Operation::Put) else {
            return Ok(None);
        };
        let record = serde_json::from_slice(&entry.value);
        let record =
            record.map_err(|error| MailboxError::Failed(format!("the key {key} can't be read: {error}")))?;
        Ok(Some(Versioned { record, revision: entry.revision }))
    }

    /// Changes a record, or creates it; returns the record as it is afterwards, and what `change` returned with it.
    ///
    /// `change` may be called again, even if its first value was written and only the servers' answer was lost. Called
    /// with a record that already has the change, it must keep it. `known` is the current record if the caller has it;
    /// `seen` is the revision that [`read`](Self::read) calls `known`.
    pub(super) async fn change<R, T>(
        &self,
        key: String,
        known: Option<Versioned<R>>,
        seen: u64,
        mut change: impl FnMut(Option<&R>) -> Result<(Next<R>, T), MailboxError>,
    ) -> Result<(Option<Versioned<R>>, T), MailboxError>
    where
        R: Serialize + DeserializeOwned,
    {
        let mut now = match known {
            Some(known) => Some(known),
            None => self.read(&key, seen).await?,
        };
        let end = Instant::now() + PATIENCE;
        loop {
            let (next, said) = change(now.as_ref().map(|now| &now.record))?;
            let Next::Write(record) = next else { return Ok((now, said)) };
            let value =
                serde_json::to_vec(&record).map_err(|error| MailboxError::Failed(error.to_string()))?;
            let revision = now.as_ref().map_or(0, |now| now.revision);
            let error = match self.store.update(&key, value.into(), revision).await {
                Ok(revision) => return Ok((Some(Versioned { record, revision }), said)),
                Err(error) => error,
            };
            if Instant::now() > end {
                return Err(MailboxError::Failed(error.to_string()));
            }
            if error.kind() != UpdateErrorKind::WrongLastRevision {
                tokio::time::sleep(Duration::from_millis(150)).await;
            }
            now = self.read(&key, seen).await?;
        }
    }

    /// Like [`change`](Self::change), but no other relay changes the record meanwhile.
    pub(super) async fn change_alone<R, T>(
        &self,
        key: String,
        seen: u64,
        change: impl FnMut(Option<&R>) -> Result<(Next<R>, T), MailboxError>,
    ) -> Result<(Option<Versioned<R>>, T), MailboxError>
    where
        R: Serialize + DeserializeOwned,
    {
        locked(&self.store, &key, self.change(key.clone(), None, seen, change)).await
    }

    /// Removes a key without a trace.
    pub(super) async fn erase(&self, js: &jetstream::Context, key: &str) -> Result<(), MailboxError> {
        let entry = keep_trying(PATIENCE, || async { self.store.entry(key).await.map_err(Trouble::passing) });
        if let Some(entry) = entry.await? {
            servers::delete(js, &self.store.stream_name, entry.revision).await?;
        }
        Ok(())
    }
}

/// Runs `work` while no other relay runs work under the same key.
async fn locked<T>(
    store: &kv::Store,
    key: &str,
    work: impl Future<Output = Result<T, MailboxError>>,
) -> Result<T, MailboxError> {
    let mut lock = Lock::new(store, format!("lock.{key}"));
    lock.acquire().await?;
    let done = timeout(LONGEST_WORK, work).await;
    lock.release().await;
    done.unwrap_or_else(|_| Err(MailboxError::Failed(format!("{key} could not be changed in time"))))
}

/// A lock that is, or may be, held. Dropping it removes the lock, so nobody who is still running leaves one behind.
struct Lock {
    store: kv::Store,
    key: String,
    owner: String,
    /// The revision of the lock, once that is known.
    revision: Option<u64>,
    is_released: bool,
}

impl Lock {
    fn new(store: &kv::Store, key: String) -> Self {
        let owner = uuid::Uuid::now_v7().to_string();
        Self { store: store.clone(), key, owner, revision: None, is_released: false }
    }

    async fn acquire(&mut self) -> Result<(), MailboxError> {
        let end = Instant::now() + PATIENCE;
        let mut seen = (0, Instant::now());
        loop {
            let error = match self.store.update(&self.key, self.owner.clone().into(), 0).await {
                Ok(revision) => return self.is_ours(revision),
                Err(error) => error,
            };
            // Even if the update failed, the lock may be ours, because only the answer may be lost.
            match self.store.entry(&self.key).await {
                Ok(Some(found)) if found.value == self.owner => return self.is_ours(found.revision),
                Ok(Some(found)) if found.revision != seen.0 => seen = (found.revision, Instant::now()),
                Ok(Some(found)) if seen.1.elapsed() > GONE => remove(&self.store, found.revision).await,
                _ => {}
            }
            if Instant::now() > end {
                return Err(MailboxError::Failed(format!("{} is locked: {error}", self.key)));
            }
            let is_held = error.kind() == UpdateErrorKind::WrongLastRevision;
            tokio::time::sleep(if is_held { PAUSE } else { PAUSE * 6 }).await;
        }
    }

    fn is_ours(&mut self, revision: u64) -> Result<(), MailboxError> {
        self.revision = Some(revision);
        Ok(())
    }

    async fn release(mut self) {
        if let Some(revision) = self.revision {
            remove(&self.store, revision).await;
        }
        self.is_released = true;
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let Ok(runtime) = Handle::try_current() else { return };
        if self.is_released {
            return;
        }
        let (store, key) = (self.store.clone(), std::mem::take(&mut self.key));
        let (owner, revision) = (std::mem::take(&mut self.owner), self.revision);
        runtime.spawn(async move {
            let revision = match revision {
                Some(revision) => Some(revision),
                None => find(&store, &key, &owner).await,
            };
            if let Some(revision) = revision {
                remove(&store, revision).await;
            }
        });
    }
}

/// Returns the revision of a lock whose creation was abandoned but took place all the same; `None` if it isn't found.
async fn find(store: &kv::Store, key: &str, owner: &str) -> Option<u64> {
    for _ in 0..LOOKS {
        if let Ok(Some(found)) = store.entry(key).await
            && found.value == owner
        {
            return Some(found.revision);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    None
}

/// Removes this lock, but no later lock under the same key. If that fails, the lock soon counts as abandoned. Not by a
/// purge; see `servers`.
async fn remove(store: &kv::Store, revision: u64) {
    let _left = store.stream.delete_message(revision).await;
}
