//! What each device of a tunnel takes: a key of its own each, as a tunnel's record must fit in one message.

use hookmitt_wire::SourceOffer;

use super::{
    acks::must_take_part, names::offer_key, records::DeviceRecord, store::Store, table::Next, tunnels,
};
use crate::{DeviceKey, MailboxError};

/// Replaces the sources that a device takes. An app says them whenever it connects: mostly they are as they were.
pub(super) async fn set(
    store: &Store,
    name: &str,
    device: &DeviceKey,
    sources: Vec<SourceOffer>,
) -> Result<(), MailboxError> {
    must_take_part(&tunnels::read(store, name).await?, device)?;
    let changed = store.tunnels.change(offer_key(name, device), None, 0, |now: Option<&Vec<SourceOffer>>| {
        Ok((if now == Some(&sources) { Next::Keep } else { Next::Write(sources.clone()) }, ()))
    });
    if let (Some(offer), ()) = changed.await? {
        store.registry.set_offer(name, *device, offer);
    }
    Ok(())
}

/// Reads what these devices take.
pub(super) async fn learn(store: &Store, name: &str, devices: &[DeviceRecord]) -> Result<(), MailboxError> {
    for device in devices {
        if let Some(offer) = store.tunnels.read(&offer_key(name, &device.key), 0).await? {
            store.registry.set_offer(name, device.key, offer);
        }
    }
    Ok(())
}
