//! Records under keys, changed from what they were; where it has to be, by one relay at a time.
//!
//! A bucket's update from a revision is no lock where servers before 2.10 form a cluster: the leader compares before it
//! proposes, so that of two updates at the same moment both pass. Making a key that isn't there is compared by every
//! replica when it is written, and of two only one passes.

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

/// Whoever is seen to hold a lock for longer than this is gone. Shorter than anybody waits for one.
const GONE: Duration = Duration::from_secs(15);

/// What is done under a lock is given up after so long: before another takes it. A new leader is there sooner.
const LONGEST_WORK: Duration = Duration::from_secs(12);

// In this order none is taken from somebody who is at work, and none that was left stops those who wait.
const _: () = assert!(LONGEST_WORK.as_secs() < GONE.as_secs() && GONE.as_secs() < PATIENCE.as_secs());

/// The pause between two looks at a lock that another holds.
const PAUSE: Duration = Duration::from_millis(25);

/// How often it is looked for a lock that may or may not be ours, to leave none behind, and the pause between.
const LOOKS: u32 = 5;
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// A record, and the revision at which it was.
#[derive(Clone, Debug)]
pub(super) struct Versioned<R> {
    pub(super) record: R,
    pub(super) revision: u64,
}

impl<R: DeserializeOwned> Versioned<R> {
    /// A record as a bucket says it; none where it can't be read.
    pub(super) fn parse(value: &[u8], revision: u64) -> Option<Self> {
        Some(Self { record: serde_json::from_slice(value).ok()?, revision })
    }
}

/// Keeps a record unless a newer one is known. Answers whether it is kept.
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

/// What becomes of a record.
pub(super) enum Next<R> {
    /// It stays.
    Keep,
    /// It is written.
    Write(R),
}

/// One bucket.
#[derive(Clone, Debug)]
pub(super) struct Table {
    store: kv::Store,
}

impl Table {
    pub(super) fn new(store: kv::Store) -> Self {
        Self { store }
    }

    /// The newest record under a key, from the leader. A node that was killed and leads again may be behind for a moment,
    /// and say of what there is that there is none: it is asked again where `known`, a revision, was seen already.
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

    /// Changes a record from what it is now, or makes it; answers what it is then. `change` may be called again, also
    /// where its first answer was written and the word of it was lost: asked for what is already so, it keeps it. `seen` is as in [`read`](Self::read).
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

    /// As [`change`](Self::change), and no other relay changes the record meanwhile.
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

    /// Removes every trace of a key.
    pub(super) async fn erase(&self, js: &jetstream::Context, key: &str) -> Result<(), MailboxError> {
        let entry = keep_trying(PATIENCE, || async { self.store.entry(key).await.map_err(Trouble::passing) });
        if let Some(entry) = entry.await? {
            servers::delete(js, &self.store.stream_name, entry.revision).await?;
        }
        Ok(())
    }
}

/// Does something while no other relay does anything under the same key.
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

/// A lock that is held, or may be: it is left behind by nobody who is still there, however he ends.
struct Lock {
    store: kv::Store,
    key: String,
    owner: String,
    /// Where it is, once that is known.
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
            // Also where the word of it was lost: it may be ours.
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

/// Where a lock is whose making was given up, if it was made all the same.
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

/// Removes a lock, and none that came after it. Where that fails, it is taken for left soon. Not by a purge, see `servers`.
async fn remove(store: &kv::Store, revision: u64) {
    let _left = store.stream.delete_message(revision).await;
}
