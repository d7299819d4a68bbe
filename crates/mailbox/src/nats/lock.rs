//! One relay at a time.
//!
//! A bucket's update from a revision is no lock where servers before 2.10 form a cluster: the leader compares before it
//! proposes, so that of two updates at the same moment both pass. Making a key that isn't there is compared by every
//! replica when it is written, and of two only one passes.

use std::{future::Future, time::Duration};

use async_nats::jetstream::kv::{self, UpdateErrorKind};
use tokio::time::Instant;

use super::failure::PATIENCE;
use crate::MailboxError;

/// Whoever is seen to hold a lock for longer than this is gone.
const GONE: Duration = Duration::from_secs(10);

/// The pause between two looks at a lock that another holds.
const PAUSE: Duration = Duration::from_millis(25);

/// Does something while no other relay does anything under the same key.
pub(super) async fn locked<T>(
    store: &kv::Store,
    key: &str,
    work: impl Future<Output = Result<T, MailboxError>>,
) -> Result<T, MailboxError> {
    let key = format!("lock.{key}");
    let revision = acquire(store, &key).await?;
    let done = work.await;
    release(store, revision).await;
    done
}

async fn acquire(store: &kv::Store, key: &str) -> Result<u64, MailboxError> {
    let owner = nonce();
    let end = Instant::now() + PATIENCE;
    let mut seen = (0, Instant::now());
    loop {
        let error = match store.update(key, owner.clone().into(), 0).await {
            Ok(revision) => return Ok(revision),
            Err(error) => error,
        };
        // Also where the word of it was lost: it may be ours.
        match store.entry(key).await {
            Ok(Some(held)) if held.value == owner => return Ok(held.revision),
            Ok(Some(held)) if held.revision != seen.0 => seen = (held.revision, Instant::now()),
            Ok(Some(held)) if seen.1.elapsed() > GONE => release(store, held.revision).await,
            _ => {}
        }
        if Instant::now() > end {
            return Err(MailboxError::Failed(format!("{key} is locked: {error}")));
        }
        let is_held = error.kind() == UpdateErrorKind::WrongLastRevision;
        tokio::time::sleep(if is_held { PAUSE } else { PAUSE * 6 }).await;
    }
}

/// Removes a lock, and none that came after it. Where that fails, it is taken for left soon. Not by a purge, see `erase`.
async fn release(store: &kv::Store, revision: u64) {
    let _left = store.stream.delete_message(revision).await;
}

fn nonce() -> String {
    uuid::Uuid::now_v7().to_string()
}
