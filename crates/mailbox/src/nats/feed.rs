//! Feeds letters to a device: as they arrive, in order, read by position.

use std::{pin::pin, sync::Arc};

use async_nats::jetstream::message::StreamMessage;
use bytes::BytesMut;
use futures_util::{StreamExt as _, TryStreamExt as _};
use hookmitt_wire::Parcel;
use tokio::sync::watch;

use super::{
    acks,
    index::Entry,
    records::{LABEL, read_label, read_message},
    servers::read,
    store::Store,
    tunnels::no_tunnel,
};
use crate::{Delivered, Fed, Feed, MailboxError, short};

/// How many letters are read at once.
const AT_ONCE: usize = 64;

/// The letters of one tunnel after a position.
#[derive(Debug)]
pub struct NatsFeed {
    store: Arc<Store>,
    tunnel: String,
    after: u64,
    bell: watch::Receiver<u64>,
}

impl NatsFeed {
    pub(super) fn new(store: &Arc<Store>, tunnel: &str, after: u64) -> Self {
        let bell = store.shard(tunnel).index.listen(tunnel);
        Self { store: Arc::clone(store), tunnel: tunnel.to_owned(), after, bell }
    }

    /// Returns the index entries of the next letters; fails if the tunnel is not open.
    fn next_entries(&self, most: usize, bytes: usize) -> Result<Vec<(u64, Entry)>, MailboxError> {
        self.store.check_open()?;
        if self.store.registry.tunnel(&self.tunnel).is_none_or(|tunnel| tunnel.revoked) {
            return Err(no_tunnel(&self.tunnel));
        }
        Ok(self.store.shard(&self.tunnel).index.after(&self.tunnel, self.after, most, bytes as u64))
    }

    /// Reads the letters at these positions. Letters that are gone meanwhile are left out.
    async fn read(&self, entries: Vec<(u64, Entry)>) -> Result<Vec<Delivered>, MailboxError> {
        let letters = entries.into_iter().map(|(position, entry)| self.letter(position, entry));
        let letters = futures_util::stream::iter(letters).buffered(AT_ONCE);
        letters.try_filter_map(|letter| std::future::ready(Ok(letter))).try_collect().await
    }

    /// Reads the letter at a position. Returns `None` if it is gone.
    async fn letter(&self, position: u64, entry: Entry) -> Result<Option<Delivered>, MailboxError> {
        let shard = self.store.shard(&self.tunnel);
        let found = read(&shard.stream, position, |message| is_labelled(message, &entry)).await?;
        let Some(found) = found else {
            shard.index.remove(&self.tunnel, position); // another relay deleted it
            return Ok(None);
        };
        let broken = || MailboxError::Failed(format!("the event at {position} can't be read"));
        let message = read_message(&found.payload).ok_or_else(broken)?;
        let mut parcel = message.parcel;
        if !message.parts.is_empty() && !self.join(&mut parcel, message.parts, &entry).await? {
            self.give_up(position, entry).await?;
            return Ok(None);
        }
        Ok(Some(Delivered { position, parcel }))
    }

    /// Gives up a letter of which a part is missing: it is lost to each device that lacks it, and must not block the
    /// letters behind it. If the letter is just being deleted, nothing is done; then its manifest is gone already,
    /// because the manifest is deleted first.
    async fn give_up(&self, position: u64, entry: Entry) -> Result<(), MailboxError> {
        let (tunnel, shard) = (&self.tunnel, self.store.shard(&self.tunnel));
        // No replica's message is accepted, so the leader answers.
        if read(&shard.stream, position, |_| false).await?.is_none() {
            return Ok(());
        }
        tracing::error!(tunnel = short(tunnel), position, "an event is lost: a part of it is missing");
        acks::lose(&self.store, shard, tunnel, position, entry.in_parts.is_some()).await
    }

    /// Joins a letter's parts. Returns whether all of them were there.
    async fn join(&self, parcel: &mut Parcel, parts: Vec<u64>, entry: &Entry) -> Result<bool, MailboxError> {
        let stream = &self.store.shard(&self.tunnel).stream;
        let letter = entry.in_parts.as_deref().unwrap_or_default();
        let mut data = BytesMut::new();
        let parts = (0..).zip(parts).map(async |(number, part)| {
            let subject = self.store.names.part(&self.tunnel, letter, number);
            read(stream, part, |message| message.subject.as_str() == subject).await
        });
        let mut parts = pin!(futures_util::stream::iter(parts).buffered(8));
        while let Some(part) = parts.try_next().await? {
            let Some(part) = part else { return Ok(false) };
            data.extend_from_slice(&part.payload);
        }
        parcel.data = data.freeze();
        Ok(true)
    }
}

impl Feed for NatsFeed {
    async fn wait(&mut self) -> Result<(), MailboxError> {
        loop {
            self.bell.mark_unchanged();
            if !self.next_entries(1, 0)?.is_empty() {
                return Ok(());
            }
            let rung = self.store.closing.run_until_cancelled(self.bell.changed()).await;
            rung.ok_or(MailboxError::Closed)?.map_err(|_| MailboxError::Closed)?;
        }
    }

    async fn take(&mut self, most: usize, bytes: usize, limit: usize) -> Result<Fed, MailboxError> {
        let entries = self.next_entries(most, bytes.min(limit))?;
        let (Some((_, first)), Some(&(last, _))) = (entries.first(), entries.last()) else {
            return Ok(Fed::Letters(Vec::new()));
        };
        if first.bytes > limit as u64 {
            return Ok(Fed::TooLarge(usize::try_from(first.bytes).unwrap_or(usize::MAX)));
        }
        let letters = self.read(entries).await?;
        self.after = last;
        Ok(Fed::Letters(letters))
    }
}

/// Returns whether a message is the letter, or its manifest, that the index knows.
fn is_labelled(message: &StreamMessage, entry: &Entry) -> bool {
    let label = message.headers.get(LABEL).and_then(|label| read_label(label.as_str()));
    label == Some((entry.received_at, entry.bytes))
}
