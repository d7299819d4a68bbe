//! Acknowledges letters, and deletes them once nobody wants them: a little later, and many at once.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio_util::sync::CancellationToken;

use super::{
    index::Unwanted,
    names::cursor_key,
    records::{CursorRecord, read_message},
    servers,
    store::{Shard, Store},
    table::Next,
    tunnels,
};
use crate::{DeviceKey, MailboxError, short};

/// For how long deletions are collected before they run.
const GATHER: Duration = Duration::from_millis(100);

/// The pause before a failed deletion is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// How many letters are deleted at once.
const AT_ONCE: usize = 64;

/// How many parts of a letter are deleted at once.
const PARTS_AT_ONCE: usize = 8;

/// Acknowledges that a device has everything up to `through`.
pub(super) async fn ack(
    store: &Store,
    tunnel: &str,
    device: &DeviceKey,
    through: u64,
) -> Result<(), MailboxError> {
    store.check_open()?;
    // A device can't have letters that don't exist yet.
    let (_, newest) = store.shard(tunnel).index.backlog(tunnel, u64::MAX);
    let through = through.min(newest);
    // Read anew before anything is given up: a device that has just joined at another relay wants the letters from now
    // on.
    let record = tunnels::read(store, tunnel).await?;
    tunnels::must_take_part(&record, device)?;
    let known = store.registry.cursor(tunnel, device);
    if known.as_ref().is_some_and(|known| known.record.cursor >= through) {
        return Ok(());
    }
    let floor = store.registry.slowest(tunnel, &record.record.devices, Some((device, through)));
    let ahead = move |now: CursorRecord| CursorRecord {
        cursor: now.cursor.max(through),
        floor: now.floor.max(floor),
        ..now
    };
    write_cursor(store, tunnel, device, ahead).await?;
    give_up(store, tunnel, floor);
    Ok(())
}

/// Writes a device's cursor and when it was last connected.
pub(super) async fn write_cursor(
    store: &Store,
    tunnel: &str,
    device: &DeviceKey,
    change: impl Fn(CursorRecord) -> CursorRecord,
) -> Result<(), MailboxError> {
    let known = store.registry.cursor(tunnel, device);
    let changed = store.cursors.change(cursor_key(tunnel, device), known, 0, |now: Option<&CursorRecord>| {
        let now = now.copied();
        let next = change(now.unwrap_or_default());
        Ok((if now == Some(next) { Next::Keep } else { Next::Write(next) }, ()))
    });
    if let (Some(record), ()) = changed.await? {
        store.registry.set_cursor(tunnel, *device, record);
    }
    Ok(())
}

/// Called when a bucket reports a change to a tunnel's records: forgets the letters that nobody wants any more.
pub(super) fn forget_unwanted(store: &Store, tunnel: &str) {
    let floor = store.registry.floor(tunnel);
    store.due.stash(tunnel, || trim(store, tunnel, floor));
    // When two relays acknowledge at the same time, each learns of the other's cursor only afterwards.
    if store.registry.is_shared(tunnel) {
        store.due.look_at(tunnel);
    }
}

/// Forgets the letters up to a position, because nobody wants them, and has them deleted soon.
pub(super) fn give_up(store: &Store, tunnel: &str, through: u64) {
    store.due.give_up(tunnel, || trim(store, tunnel, through));
}

fn trim(store: &Store, tunnel: &str, through: u64) -> Vec<Unwanted> {
    let index = &store.shard(tunnel).index;
    let unwanted = index.trim(tunnel, through);
    if through == u64::MAX {
        index.ring(tunnel); // the tunnel is shut
    }
    unwanted
}

/// Computes anew up to which position all devices of a tunnel have its letters.
async fn look(store: &Store, tunnel: &str) -> Result<(), MailboxError> {
    let record = tunnels::read(store, tunnel).await?;
    let floor = store.registry.slowest(tunnel, &record.record.devices, None);
    if floor > store.registry.floor(tunnel) {
        give_up(store, tunnel, floor);
    }
    Ok(())
}

/// Deletes what is due until the store closes, and then once more.
pub(super) async fn clear_until(store: &Store, closing: CancellationToken) {
    while closing.run_until_cancelled(store.due.rung()).await.is_some() {
        closing.run_until_cancelled(tokio::time::sleep(GATHER)).await;
        if !clear(store).await {
            closing.run_until_cancelled(tokio::time::sleep(AGAIN)).await;
            store.due.ring();
        }
    }
    clear(store).await; // what fails now is deleted when a relay starts
}

/// Deletes what is due. Returns whether all of it is gone; the rest stays due.
async fn clear(store: &Store) -> bool {
    let looks = store.due.take_looks();
    let looked = futures_util::stream::iter(looks);
    looked.for_each_concurrent(AT_ONCE, |tunnel| async move { drop(look(store, &tunnel).await) }).await;
    let letters = store.due.take_letters();
    let deleted = futures_util::stream::iter(letters).map(|(tunnel, unwanted)| async move {
        let error = delete(store, &tunnel, unwanted).await.err()?;
        tracing::warn!(
            tunnel = short(&tunnel),
            error = error.logged(),
            "an event that no device needs could not be deleted yet"
        );
        Some((tunnel, unwanted))
    });
    let left: Vec<_> = deleted.buffer_unordered(AT_ONCE).filter_map(std::future::ready).collect().await;
    let all_gone = left.is_empty();
    store.due.put_back(left);
    all_gone
}

/// Deletes a letter that some devices may lack. Only the relay that actually deleted it counts it as lost to those
/// devices.
pub(super) async fn lose(
    store: &Store,
    shard: &Shard,
    tunnel: &str,
    position: u64,
    is_in_parts: bool,
) -> Result<(), MailboxError> {
    let was_there = delete(store, tunnel, (position, is_in_parts)).await?;
    shard.index.remove(tunnel, position);
    if was_there {
        let now = store.clock.now();
        let devices = store.registry.devices(tunnel).unwrap_or_default();
        for device in devices.iter().filter(|device| device.cursor < position) {
            store.counts.lost(tunnel, device.key, now);
        }
    }
    Ok(())
}

/// Deletes a letter and then its parts, because without its parts it must not be there. Returns whether it was still
/// there.
async fn delete(
    store: &Store,
    tunnel: &str,
    (position, is_in_parts): Unwanted,
) -> Result<bool, MailboxError> {
    let parts = if is_in_parts { parts_of(store, tunnel, position).await? } else { Vec::new() };
    let stream = store.names.stream(store.names.shard(tunnel));
    let was_there = servers::delete(&store.js, &stream, position).await?;
    let deleted = parts.into_iter().map(|part| servers::delete(&store.js, &stream, part));
    futures_util::stream::iter(deleted).buffer_unordered(PARTS_AT_ONCE).try_collect::<Vec<_>>().await?;
    Ok(was_there)
}

async fn parts_of(store: &Store, tunnel: &str, position: u64) -> Result<Vec<u64>, MailboxError> {
    // With a wrong manifest, the parts of another letter would be deleted; therefore only the leader's answer counts.
    let manifest = servers::read(&store.shard(tunnel).stream, position, |_| false).await?;
    let manifest = manifest.and_then(|manifest| read_message(&manifest.payload));
    Ok(manifest.map(|manifest| manifest.parts).unwrap_or_default())
}
