//! The devices of a tunnel: lists them, and lets the one that opened the tunnel revoke others.

use std::sync::Arc;

use hookmitt_event::{Deed, Timestamp, TunnelKind};
use hookmitt_inbox::{KeptTunnel, Subject};
use hookmitt_tunnel::{Credentials, Devices, NoKey, SealingKey, TunnelError, Turn};
use hookmitt_wire::TunnelDevice;
use serde::Serialize;

use super::{listed::Tunnels, running::Running, view::Trouble};
use crate::EngineError;

/// How many times a revocation is tried if the devices change meanwhile.
const TRIES: usize = 3;

/// A device that takes part in a tunnel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DeviceView {
    /// The id of the device: its whole public key, in hex.
    pub id: String,
    /// The name of the device: its computer's name when it joined.
    pub name: String,
    /// When the device joined.
    #[schema(value_type = String, format = "date-time")]
    pub since: Timestamp,
    /// When the device was last connected.
    #[schema(value_type = String, format = "date-time")]
    pub last_seen_at: Timestamp,
    /// Whether the device is connected now.
    pub connected: bool,
    /// Whether the device opened the tunnel, and so may revoke the others.
    pub owner: bool,
    /// Whether this is the device that answers.
    pub this: bool,
}

/// The outcome of a revocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct RevokedDevice {
    /// The device that was revoked.
    pub revoked: DeviceView,
    /// Remaining devices that could not be given the new key, because nothing shows that they were invited: they run an
    /// older hookmitt. They can't read later events, and have to join with a new invitation.
    pub without_key: Vec<DeviceView>,
}

impl DeviceView {
    fn of(device: &TunnelDevice, own: &Credentials) -> Self {
        Self {
            id: hex::encode(device.key),
            name: device.name.chars().filter(|letter| !letter.is_control()).take(100).collect(),
            since: Timestamp::from_micros(device.joined_at),
            last_seen_at: Timestamp::from_micros(device.seen_at),
            connected: device.is_connected,
            owner: device.is_owner,
            this: device.key == own.device_key(),
        }
    }
}

impl Tunnels {
    /// Returns the devices of a tunnel, oldest first.
    ///
    /// # Errors
    /// Fails if the tunnel is unknown, has no relay or isn't connected here, or if the relay is too old.
    pub async fn devices(&self, id: i64) -> Result<Vec<DeviceView>, EngineError> {
        let (kept, running) = self.shared_tunnel(id).await?;
        let own = self.credentials(&kept).await?;
        let listed = running.line.devices().await?;
        Ok(listed.devices.iter().map(|device| DeviceView::of(device, &own)).collect())
    }

    /// Revokes a device and replaces the sealing key, so that only the other devices can open later letters.
    ///
    /// # Errors
    /// Fails like [`devices`](Self::devices), and if the device is unknown or the relay refuses.
    pub async fn revoke_device(&self, id: i64, device: &str) -> Result<RevokedDevice, EngineError> {
        let (kept, running) = self.shared_tunnel(id).await?;
        let _alone = self.turning.lock().await;
        let revoked = self.revoke_anew(&kept, &running, device).await?;
        let subject = Subject::default().with("tunnel", &*kept.label).with("device", &*revoked.revoked.name);
        self.base.inbox.record(Deed::DeviceRevoked, subject).await?;
        Ok(revoked)
    }

    /// Revokes a device, and tries again if other devices came or went meanwhile.
    async fn revoke_anew(
        &self,
        kept: &KeptTunnel,
        running: &Running,
        device: &str,
    ) -> Result<RevokedDevice, EngineError> {
        for _ in 1..TRIES {
            match self.try_revoke(kept, running, device).await {
                Err(EngineError::Tunnel(error)) if error.any_code() == "devices-changed" => {}
                outcome => return outcome,
            }
        }
        self.try_revoke(kept, running, device).await
    }

    async fn try_revoke(
        &self,
        kept: &KeptTunnel,
        running: &Running,
        device: &str,
    ) -> Result<RevokedDevice, EngineError> {
        let Devices { sealing_key, devices } = running.line.devices().await?;
        let own = self.credentials(kept).await?.with_current(&sealing_key);
        let goes = found(&devices, device, &own)?;
        let name = kept.keys.as_deref().unwrap_or_default();
        let mut keys = self.keys.read(name).await?;
        let is_trusted = |one: &TunnelDevice| keys.members.contains(&one.key) || own.has_invited(one);
        let stay = devices.iter().filter(|one| one.key != goes.key && one.key != own.device_key());
        let turn = Turn::new(&own, sealing_key, &devices, goes.key, is_trusted);
        let (told, untold): (Vec<_>, Vec<_>) = stay.partition(|one| turn.tells(&one.key));
        // Stored before the relay hears of it, so that no letter arrives that nobody can open.
        keys.members = told.iter().map(|one| one.key).collect();
        // The key in use stays in second place, however many attempts have failed before.
        keys.sealing = own.sealing_keys().into_iter().collect();
        keys.sealing.insert(0, turn.pair.secret.clone());
        keys.sealing.truncate(hookmitt_tunnel::SECRETS);
        keys.owner = Some(own.device_key());
        let before = self.keys.read(name).await?;
        self.keys.keep(name, &keys).await?;
        if let Err(error) = running.line.revoke(turn).await {
            if matches!(error, TunnelError::Refused(_) | TunnelError::OldRelay(_)) {
                self.keys.keep(name, &before).await?; // the relay certainly kept the old key
            }
            return Err(error.into());
        }
        let view = |one: &TunnelDevice| DeviceView::of(one, &own);
        Ok(RevokedDevice { revoked: view(goes), without_key: untold.into_iter().map(view).collect() })
    }

