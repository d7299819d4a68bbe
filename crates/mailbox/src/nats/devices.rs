//! Devices: invited, joined, seen and removed; the sources that each takes, and what waits for it.

use std::time::Duration;

use async_nats::jetstream::stream::LastRawMessageErrorKind;
use hookmitt_wire::{Depth, SourceOffer};

use super::{
    acks,
    index::Backlog,
    names::{count_key, cursor_key, offer_key, tunnel_key},
    records::{CountRecord, CursorRecord, DeviceRecord, InviteRecord, TunnelRecord},
    servers::{PATIENCE, Trouble, keep_trying},
    store::Store,
    table::Next,
    tunnels::{self, no_device, no_tunnel},
};
use crate::{Device, DeviceKey, MailboxError, NewDevice, Revocation, age::micros, model::MOST_INVITES};

/// How old the written time of a device's last connection may be, in microseconds. It is used for expiry after days,
/// and each write costs a commit.
const PRESENCE: i64 = 10 * 60 * 1_000_000;

/// Stores a one-time code. If there are too many codes, the oldest is removed.
pub(super) async fn add_invite(
    store: &Store,
    name: &str,
    code: [u8; 32],
    lasting: Duration,
) -> Result<i64, MailboxError> {
    let now = store.clock.now();
    let [until, store_until] = [now.wall, now.store].map(|now| now.saturating_add(micros(lasting)));
    tunnels::change(store, name, |record| {
        record.invites.retain(|invite| invite.hash != code);
        record.invites.push(InviteRecord { hash: code, until, store_until: Some(store_until) });
        let too_many = record.invites.len().saturating_sub(MOST_INVITES);
        record.invites.drain(..too_many);
        Ok(())
    })
    .await?;
    Ok(until)
}

/// Registers a device by a one-time code. Returns whether the device is new.
pub(super) async fn join(
    store: &Store,
    name: &str,
    code: [u8; 32],
    device: NewDevice,
    most: usize,
) -> Result<bool, MailboxError> {
    let no_code = || MailboxError::Unknown { what: "code", name: "that was given".to_owned() };
    // The newest position is read before anything is written, so that the code, the device and its start are one write,
    // of which a power cut can't leave half. Letters that arrive between the read and the write count as older than the
    // device: the other devices may already have had them deleted.
    let (now, from, mut is_added) = (store.clock.now(), newest(store, name).await?, false);
    let joined = tunnels::change(store, name, |record| {
        let is_there = record.devices.iter().any(|known| known.key == device.key);
        if is_added && is_there {
            return Ok(()); // the answer to an earlier try was lost
        }
        let invite = record.invites.iter().position(|invite| invite.hash == code).ok_or_else(no_code)?;
        if record.invites.remove(invite).is_over(now) {
            return Err(no_code());
        }
        if !is_there && record.devices.len() >= most {
            return Err(MailboxError::TooManyDevices(most));
        }
        if !is_there {
            is_added = true;
            record.devices.push(DeviceRecord { from, ..DeviceRecord::new(device.clone(), now.wall) });
        }
        Ok(())
    });
    joined.await?;
    Ok(is_added) // if false, it takes part already and keeps its position
}

/// Returns the position of a tunnel's newest letter; if no letter is left, a position up to which all are gone.
async fn newest(store: &Store, name: &str) -> Result<u64, MailboxError> {
    let (stream, mailbox) = (&store.shard(name).stream, store.names.mailbox(name));
    let last = keep_trying(PATIENCE, || async {
        match stream.get_last_raw_message_by_subject(&mailbox).await {
            Ok(last) => Ok(last.sequence),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(0),
            Err(error) => Err(Trouble::passing(error)),
        }
    });
    let (_, known) = store.shard(name).index.backlog(name, u64::MAX);
    Ok(last.await?.max(known))
}

/// Returns a tunnel's devices as they are now.
pub(super) async fn devices(store: &Store, name: &str) -> Result<Vec<Device>, MailboxError> {
    store.check_open()?;
    tunnels::learn(store, name).await?;
    store.registry.devices(name).ok_or_else(|| no_tunnel(name))
}

/// Removes a device that leaves. With `idle_since`, removes it only if it was not connected since then, in store time.
/// Returns whether the device is gone.
pub(super) async fn leave(
    store: &Store,
    name: &str,
    device: &DeviceKey,
    idle_since: Option<i64>,
) -> Result<bool, MailboxError> {
    tunnels::must_be_open(store, name).await?;
    let mut is_tried = false;
    let mut floor = 0;
    let seen = store.registry.revision(name);
    let left = store.tunnels.change_alone(tunnel_key(name), seen, |found: Option<&TunnelRecord>| {
        let mut record =
            found.filter(|record| !record.shut || is_tried).cloned().ok_or_else(|| no_tunnel(name))?;
        let Some(at) = record.devices.iter().position(|known| known.key == *device) else {
            return if is_tried || idle_since.is_some() {
                Ok((Next::Keep, true))
            } else {
                Err(no_device(device))
            };
        };
        let there_at = store.registry.there_at(name, device);
        if idle_since.is_some_and(|since| there_at.is_none_or(|at| at >= since)) {
            return Ok((Next::Keep, false));
        }
        record.devices.remove(at);
        record.shut = record.devices.is_empty();
        record.shut_at = record.shut.then(|| store.clock.now().store);
        // If no letter was ever put, nothing is given up, because the name may be used again.
        floor = if record.used { store.registry.slowest(name, &record.devices, None) } else { 0 };
        record.floor = record.floor.max(floor);
        is_tried = true;
        Ok((Next::Write(record), true))
    });
    let (record, is_gone) = left.await?;
    if let Some(record) = record {
        store.registry.set_tunnel(name, record);
    }
    if is_gone {
        forget(store, name, device, floor).await?;
    }
    Ok(is_gone)
}

