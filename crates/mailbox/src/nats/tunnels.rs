//! Opens, finds and changes tunnels.

use std::{sync::Arc, time::Instant};

use super::{
    names::{offer_key, tunnel_key},
    records::{DeviceRecord, TunnelRecord},
    store::Store,
    table::{Next, Versioned},
    tokens::{self, Reservations, no_token},
};
use crate::{DeviceKey, MailboxError, NewTunnel, Tunnel};

/// Opens a tunnel.
pub(super) async fn open(
    store: &Store,
    reservations: &Reservations,
    tunnel: NewTunnel,
) -> Result<(), MailboxError> {
    store.check_open()?;
    let now = store.clock.now();
    let NewTunnel { name, token, sealing_key, device } = tunnel;
    let known = tokens::read(store, &token).await?.filter(|known| known.record.revoked_at.is_none());
    let most = known.ok_or_else(|| no_token(&token))?.record.most_tunnels;
    let _reservation =
        reservations.reserve(&name, &token, most, || store.registry.counted_of(&token, now.store))?;
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
            // Only its own token knew about it, and no letter ever waited there.
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

/// Marks a tunnel as used, because a device is connected or a letter arrives: its name is never given out again.
pub(super) async fn keep_name(store: &Store, name: &str) -> Result<(), MailboxError> {
    if !store.registry.is_unused(name) {
        return Ok(());
    }
    // Many letters may be the first at once; only one of them writes the mark.
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

/// Returns a tunnel from memory. If this relay has not heard of it, the servers are asked.
pub(super) async fn find(store: &Store, name: &str) -> Result<Option<Arc<Tunnel>>, MailboxError> {
    store.check_open()?;
    if store.registry.record(name).is_none()
        && store.lookups.allow(name, Instant::now())
        && let Some(record) = learn(store, name).await?
    {
        learn_offers(store, name, &record.record.devices).await?;
    }
    Ok(store.registry.tunnel(name))
}

/// Fails unless the tunnel takes letters.
pub(super) async fn must_be_open(store: &Store, name: &str) -> Result<(), MailboxError> {
    let tunnel = find(store, name).await?;
    if tunnel.is_some_and(|tunnel| !tunnel.revoked) { Ok(()) } else { Err(no_tunnel(name)) }
}

/// Returns the current record of an open tunnel.
pub(super) async fn read(store: &Store, name: &str) -> Result<Versioned<TunnelRecord>, MailboxError> {
    let record = learn(store, name).await?.filter(|record| !record.record.shut);
    let record = record.ok_or_else(|| no_tunnel(name))?;
    must_be_open(store, name).await?;
    Ok(record)
}

/// Returns the current record of a tunnel, open or not, and updates the registry with it.
pub(super) async fn learn(
    store: &Store,
    name: &str,
) -> Result<Option<Versioned<TunnelRecord>>, MailboxError> {
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

/// Reads the sources that these devices take.
async fn learn_offers(store: &Store, name: &str, devices: &[DeviceRecord]) -> Result<(), MailboxError> {
    for device in devices {
        if let Some(offer) = store.tunnels.read(&offer_key(name, &device.key), 0).await? {
            store.registry.set_offer(name, device.key, offer);
        }
    }
    Ok(())
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

/// Fails unless the device takes part in the tunnel.
pub(super) fn must_take_part(
    record: &Versioned<TunnelRecord>,
    device: &DeviceKey,
) -> Result<(), MailboxError> {
    let takes_part = record.record.devices.iter().any(|known| known.key == *device);
    if takes_part { Ok(()) } else { Err(no_device(device)) }
}

/// Returns the error for a tunnel that does not exist or is shut.
pub(super) fn no_tunnel(name: &str) -> MailboxError {
    MailboxError::Unknown { what: "tunnel", name: name.to_owned() }
}

/// Returns the error for a device that the tunnel does not have.
pub(super) fn no_device(key: &[u8; 32]) -> MailboxError {
    MailboxError::Unknown { what: "device", name: hex::encode(key) }
}