    /// Stores sealing keys, newest first, that the tunnel's owner sent to this device.
    pub(super) async fn keep_sealing_keys(
        &self,
        tunnel: i64,
        sealing: Vec<SealingKey>,
    ) -> Result<(), EngineError> {
        let _alone = self.turning.lock().await;
        let name = self.base.inbox.tunnel(tunnel).await?.keys.unwrap_or_default();
        let mut keys = self.keys.read(&name).await?;
        for key in sealing.iter().rev() {
            if !keys.sealing.contains(key) {
                keys.sealing.insert(0, key.clone());
            }
        }
        keys.sealing.truncate(hookmitt_tunnel::SECRETS);
        self.keys.keep(&name, &keys).await
    }

    /// Returns this device's credentials with the current sealing key and the tunnel's owner, for an invitation. If the
    /// owner was not stored when the tunnel was opened here, the relay says whether it is this device; an old relay
    /// can't tell.
    pub(super) async fn current_credentials(
        &self,
        kept: &KeptTunnel,
        running: &Running,
    ) -> Result<Credentials, EngineError> {
        let own = self.credentials(kept).await?;
        let Devices { sealing_key, devices } = match running.line.devices().await {
            Ok(found) => found,
            Err(TunnelError::OldRelay(_)) => return Ok(own),
            Err(error) => return Err(error.into()),
        };
        let is_owner = devices.iter().any(|one| one.is_owner && one.key == own.device_key());
        let owner = own.owner.or_else(|| is_owner.then(|| own.device_key()));
        Ok(Credentials { owner, ..own.with_current(&sealing_key) })
    }

    /// Returns a relay's tunnel that is connected here, so that other devices can take part in it.
    pub(super) async fn shared_tunnel(&self, id: i64) -> Result<(KeptTunnel, Arc<Running>), EngineError> {
        let kept = self.base.inbox.tunnel(id).await?;
        if kept.kind != TunnelKind::Relay {
            let words = "only a relay's tunnel can be shared: a channel or a program serves this inbox alone";
            return Err(EngineError::BadInput(words.to_owned()));
        }
        let running = self.register.one(id).ok_or(TunnelError::NotConnected)?;
        Ok((kept, running))
    }
}

/// Returns the device that a text names: by its id, the beginning of its id, or its name.
fn found<'d>(
    devices: &'d [TunnelDevice],
    text: &str,
    own: &Credentials,
) -> Result<&'d TunnelDevice, EngineError> {
    let is_it = |one: &&TunnelDevice| {
        one.name == text || text.len() >= 4 && hex::encode(one.key).starts_with(&text.to_ascii_lowercase())
    };
    // A device chooses its own name, so a whole id takes precedence over names.
    let by_id: Vec<_> =
        devices.iter().filter(|one| hex::encode(one.key).eq_ignore_ascii_case(text)).collect();
    let found: Vec<_> = if by_id.is_empty() { devices.iter().filter(is_it).collect() } else { by_id };
    match found.as_slice() {
        [one] if one.key == own.device_key() => {
            let words = "this is the device you are using: to leave a tunnel, remove the tunnel here";
            Err(EngineError::BadInput(words.to_owned()))
        }
        [one] => Ok(one),
        [] => Err(EngineError::UnknownDevice(text.to_owned())),
        many => Err(EngineError::BadInput(format!(
            "{} devices are called {text:?}; use one of the ids {}",
            many.len(),
            many.iter().map(|one| hex::encode(&one.key[..8])).collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// Returns the trouble to show if this device has no key for incoming letters.
pub(super) fn no_key(why: NoKey) -> Trouble {
    let message = format!("a device was revoked and the sealing key changed, but {why}");
    let hint = "remove the tunnel here and join again: `hookmitt tunnel invite` on the owner's computer, then \
                `hookmitt tunnel join`";
    Trouble::new("no-sealing-key", message, hint)
}
