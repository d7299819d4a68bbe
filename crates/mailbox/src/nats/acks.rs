//! What devices have.

use super::{
    failure::no_device,
    names::cursor_key,
    records::{CursorRecord, TunnelRecord},
    store::Store,
    table::{Next, Versioned},
    tunnels,
};
use crate::{DeviceKey, MailboxError};

/// How old what is written of a device's presence may be: it counts for expiry in days, and each time costs a commit.
const PRESENCE: i64 = 10 * 60 * 1_000_000;

/// A device has everything up to `through`.
pub(super) async fn ack(
    store: &Store,
    tunnel: &str,
    device: &DeviceKey,
    through: u64,
) -> Result<(), MailboxError> {
    store.check_open()?;
    // Nobody has what isn't there yet.
    let (_, newest) = store.shard(tunnel).index.waiting(tunnel, u64::MAX);
    let through = through.min(newest);
    // Read anew before anything is given up: a device that joined at another relay just now wants what comes from now on.
    let record = tunnels::read(store, tunnel).await?;
    must_take_part(&record, device)?;
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
    write(store, tunnel, device, ahead).await?;
    store.give_up(tunnel, floor);
    Ok(())
}

/// A device was there just now.
pub(super) async fn seen(store: &Store, tunnel: &str, device: &DeviceKey) -> Result<(), MailboxError> {
    store.check_open()?;
    let devices = store.registry.devices(tunnel).unwrap_or_default();
    if devices.iter().all(|known| known.key != *device) {
        must_take_part(&tunnels::read(store, tunnel).await?, device)?;
    }
    tunnels::keep_name(store, tunnel).await?;
    let now = store.clock.now();
    let there_at = store.registry.there_at(tunnel, device);
    if there_at.is_some_and(|at| now.store < at.saturating_add(PRESENCE)) {
        return Ok(());
    }
    let seen = move |known| CursorRecord { seen_at: now.wall, there_at: Some(now.store), ..known };
    write(store, tunnel, device, seen).await
}

/// A device of which it is not known when it was there: it counts from now on.
pub(super) async fn count_from_now(
    store: &Store,
    tunnel: &str,
    device: &DeviceKey,
) -> Result<(), MailboxError> {
    let now = store.clock.now().store;
    write(store, tunnel, device, move |known| CursorRecord {
        there_at: known.there_at.or(Some(now)),
        ..known
    })
    .await
}

async fn write(
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

/// A device that takes part in the tunnel.
pub(super) fn must_take_part(
    record: &Versioned<TunnelRecord>,
    device: &DeviceKey,
) -> Result<(), MailboxError> {
    let takes_part = record.record.devices.iter().any(|known| known.key == *device);
    if takes_part { Ok(()) } else { Err(no_device(device)) }
}
