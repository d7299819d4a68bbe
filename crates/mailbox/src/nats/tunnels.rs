//! Tunnels and their devices.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::jetstream::stream::LastRawMessageErrorKind;
use hookmitt_wire::Depth;

use super::{
    failure::{PATIENCE, Trouble, keep_trying, no_device, no_token, no_tunnel},
    names::{count_key, cursor_key, offer_key, tunnel_key},
    offers,
    records::{DeviceRecord, InviteRecord, TunnelRecord},
    store::Store,
    table::{Next, Versioned},
    tokens,
};
use crate::{
    Device, DeviceKey, MailboxError, NewDevice, NewTunnel, Revocation, Tunnel, age::micros,
    model::MOST_INVITES,
};

/// Opens a tunnel.
pub(super) async fn open(store: &Store, tunnel: NewTunnel) -> Result<(), MailboxError> {
    store.check_open()?;
    let now = store.clock.now();
    let NewTunnel { name, token, sealing_key, device } = tunnel;
    let known = tokens::read(store, &token).await?.filter(|known| known.record.revoked_at.is_none());
    let most = known.ok_or_else(|| no_token(&token))?.record.most_tunnels;
    let _claim = store.claims.claim(&name, &token, most, || store.registry.counted_of(&token, now.store))?;
    let device = DeviceRecord::new(device, now.wall);
    let record = TunnelRecord {
        token: token.clone(),
        sealing_key,
        owner: device.key,
        devices: vec![device],
        invites: Vec::new(),
        floor: 0,
        shut: false,
        shut_at: None,
        used: false,
    };
    let mut is_tried = false;
    let opened = store.tunnels.change(tunnel_key(&name), None, 0, |found: Option<&TunnelRecord>| {
        let is_ours = |found: &TunnelRecord| {
            is_tried && found.devices.iter().map(|device| device.key).eq([record.devices[0].key])
        };
        match found {
            None => {}
            Some(found) if is_ours(found) => return Ok((Next::Keep, ())),
            // Nobody but its own token knew of it, and nothing ever waited there.
            Some(found) if found.token == token && !found.used => {}
            Some(_) => return Err(MailboxError::NameTaken(name.clone())),
        }
        is_tried = true;
        Ok((Next::Write(record.clone()), ()))
    });
    if let (Some(opened), ()) = opened.await? {
        store.registry.set_tunnel(&name, opened);
    }
    tokens::used(store, &token).await
}

/// A device is connected, or a letter comes: from now on the name is never given out again.
pub(super) async fn keep_name(store: &Store, name: &str) -> Result<(), MailboxError> {
    if !store.registry.is_unused(name) {
        return Ok(());
    }
    // Many letters may be the first at once: one of them writes it.
    let _alone = store.naming.lock().await;
    if !store.registry.is_unused(name) {
        return Ok(());
    }
    change(store, name, |record| {
        record.used = true;
        Ok(())
    })
    .await
}

/// A tunnel from memory; one that this relay has not heard of is asked for.
pub(super) async fn find(store: &Store, name: &str) -> Result<Option<Arc<Tunnel>>, MailboxError> {
    store.check_open()?;
    if store.registry.record(name).is_none()
        && store.unheard.ask(name, Instant::now())
        && let Some(record) = learn(store, name).await?
    {
        offers::learn(store, name, &record.record.devices).await?;
    }
    Ok(store.registry.tunnel(name))
}

/// A tunnel that takes letters.
pub(super) async fn must_be_open(store: &Store, name: &str) -> Result<(), MailboxError> {
    let tunnel = find(store, name).await?;
    if tunnel.is_some_and(|tunnel| !tunnel.revoked) { Ok(()) } else { Err(no_tunnel(name)) }
}

/// A tunnel's record as it is now, where the tunnel is open.
pub(super) async fn read(store: &Store, name: &str) -> Result<Versioned<TunnelRecord>, MailboxError> {
    let record = learn(store, name).await?.filter(|record| !record.record.shut);
    let record = record.ok_or_else(|| no_tunnel(name))?;
    must_be_open(store, name).await?;
    Ok(record)
}

async fn learn(store: &Store, name: &str) -> Result<Option<Versioned<TunnelRecord>>, MailboxError> {
    let seen = store.registry.revision(name);
    let record = store.tunnels.read::<TunnelRecord>(&tunnel_key(name), seen).await?;
    if let Some(record) = &record {
        if !store.registry.knows_token(&record.record.token) {
            tokens::read(store, &record.record.token).await?;
        }
        store.registry.set_tunnel(name, record.clone());
    }
    Ok(record)
}

/// Keeps a one-time code; of too many the oldest gives way.
pub(super) async fn add_invite(
    store: &Store,
    name: &str,
    code: [u8; 32],
    lasting: Duration,
) -> Result<i64, MailboxError> {
    let now = store.clock.now();
    let [until, store_until] = [now.wall, now.store].map(|now| now.saturating_add(micros(lasting)));
    change(store, name, |record| {
        record.invites.retain(|invite| invite.hash != code);
        record.invites.push(InviteRecord { hash: code, until, store_until: Some(store_until) });
        let too_many = record.invites.len().saturating_sub(MOST_INVITES);
        record.invites.drain(..too_many);
        Ok(())
    })
    .await?;
    Ok(until)
}

