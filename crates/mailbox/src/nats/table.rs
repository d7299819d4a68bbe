//! Records under keys, changed from what they were.

use std::time::Duration;

use async_nats::jetstream::{
    self,
    kv::{self, UpdateErrorKind},
};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    erase,
    failure::{PATIENCE, Trouble, keep_trying},
    lock::locked,
};
use crate::MailboxError;

/// A record, and the revision at which it was.
#[derive(Clone, Debug)]
pub(super) struct Versioned<R> {
    pub(super) record: R,
    pub(super) revision: u64,
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
        let end = tokio::time::Instant::now() + PATIENCE;
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
            if tokio::time::Instant::now() > end {
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
            erase::message(js, &self.store.stream_name, entry.revision).await?;
        }
        Ok(())
    }
}
