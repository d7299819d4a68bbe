//! The types that describe what the store holds.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use hookmitt_wire::SourceOffer;

/// How many unused join codes a tunnel may have.
pub(crate) const MOST_INVITES: usize = 32;

/// How many open tunnels a token may have, unless another number was given when the token was created.
pub const MOST_TUNNELS: u32 = 100;

/// For how long a shut tunnel still counts against its token's limit, in microseconds, because opening and shutting
/// tunnels in turn uses up names and rows as well.
pub const COUNTED: i64 = 24 * 60 * 60 * 1_000_000;

/// How many devices a tunnel may have, unless another number was given when the relay was started.
pub const MOST_DEVICES: usize = 32;

/// A device's Ed25519 public key, which identifies the device.
pub type DeviceKey = [u8; 32];

/// The id of a token. It does not reveal the token itself.
pub type TokenId = String;

/// A token as `relay token list` shows it. The store keeps only a SHA-256 of the token itself, which is 256 random
/// bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The id, such as `tk_4f2a…`.
    pub id: TokenId,
    /// The name that its creator gave it.
    pub name: Option<String>,
    /// When it was created, in microseconds since the Unix epoch.
    pub created_at: i64,
    /// When it was last used to open a tunnel, in microseconds since the Unix epoch.
    pub used_at: Option<i64>,
    /// When it was revoked, in microseconds since the Unix epoch. Its tunnels stay shut from then on.
    pub revoked_at: Option<i64>,
    /// How many open tunnels it may have.
    pub most_tunnels: u32,
    /// The names of its tunnels.
    pub tunnels: Vec<String>,
}

/// A tunnel to open, with its first device.
#[derive(Clone, Debug)]
pub struct NewTunnel {
    /// The tunnel's name, which is never given out again.
    pub name: String,
    /// The token to which the tunnel belongs.
    pub token: TokenId,
    /// The X25519 public key to which its letters are sealed.
    pub sealing_key: [u8; 32],
    /// Its first device.
    pub device: NewDevice,
}

/// A device to register.
#[derive(Clone, Debug)]
pub struct NewDevice {
    /// The device's key.
    pub key: DeviceKey,
    /// The device's display name.
    pub name: String,
}

/// A tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// The tunnel's name.
    pub name: String,
    /// The token to which the tunnel belongs.
    pub token: TokenId,
    /// The X25519 public key to which its letters are sealed.
    pub sealing_key: [u8; 32],
    /// The sources that its devices take.
    pub sources: Vec<SourceOffer>,
    /// The keys of its devices.
    pub devices: Vec<DeviceKey>,
    /// The newest letter version that all of its devices read.
    pub letters: u8,
    /// Whether its token was revoked. Then the tunnel takes no letters and lets no device in.
    pub revoked: bool,
}

/// A device of a tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The device's key.
    pub key: DeviceKey,
    /// The device's display name.
    pub name: String,
    /// The position up to which the device has committed every letter.
    pub cursor: u64,
    /// When it was last connected, in microseconds since the Unix epoch.
    pub seen_at: i64,
    /// When it joined, in microseconds since the Unix epoch.
    pub joined_at: i64,
    /// Whether it opened the tunnel and so may revoke the other devices.
    pub is_owner: bool,
    /// The newest letter version that it reads.
    pub letters: u8,
    /// The proof of its invitation, which the owner checks. `None` for a device that never introduced itself, such as
    /// an old app.
    pub proof: Option<[u8; 32]>,
    /// The note that tells it the private sealing key. Empty until the key is replaced for the first time.
    pub note: Bytes,
}

/// A request to revoke a device and to replace the sealing key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// The device to revoke.
    pub device: DeviceKey,
    /// The sealing key that is replaced, as the revoking device knows it.
    pub before: [u8; 32],
    /// The key to which letters are sealed from now on.
    pub sealing_key: [u8; 32],
    /// The note for each device that stays.
    pub notes: Vec<(DeviceKey, Bytes)>,
}

impl Revocation {
    /// Returns whether `members` are exactly the revoked device and the devices that get a note.
    pub(crate) fn knows(&self, members: &[DeviceKey]) -> bool {
        let told = self.notes.iter().map(|(device, _)| *device).chain([self.device]);
        let (told, members): (BTreeSet<_>, BTreeSet<_>) = (told.collect(), members.iter().copied().collect());
        told == members
    }
}

/// The limits of one tunnel's mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The number of letters.
    pub letters: u64,
    /// The size of all sealed letters together, in bytes.
    pub bytes: u64,
    /// The maximum age of a letter. Older letters are deleted, counted as refused, and logged.
    pub age: Duration,
    /// How long a device may be away. After that it is forgotten, and letters that waited only for it are deleted.
    pub idle: Duration,
}

impl Default for Quota {
    fn default() -> Self {
        let day = Duration::from_secs(24 * 60 * 60);
        Self { letters: 100_000, bytes: 1024 * 1024 * 1024, age: day * 30, idle: day * 30 }
    }
}

/// What the whole store holds, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The number of open tunnels.
    pub tunnels: u64,
    /// The number of letters that wait.
    pub letters: u64,
    /// The size of their sealed data, in bytes.
    pub bytes: u64,
    /// When the oldest of them was received, in microseconds since the Unix epoch.
    pub oldest: Option<i64>,
}

/// The app's answer for a sender that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The header lines.
    pub headers: Vec<(String, Bytes)>,
    /// The body.
    pub body: Bytes,
}
