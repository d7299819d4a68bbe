//! What a device knows of its tunnel.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signer as _, SigningKey};
use hookmitt_seal::KeyPair;
use hookmitt_wire::{Invited, Join, OpenTunnel, hello_text};
use url::Url;
use zeroize::Zeroizing;

use crate::TunnelError;

/// A device's way into a tunnel. Its secrets belong into the vault.
#[derive(Clone)]
pub struct Credentials {
    /// The relay.
    pub relay: Url,
    /// The tunnel's name there; empty until it is [opened](crate::open).
    pub tunnel: String,
    /// The seed of this device's Ed25519 key.
    pub device: Zeroizing<[u8; 32]>,
    /// The tunnel's X25519 secret key.
    pub sealing: Zeroizing<[u8; 32]>,
    /// Those before it, the newest first: what was sealed before the key was turned over waits still.
    pub older: Vec<Zeroizing<[u8; 32]>>,
    /// The device that opened the tunnel, as far as this one knows: new sealing keys are believed from it alone.
    pub owner: Option<[u8; 32]>,
}

impl Credentials {
    /// Fresh keys, for a tunnel that is to be opened.
    pub fn fresh(relay: Url) -> Self {
        let (device, sealing) = (seed(), KeyPair::fresh().secret);
        let owner = Some(SigningKey::from_bytes(&device).verifying_key().to_bytes());
        Self { relay, tunnel: String::new(), device, sealing, older: Vec::new(), owner }
    }

    /// A fresh device's, for a tunnel that it is invited to.
    ///
    /// # Errors
    /// [`TunnelError::Invite`] for one that [`read_invite`](crate::read_invite) would not have let through.
    pub fn invited(invited: &Invited) -> Result<Self, TunnelError> {
        let relay = invited.relay.parse().map_err(|_| TunnelError::Invite("its relay is no URL"))?;
        let sealing = key(&invited.sealing_secret).ok_or(TunnelError::Invite("its key is damaged"))?;
        let owner = invited.owner.as_deref().map(|owner| {
            key(owner).map(|owner| *owner).ok_or(TunnelError::Invite("its owner's key is damaged"))
        });
        let (tunnel, owner) = (invited.tunnel.clone(), owner.transpose()?);
        Ok(Self { relay, tunnel, device: seed(), sealing, older: Vec::new(), owner })
    }

    /// What [`open`](crate::open) asks for.
    ///
    /// # Errors
    /// [`TunnelError::Key`] for a sealing key that is none.
    pub fn order(&self, name: Option<String>, device_name: &str) -> Result<OpenTunnel, TunnelError> {
        Ok(OpenTunnel {
            name,
            sealing_key: STANDARD.encode(KeyPair::from_secret(&self.sealing)?.public),
            device_key: STANDARD.encode(self.device_key()),
            device_name: device_name.to_owned(),
        })
    }

    /// What [`join`](crate::join) asks for.
    pub fn joining(&self, code: &str, device_name: &str) -> Join {
        Join {
            tunnel: self.tunnel.clone(),
            code: code.to_owned(),
            device_key: STANDARD.encode(self.device_key()),
            device_name: device_name.to_owned(),
        }
    }

    /// What a teammate is given, with the code that the relay made for it.
    pub fn invite(&self, code: String) -> Invited {
        Invited {
            relay: self.relay.to_string(),
            tunnel: self.tunnel.clone(),
            sealing_secret: STANDARD.encode(*self.sealing),
            code,
            owner: self.owner.map(|owner| STANDARD.encode(owner)),
        }
    }

    /// With that sealing key as the newest, where this device has it: one that was made and never came to the relay is
    /// of no use to others.
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

    /// All sealing keys, the newest first.
    pub fn sealing_keys(&self) -> Vec<Zeroizing<[u8; 32]>> {
        [&self.sealing].into_iter().chain(&self.older).cloned().collect()
    }

    /// The public key by which the relay knows this device.
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
    /// Without the secrets.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Credentials")
            .field("relay", &self.relay.as_str())
            .field("tunnel", &self.tunnel)
            .finish_non_exhaustive()
    }
}

/// A key from its base64.
pub(crate) fn key(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let bytes = Zeroizing::new(STANDARD.decode(text).ok()?);
    bytes.as_slice().try_into().ok().map(Zeroizing::new)
}

fn seed() -> Zeroizing<[u8; 32]> {
    Zeroizing::new(rand::random())
}
