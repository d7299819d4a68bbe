//! The devices of a tunnel: listed, and revoked by the one that opened it.

use std::sync::Arc;

use hookmitt_event::{Timestamp, TunnelKind};
use hookmitt_inbox::KeptTunnel;
use hookmitt_tunnel::{Credentials, Devices, NoKey, SealingKey, TunnelError, Turn};
use hookmitt_wire::TunnelDevice;
use serde::Serialize;

use super::{listed::Tunnels, running::Running, view::Trouble};
use crate::EngineError;

/// How often a revocation is begun anew where the devices changed meanwhile.
const TRIES: usize = 3;

/// A device that takes part in a tunnel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DeviceView {
    /// Names it: its whole public key, in hex.
    pub id: String,
    /// What it is called: its computer's name when it joined.
    pub name: String,
    /// When it joined.
    #[schema(value_type = String, format = "date-time")]
    pub since: Timestamp,
    /// When it was there last.
    #[schema(value_type = String, format = "date-time")]
    pub last_seen_at: Timestamp,
    /// Whether it is connected now.
    pub connected: bool,
    /// It opened the tunnel, and may revoke the others.
    pub owner: bool,
    /// This one.
    pub this: bool,
}

/// A device that takes part no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct RevokedDevice {
    /// Which.
    pub revoked: DeviceView,
    /// Devices that stay and could not be told the new key, because nothing shows that they were invited: an older
    /// hookmitt runs there. They read nothing that comes from now on, and have to join by a new invitation.
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
    /// The devices of a tunnel, the oldest first.
    ///
    /// # Errors
    /// An unknown tunnel, one without a relay or connection; a relay that is too old.
    pub async fn devices(&self, id: i64) -> Result<Vec<DeviceView>, EngineError> {
        let (kept, running) = self.shared_tunnel(id).await?;
        let own = self.credentials(&kept).await?;
        let listed = running.line.devices().await?;
        Ok(listed.devices.iter().map(|device| DeviceView::of(device, &own)).collect())
    }

    /// Turns a device out, and the sealing key over: what comes from now on opens on the others alone.
    ///
    /// # Errors
    /// As [`devices`](Self::devices); an unknown device; whatever the relay says against it.
    pub async fn revoke_device(&self, id: i64, device: &str) -> Result<RevokedDevice, EngineError> {
        let (kept, running) = self.shared_tunnel(id).await?;
        let _alone = self.turning.lock().await;
        for _ in 1..TRIES {
            match self.try_revoke(&kept, &running, device).await {
                Err(EngineError::Tunnel(error)) if error.any_code() == "devices-changed" => {}
                outcome => return outcome,
            }
        }
        self.try_revoke(&kept, &running, device).await
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
        // Kept before the relay hears of it: no letter may come that nobody opens.
        keys.members = told.iter().map(|one| one.key).collect();
        // The key in use stays the second, however many attempts have failed before.
        keys.sealing = own.sealing_keys().into_iter().collect();
        keys.sealing.insert(0, turn.pair.secret.clone());
        keys.sealing.truncate(hookmitt_tunnel::SECRETS);
        keys.owner = Some(own.device_key());
        let before = self.keys.read(name).await?;
        self.keys.keep(name, &keys).await?;
        if let Err(error) = running.line.revoke(turn).await {
            if matches!(error, TunnelError::Refused(_) | TunnelError::OldRelay(_)) {
                self.keys.keep(name, &before).await?; // it surely was not turned over
            }
            return Err(error.into());
        }
        let view = |one: &TunnelDevice| DeviceView::of(one, &own);
        Ok(RevokedDevice { revoked: view(goes), without_key: untold.into_iter().map(view).collect() })
    }

    /// Keeps sealing keys that the owner had this device told, the newest first.
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

    /// A device's way into a tunnel, with the sealing key of now and whose tunnel it is, as an invitation says them. A device
    /// that opened its tunnel before that was noted learns it from the relay; an old relay doesn't tell.
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

    /// A tunnel that other devices may take part in, connected here.
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

/// The device that a text names: its id or the beginning of it, or what it is called.
fn found<'d>(
    devices: &'d [TunnelDevice],
    text: &str,
    own: &Credentials,
) -> Result<&'d TunnelDevice, EngineError> {
    let is_it = |one: &&TunnelDevice| {
        one.name == text || text.len() >= 4 && hex::encode(one.key).starts_with(&text.to_ascii_lowercase())
    };
    // A name is its device's own choice: none may stand in the way of another one's id.
    let by_id: Vec<_> =
        devices.iter().filter(|one| hex::encode(one.key).eq_ignore_ascii_case(text)).collect();
    let found: Vec<_> = if by_id.is_empty() { devices.iter().filter(is_it).collect() } else { by_id };
    match found.as_slice() {
        [one] if one.key == own.device_key() => {
            let words = "this is the device that you are on: to leave a tunnel, remove it here";
            Err(EngineError::BadInput(words.to_owned()))
        }
        [one] => Ok(one),
        [] => Err(EngineError::UnknownDevice(text.to_owned())),
        many => Err(EngineError::BadInput(format!(
            "{text:?} are {} devices; give one of the ids {}",
            many.len(),
            many.iter().map(|one| hex::encode(&one.key[..8])).collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// What is said where this device has no key for what comes.
pub(super) fn no_key(why: NoKey) -> Trouble {
    let message = format!("a device was revoked and the sealing key turned over, but {why}");
    let hint = "remove the tunnel here, and take part anew: `hookmitt tunnel invite` on the owner's computer, then `hookmitt tunnel join`";
    Trouble::new("no-sealing-key", message, hint)
}