/// Registers a device by a one-time code.
pub(super) async fn join(
    store: &Store,
    name: &str,
    code: [u8; 32],
    device: NewDevice,
    most: usize,
) -> Result<bool, MailboxError> {
    let no_code = || MailboxError::Unknown { what: "code", name: "that was given".to_owned() };
    // Looked up before anything is written: the code, the device and where it begins are one write, so that no cut leaves
    // half of it. What comes between the look and the write is from before its time: the others may have had it deleted.
    let (now, from, mut is_added) = (store.clock.now(), newest(store, name).await?, false);
    let joined = change(store, name, |record| {
        let is_there = record.devices.iter().any(|known| known.key == device.key);
        if is_added && is_there {
            return Ok(()); // the word of it was lost
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
    Ok(is_added) // else it takes part already, and keeps its place
}

/// The position of a tunnel's newest letter, or one before which all are gone.
async fn newest(store: &Store, name: &str) -> Result<u64, MailboxError> {
    let (stream, mailbox) = (&store.shard(name).stream, store.names.mailbox(name));
    let last = keep_trying(PATIENCE, || async {
        match stream.get_last_raw_message_by_subject(&mailbox).await {
            Ok(last) => Ok(last.sequence),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(0),
            Err(error) => Err(Trouble::passing(error)),
        }
    });
    let (_, known) = store.shard(name).index.waiting(name, u64::MAX);
    Ok(last.await?.max(known))
}

/// A tunnel's devices, as they are now.
pub(super) async fn devices(store: &Store, name: &str) -> Result<Vec<Device>, MailboxError> {
    store.check_open()?;
    learn(store, name).await?;
    store.registry.devices(name).ok_or_else(|| no_tunnel(name))
}

/// A device leaves, or with `idle_since` is forgotten where it was not there since, in store time. Answers whether it is
/// gone.
pub(super) async fn leave(
    store: &Store,
    name: &str,
    device: &DeviceKey,
    idle_since: Option<i64>,
) -> Result<bool, MailboxError> {
    must_be_open(store, name).await?;
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
        // Where nothing ever waited nothing is given up: the name may come back.
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

/// Removes what is left of a device that went, and the letters that only it wanted.
async fn forget(store: &Store, name: &str, device: &DeviceKey, floor: u64) -> Result<(), MailboxError> {
    store.give_up(name, floor);
    store.cursors.erase(&store.js, &cursor_key(name, device)).await?;
    store.cursors.erase(&store.js, &count_key(name, Some(device))).await?;
    store.tunnels.erase(&store.js, &offer_key(name, device)).await
}

/// A device says which letters it reads, and shows that it was invited.
pub(super) async fn introduce(
    store: &Store,
    name: &str,
    device: &DeviceKey,
    letters: u8,
    proof: [u8; 32],
) -> Result<(), MailboxError> {
    let is_said = |known: &DeviceRecord| known.letters == letters && known.proof == Some(proof);
    let record = read(store, name).await?.record;
    let known = record.devices.iter().find(|known| known.key == *device).ok_or_else(|| no_device(device))?;
    if is_said(known) {
        return Ok(()); // every app says it each time that it connects
    }
    change(store, name, |record| {
        let known = record.devices.iter_mut().find(|known| known.key == *device);
        let known = known.ok_or_else(|| no_device(device))?;
        (known.letters, known.proof) = (letters, Some(proof));
        Ok(())
    })
    .await
}

/// The owner turns a device out, and the sealing key over.
pub(super) async fn revoke(
    store: &Store,
    name: &str,
    by: &DeviceKey,
    revocation: &Revocation,
) -> Result<(), MailboxError> {
    let Revocation { device, before, sealing_key, notes } = revocation;
    let mut floor = 0;
    change(store, name, |record| {
        let is_out = record.devices.iter().all(|known| known.key != *device);
        if is_out && record.sealing_key == *sealing_key {
            return Ok(()); // the word of it was lost
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

/// What waits for a device.
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
    let (waiting, newest) = store.shard(name).index.waiting(name, known.cursor);
    Ok((store.registry.depth(name, device, waiting), newest))
}

/// Changes the record of an open tunnel.
pub(super) async fn change(
    store: &Store,
    name: &str,
    mut change: impl FnMut(&mut TunnelRecord) -> Result<(), MailboxError>,
) -> Result<(), MailboxError> {
    read(store, name).await?;
    let seen = store.registry.revision(name);
    let changed = store.tunnels.change_alone(tunnel_key(name), seen, |found: Option<&TunnelRecord>| {
        let mut record = found.filter(|record| !record.shut).cloned().ok_or_else(|| no_tunnel(name))?;
        change(&mut record)?;
        Ok((Next::Write(record), ()))
    });
    if let (Some(record), ()) = changed.await? {
        store.registry.set_tunnel(name, record);
    }
    Ok(())
}