/// Removes the other records of a device that is gone, and the letters that only it wanted.
async fn forget(store: &Store, name: &str, device: &DeviceKey, floor: u64) -> Result<(), MailboxError> {
    acks::give_up(store, name, floor);
    store.cursors.erase(&store.js, &cursor_key(name, device)).await?;
    store.cursors.erase(&store.js, &count_key(name, Some(device))).await?;
    store.tunnels.erase(&store.js, &offer_key(name, device)).await
}

/// Records which letters a device reads, and the proof that it was invited.
pub(super) async fn introduce(
    store: &Store,
    name: &str,
    device: &DeviceKey,
    letters: u8,
    proof: [u8; 32],
) -> Result<(), MailboxError> {
    let is_said = |known: &DeviceRecord| known.letters == letters && known.proof == Some(proof);
    let record = tunnels::read(store, name).await?.record;
    let known = record.devices.iter().find(|known| known.key == *device).ok_or_else(|| no_device(device))?;
    if is_said(known) {
        return Ok(()); // every app introduces itself each time it connects
    }
    tunnels::change(store, name, |record| {
        let known = record.devices.iter_mut().find(|known| known.key == *device);
        let known = known.ok_or_else(|| no_device(device))?;
        (known.letters, known.proof) = (letters, Some(proof));
        Ok(())
    })
    .await
}

/// Revokes a device on behalf of the owner, and replaces the sealing key.
pub(super) async fn revoke(
    store: &Store,
    name: &str,
    by: &DeviceKey,
    revocation: &Revocation,
) -> Result<(), MailboxError> {
    let Revocation { device, before, sealing_key, notes } = revocation;
    let mut floor = 0;
    tunnels::change(store, name, |record| {
        let is_out = record.devices.iter().all(|known| known.key != *device);
        if is_out && record.sealing_key == *sealing_key {
            return Ok(()); // the answer to an earlier try was lost
        }
        if record.owner() != Some(*by) || device == by {
            return Err(MailboxError::NotOwner);
        }
        if is_out {
            return Err(no_device(device));
        }
        let members: Vec<_> = record.devices.iter().map(|known| known.key).collect();
        if record.sealing_key != *before || !revocation.knows(&members) {
            return Err(MailboxError::Changed);
        }
        record.owner = *by;
        record.sealing_key = *sealing_key;
        record.invites.clear();
        record.devices.retain(|known| known.key != *device);
        for known in &mut record.devices {
            let note = notes.iter().find(|(told, _)| *told == known.key);
            known.note = note.map(|(_, note)| note.to_vec()).unwrap_or_default();
        }
        floor = store.registry.slowest(name, &record.devices, None);
        record.floor = record.floor.max(floor);
        Ok(())
    })
    .await?;
    forget(store, name, device, floor).await
}

/// Returns what waits for a device, and the newest position.
pub(super) async fn depth(
    store: &Store,
    name: &str,
    device: &DeviceKey,
) -> Result<(Depth, u64), MailboxError> {
    store.check_open()?;
    let devices = match store.registry.devices(name) {
        Some(devices) => devices,
        None => devices(store, name).await?,
    };
    let known = devices.iter().find(|known| known.key == *device).ok_or_else(|| no_device(device))?;
    let (Backlog { letters, bytes, oldest }, newest) = store.shard(name).index.backlog(name, known.cursor);
    let CountRecord { refused, refused_at, unknown } = store.counts.of(name, device);
    Ok((Depth { letters, bytes, oldest, refused, refused_at, unknown }, newest))
}

/// Records that a device is connected, or was until just now.
pub(super) async fn seen(store: &Store, tunnel: &str, device: &DeviceKey) -> Result<(), MailboxError> {
    store.check_open()?;
    let devices = store.registry.devices(tunnel).unwrap_or_default();
    if devices.iter().all(|known| known.key != *device) {
        tunnels::must_take_part(&tunnels::read(store, tunnel).await?, device)?;
    }
    tunnels::keep_name(store, tunnel).await?;
    let now = store.clock.now();
    let there_at = store.registry.there_at(tunnel, device);
    if there_at.is_some_and(|at| now.store < at.saturating_add(PRESENCE)) {
        return Ok(());
    }
    let seen = move |known| CursorRecord { seen_at: now.wall, there_at: Some(now.store), ..known };
    acks::write_cursor(store, tunnel, device, seen).await
}

/// Makes a device age from now on if it is not known when it was last connected.
pub(super) async fn count_from_now(
    store: &Store,
    tunnel: &str,
    device: &DeviceKey,
) -> Result<(), MailboxError> {
    let now = store.clock.now().store;
    acks::write_cursor(store, tunnel, device, move |known| CursorRecord {
        there_at: known.there_at.or(Some(now)),
        ..known
    })
    .await
}

/// Replaces the sources that a device takes. An app sends them whenever it connects, so mostly nothing changes.
pub(super) async fn set_sources(
    store: &Store,
    name: &str,
    device: &DeviceKey,
    sources: Vec<SourceOffer>,
) -> Result<(), MailboxError> {
    tunnels::must_take_part(&tunnels::read(store, name).await?, device)?;
    let changed = store.tunnels.change(offer_key(name, device), None, 0, |now: Option<&Vec<SourceOffer>>| {
        Ok((if now == Some(&sources) { Next::Keep } else { Next::Write(sources.clone()) }, ()))
    });
    if let (Some(offer), ()) = changed.await? {
        store.registry.set_offer(name, *device, offer);
    }
    Ok(())
}
