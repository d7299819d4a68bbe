//! A device's requests about the tunnel's devices: listing them, and revoking one.

use hookmitt_event::Explain as _;
use hookmitt_mailbox::{Mailbox, MailboxError, Revocation, short};
use hookmitt_wire::{RelayFrame, TunnelDevice};

use crate::{
    refused::{Refused, asked},
    session::Session,
};

/// The size limit of a note, in bytes: some keys, sealed and signed.
const LONGEST_NOTE: usize = 2 * 1024;

/// Sends the list of the tunnel's devices.
pub(crate) async fn tell<M: Mailbox>(session: &Session<'_, M>) -> Result<(), Refused> {
    let (relay, tunnel) = (session.relay, session.tunnel);
    let sealing_key = asked(relay.mailbox.tunnel(tunnel)).await?.ok_or_else(Refused::unknown)?.sealing_key;
    let mut devices = asked(relay.mailbox.devices(tunnel)).await?;
    devices.sort_by_key(|device| (device.joined_at, device.key));
    let devices = devices.into_iter().map(|device| TunnelDevice {
        is_connected: relay.sessions.has(tunnel, &device.key),
        key: device.key,
        name: device.name,
        joined_at: device.joined_at,
        seen_at: device.seen_at,
        is_owner: device.is_owner,
        proof: device.proof,
    });
    session.reply(RelayFrame::Devices { sealing_key, devices: devices.collect() })
}

/// Revokes a device: it is refused from now on, and its connection ends.
pub(crate) async fn revoke<M: Mailbox>(
    session: &Session<'_, M>,
    revocation: Revocation,
) -> Result<(), Refused> {
    let (relay, tunnel, device) = (session.relay, session.tunnel, revocation.device);
    let is_long = revocation.notes.iter().any(|(_, note)| note.len() > LONGEST_NOTE);
    // Anybody could open letters that are sealed to a key of small order.
    if is_long || hookmitt_seal::Sealer::new(revocation.sealing_key, "check").is_err() {
        return Err(Refused::new("bad-frame", "an invalid sealing key, or a note that is too long"));
    }
    let problem = match relay.mailbox.revoke(tunnel, &session.device, revocation).await {
        Ok(()) => None,
        Err(error @ (MailboxError::NotOwner | MailboxError::Changed | MailboxError::Unknown { .. })) => {
            Some((error.code().to_owned(), error.to_string()))
        }
        Err(error) => return asked(async { Err(error) }).await,
    };
    if problem.is_none() {
        tracing::info!(tunnel = short(tunnel), "a device was revoked");
        relay.sessions.turn_out(tunnel, &device);
    }
    session.reply(RelayFrame::Revoked(problem))
}
