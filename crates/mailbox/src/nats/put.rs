//! Puts a letter: within the quota, whole or in parts, until most replicas have it.

use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use hookmitt_wire::Parcel;

use super::{
    acks,
    index::Entry,
    names::letter_id,
    records::{LABEL, PUT_AT, label, message},
    servers::{PATIENCE, Trouble, keep_trying, of_publish},
    store::Store,
    tunnels,
};
use crate::{MailboxError, Quota};

/// Longer letters are stored in parts of this many bytes, because a message may have at most 1 MiB with everything
/// around it.
const PART: usize = 512 * 1024;

/// How long publishing a letter's parts may take, the machine's sleep included. Parts without a manifest count as
/// orphans after a while, and a letter must not be acknowledged if another relay has deleted its parts.
pub(super) const LONGEST: Duration = Duration::from_secs(5 * 60);

/// How many parts of a letter are published at once.
const AT_ONCE: usize = 8;

/// About how many bytes of letters are deleted to make room for a new one: more than the largest letter has.
const CROWDED_OUT: u64 = 64 * 1024 * 1024;

/// How many letters are deleted at once to make room.
const CROWDED_AT_ONCE: usize = 16;

/// Stores a letter within the quota, and returns its position.
pub(super) async fn put(
    store: &Store,
    tunnel: &str,
    parcel: Parcel,
    quota: &Quota,
) -> Result<u64, MailboxError> {
    tunnels::must_be_open(store, tunnel).await?;
    tunnels::keep_name(store, tunnel).await?;
    let (bytes, now) = (parcel.data.len() as u64, store.clock.now());
    let index = &store.shard(tunnel).index;
    let _permit = store.puts.try_acquire().map_err(|_| MailboxError::Overloaded)?;
    if let Err(full) = index.reserve(tunnel, bytes, quota) {
        crowd_out(store, tunnel, quota).await?;
        index.reserve(tunnel, bytes, quota).map_err(|_| full)?;
    }
    let _room = Room { store, tunnel, bytes };
    let letter = letter_id(&parcel);
    let is_in_parts = parcel.data.len() > PART;
    let position = if is_in_parts {
        put_in_parts(store, tunnel, &letter, (&parcel, now.store)).await?
    } else {
        let whole = message(&parcel, Vec::new(), &parcel.data).ok_or_else(unwritable)?;
        let (subject, id) = (store.names.letter(tunnel), format!("{tunnel} {letter}"));
        publish(store, subject, &id, Some((&parcel, now.store)), whole).await?
    };
    let in_parts = is_in_parts.then(|| letter.into());
    index.put(
        tunnel,
        position,
        Entry { bytes, received_at: parcel.received_at, put_at: now.store, in_parts },
    );
    Ok(position)
}

/// Makes room by deleting letters that the most advanced device already has, because a slow or absent device must not
/// keep new letters from it (Threat 12). The others' counts say how many letters they lost. Deletes only a few letters,
/// because the next letter makes room again if necessary.
async fn crowd_out(store: &Store, tunnel: &str, quota: &Quota) -> Result<(), MailboxError> {
    let most = usize::try_from((quota.letters / 16).clamp(1, 128)).unwrap_or(128);
    let devices = store.registry.devices(tunnel).unwrap_or_default();
    let ahead = devices.iter().map(|device| device.cursor).max().unwrap_or(0);
    let shard = store.shard(tunnel);
    let oldest = shard.index.after(tunnel, 0, most, CROWDED_OUT);
    let had = oldest.into_iter().take_while(|(position, _)| *position <= ahead);
    let deleted =
        had.map(|(position, entry)| acks::lose(store, shard, tunnel, position, entry.in_parts.is_some()));
    futures_util::stream::iter(deleted).buffer_unordered(CROWDED_AT_ONCE).try_collect::<()>().await
}

/// Publishes the parts first and then the manifest. Only with the manifest does the letter exist.
async fn put_in_parts(
    store: &Store,
    tunnel: &str,
    letter: &str,
    (parcel, put_at): (&Parcel, i64),
) -> Result<u64, MailboxError> {
    let begun = store.clock.uptime();
    let parts: Vec<Bytes> = parcel.data.chunks(PART).map(|part| parcel.data.slice_ref(part)).collect();
    let parts = (0..).zip(parts).map(async |(number, part): (usize, Bytes)| {
        let id = format!("{tunnel} {letter} {number}");
        publish(store, store.names.part(tunnel, letter, number), &id, None, part).await
    });
    let parts = futures_util::stream::iter(parts).buffered(AT_ONCE).try_collect::<Vec<_>>();
    let manifest = message(parcel, parts.await?, &[]).ok_or_else(unwritable)?;
    if store.clock.uptime().saturating_sub(begun) > LONGEST {
        return Err(MailboxError::Failed("writing the event's parts took too long".to_owned()));
    }
    let subject = store.names.manifest(tunnel, letter);
    publish(store, subject, &format!("{tunnel} {letter}"), Some((parcel, put_at)), manifest).await
}

/// Publishes until the leader of the stream says that most replicas have the message. A retry carries the same message
/// id: within a minute the servers recognise the duplicate, and later the inbox does.
async fn publish(
    store: &Store,
    subject: String,
    id: &str,
    letter: Option<(&Parcel, i64)>,
    payload: Bytes,
) -> Result<u64, MailboxError> {
    keep_trying(PATIENCE, || {
        let mut outgoing = PublishMessage::build().message_id(id).payload(payload.clone());
        if let Some((letter, put_at)) = letter {
            outgoing = outgoing.header(LABEL, label(letter).as_str());
            outgoing = outgoing.header(PUT_AT, put_at.to_string().as_str());
        }
        let subject = subject.clone();
        async move {
            if store.closing.is_cancelled() {
                return Err(Trouble::Final(MailboxError::Closed));
            }
            let sent = store.js.send_publish(subject, outgoing).await.map_err(|error| of_publish(&error))?;
            sent.await.map(|stored| stored.sequence).map_err(|error| of_publish(&error))
        }
    })
    .await
}

fn unwritable() -> MailboxError {
    MailboxError::Failed("the event can't be written".to_owned())
}

/// The room that is reserved for a letter while it is put.
struct Room<'s> {
    store: &'s Store,
    tunnel: &'s str,
    bytes: u64,
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.store.shard(self.tunnel).index.release(self.tunnel, self.bytes);
    }
}
