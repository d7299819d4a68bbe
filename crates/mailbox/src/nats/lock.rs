//! One relay at a time.
//!
//! A bucket's update from a revision is no lock where servers before 2.10 form a cluster: the leader compares before it
//! proposes, so that of two updates at the same moment both pass. Making a key that isn't there is compared by every
//! replica when it is written, and of two only one passes.

use std::{future::Future, time::Duration};

use async_nats::jetstream::kv::{self, UpdateErrorKind};
use tokio::{
    runtime::Handle,
    time::{Instant, timeout},
};

use super::failure::PATIENCE;
use crate::MailboxError;

/// Whoever is seen to hold a lock for longer than this is gone. Shorter than anybody waits for one.
const GONE: Duration = Duration::from_secs(15);

/// What is done under a lock is given up after so long: before another takes it. A new leader is there sooner.
const LONGEST: Duration = Duration::from_secs(12);

// In this order none is taken from somebody who is at work, and none that was left stops those who wait.
const _: () = assert!(LONGEST.as_secs() < GONE.as_secs() && GONE.as_secs() < PATIENCE.as_secs());

/// The pause between two looks at a lock that another holds.
const PAUSE: Duration = Duration::from_millis(25);

/// How often it is looked for a lock that may or may not be ours, to leave none behind, and the pause between.
const LOOKS: u32 = 5;
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Does something while no other relay does anything under the same key.
pub(super) async fn locked<T>(
    store: &kv::Store,
    key: &str,
    work: impl Future<Output = Result<T, MailboxError>>,
) -> Result<T, MailboxError> {
    let mut lock = Lock::new(store, format!("lock.{key}"));
    lock.acquire().await?;
    let done = timeout(LONGEST, work).await;
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
                Ok(Some(held)) if held.value == self.owner => return self.is_ours(held.revision),
                Ok(Some(held)) if held.revision != seen.0 => seen = (held.revision, Instant::now()),
                Ok(Some(held)) if seen.1.elapsed() > GONE => remove(&self.store, held.revision).await,
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
        if let Ok(Some(held)) = store.entry(key).await
            && held.value == owner
        {
            return Some(held.revision);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    None
}

/// Removes a lock, and none that came after it. Where that fails, it is taken for left soon. Not by a purge, see `erase`.
async fn remove(store: &kv::Store, revision: u64) {
    let _left = store.stream.delete_message(revision).await;
}
