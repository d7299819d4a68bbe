//! What a device needs to connect to its tunnel.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signer as _, SigningKey};
use hookmitt_seal::KeyPair;
use hookmitt_wire::{Invited, Join, OpenTunnel, hello_text};
use url::Url;
use zeroize::Zeroizing;

use crate::TunnelError;

/// A device's access to a tunnel. It holds secrets, so it belongs into the vault.
#[derive(Clone)]
pub struct Credentials {
    /// The relay's URL.
    pub relay: Url,
    /// The tunnel's name at the relay; empty until the tunnel is [opened](crate::open).
    pub tunnel: String,
    /// The seed of this device's Ed25519 key.
    pub device: Zeroizing<[u8; 32]>,
    /// The tunnel's X25519 secret key, which opens its letters.
    pub sealing: Zeroizing<[u8; 32]>,
    /// Earlier secret keys, newest first: letters that were sealed before the key was replaced may still wait at the
    /// relay.
    pub older: Vec<Zeroizing<[u8; 32]>>,
    /// The public key of the device that opened the tunnel (its owner), if known. New sealing keys are accepted only
    /// from the owner.
    pub owner: Option<[u8; 32]>,
}

impl Credentials {
    /// Makes new keys for a tunnel that is about to be opened.
    pub fn fresh(relay: Url) -> Self {
        let (device, sealing) = (seed(), KeyPair::fresh().secret);
        let owner = Some(SigningKey::from_bytes(&device).verifying_key().to_bytes());
        Self { relay, tunnel: String::new(), device, sealing, older: Vec::new(), owner }
    }

    /// Makes a new device key for a tunnel to which this device was invited.
    ///
    /// # Errors
    /// Returns [`TunnelError::Invite`] if [`read_invite`](crate::read_invite) would have refused the invite.
    pub fn invited(invited: &Invited) -> Result<Self, TunnelError> {
        let relay = invited.relay.parse().map_err(|_| TunnelError::Invite("its relay isn't a URL"))?;
        let sealing = key(&invited.sealing_secret).ok_or(TunnelError::Invite("its key is damaged"))?;
        let owner = invited.owner.as_deref().map(|owner| {
            key(owner).map(|owner| *owner).ok_or(TunnelError::Invite("its owner's key is damaged"))
        });
        let (tunnel, owner) = (invited.tunnel.clone(), owner.transpose()?);
        Ok(Self { relay, tunnel, device: seed(), sealing, older: Vec::new(), owner })
    }

    /// Returns the body of the request that [`open`](crate::open) sends.
    ///
    /// # Errors
    /// Returns [`TunnelError::Key`] if the sealing key is not valid.
    pub fn order(&self, name: Option<String>, device_name: &str) -> Result<OpenTunnel, TunnelError> {
        Ok(OpenTunnel {
            name,
            sealing_key: STANDARD.encode(KeyPair::from_secret(&self.sealing)?.public),
            device_key: STANDARD.encode(self.device_key()),
            device_name: device_name.to_owned(),
        })
    }

    /// Returns the body of the request that [`join`](crate::join) sends.
    pub fn joining(&self, code: &str, device_name: &str) -> Join {
        Join {
            tunnel: self.tunnel.clone(),
            code: code.to_owned(),
            device_key: STANDARD.encode(self.device_key()),
            device_name: device_name.to_owned(),
        }
    }

    /// Returns what a teammate needs to join, with the code that the relay made.
    pub fn invite(&self, code: String) -> Invited {
        Invited {
            relay: self.relay.to_string(),
            tunnel: self.tunnel.clone(),
            sealing_secret: STANDARD.encode(*self.sealing),
            code,
            owner: self.owner.map(|owner| STANDARD.encode(owner)),
        }
    }

    /// Makes the sealing key with this public key the newest, if this device has it. A newer key that never reached the
    /// relay is useless to other devices.
    #[must_use]
    pub fn with_current(mut self, sealing_key: &[u8; 32]) -> Self {
        let mut keys = self.sealing_keys();
        let is_it = |key: &Zeroizing<[u8; 32]>| {
            KeyPair::from_secret(key).is_ok_and(|pair| pair.public == *sealing_key)
        };
        if let Some(at) = keys.iter().position(is_it) {
            self.sealing = keys.remove(at);
            self.older = keys;
        }
        self
    }

    /// Returns all secret sealing keys, newest first.
    pub fn sealing_keys(&self) -> Vec<Zeroizing<[u8; 32]>> {
        [&self.sealing].into_iter().chain(&self.older).cloned().collect()
    }

    /// Returns the public key by which the relay knows this device.
    pub fn device_key(&self) -> [u8; 32] {
        self.signing().verifying_key().to_bytes()
    }

    pub(crate) fn sign_hello(&self, nonce: &[u8; 32]) -> [u8; 64] {
        self.signing().sign(&hello_text(&self.tunnel, nonce)).to_bytes()
    }

    pub(crate) fn signing(&self) -> SigningKey {
        SigningKey::from_bytes(&self.device)
    }
}

impl fmt::Debug for Credentials {
    /// Leaves the secrets out.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Credentials")
            .field("relay", &self.relay.as_str())
            .field("tunnel", &self.tunnel)
            .finish_non_exhaustive()
    }
}

/// Reads a key from base64.
pub(crate) fn key(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let bytes = Zeroizing::new(STANDARD.decode(text).ok()?);
    bytes.as_slice().try_into().ok().map(Zeroizing::new)
}

fn seed() -> Zeroizing<[u8; 32]> {
    Zeroizing::new(rand::random())
}
