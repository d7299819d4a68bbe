//! What the store holds.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use hookmitt_wire::SourceOffer;

/// So many codes with which devices may join are kept of one tunnel.
pub(crate) const MOST_INVITES: usize = 32;

/// How many open tunnels a token may have, where nothing else was said at its making.
pub const MOST_TUNNELS: u32 = 100;

/// So long after it was shut a tunnel still counts among those of its token, in microseconds: opening and shutting one
/// after the other uses up names and rows as well.
pub const COUNTED: i64 = 24 * 60 * 60 * 1_000_000;

/// How many devices a tunnel may have, where nothing else was said at the relay's start.
pub const MOST_DEVICES: usize = 32;

/// A device's Ed25519 public key, which is its name.
pub type DeviceKey = [u8; 32];

/// Names a token without giving it away.
pub type TokenId = String;

/// A token as `relay token list` shows it. The store keeps a SHA-256 of the token itself: it is 256 random bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id, such as `tk_4f2a…`.
    pub id: TokenId,
    /// What it was called.
    pub name: Option<String>,
    /// When it was made, in microseconds since the Unix epoch.
    pub created_at: i64,
    /// When it was last used to open a tunnel.
    pub used_at: Option<i64>,
    /// When it was revoked; its tunnels stay shut from then on.
    pub revoked_at: Option<i64>,
    /// How many open tunnels it may have.
    pub most_tunnels: u32,
    /// The names of its tunnels.
    pub tunnels: Vec<String>,
}

/// A tunnel to be opened, with its first device.
#[derive(Clone, Debug)]
pub struct NewTunnel {
    /// Its name; never given out again.
    pub name: String,
    /// Whose it is.
    pub token: TokenId,
    /// The X25519 public key by which its letters are sealed.
    pub sealing_key: [u8; 32],
    /// Its first device.
    pub device: NewDevice,
}

/// A device to be registered.
#[derive(Clone, Debug)]
pub struct NewDevice {
    /// Its key.
    pub key: DeviceKey,
    /// What it is called.
    pub name: String,
}

/// A tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub token: TokenId,
    /// The X25519 public key by which its letters are sealed.
    pub sealing_key: [u8; 32],
    /// The sources that its devices take.
    pub sources: Vec<SourceOffer>,
    /// Who takes part.
    pub devices: Vec<DeviceKey>,
    /// The newest version of letters that all of them read.
    pub letters: u8,
    /// Its token was revoked: nothing is taken, and no device is let in.
    pub revoked: bool,
}

/// A device of a tunnel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its key.
    pub key: DeviceKey,
    /// What it is called.
    pub name: String,
    /// Every letter up to this position is committed there.
    pub cursor: u64,
    /// When it was last connected, in microseconds since the Unix epoch.
    pub seen_at: i64,
    /// When it joined.
    pub joined_at: i64,
    /// It opened the tunnel, and may revoke the others.
    pub is_owner: bool,
    /// The newest version of letters that it reads.
    pub letters: u8,
    /// That it was invited, for the others to check; none from an old one.
    pub proof: Option<[u8; 32]>,
    /// What it is told of the sealing key; empty as long as that was not turned over.
    pub note: Bytes,
}

/// A device is turned out, and the sealing key with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// Who goes.
    pub device: DeviceKey,
    /// The sealing key as whoever revokes knows it.
    pub before: [u8; 32],
    /// By which letters are sealed from now on.
    pub sealing_key: [u8; 32],
    /// What each device is told that stays.
    pub notes: Vec<(DeviceKey, Bytes)>,
}

impl Revocation {
    /// Whether these are the devices that it turns out and tells.
    pub(crate) fn knows(&self, members: &[DeviceKey]) -> bool {
        let told = self.notes.iter().map(|(device, _)| *device).chain([self.device]);
        let (told, members): (BTreeSet<_>, BTreeSet<_>) = (told.collect(), members.iter().copied().collect());
        told == members
    }
}

/// What one tunnel may keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Letters.
    pub letters: u64,
    /// Sealed bytes.
    pub bytes: u64,
    /// How old a letter may become; older ones are deleted, counted as refused, and said.
    pub age: Duration,
    /// How long a device may be away; then it counts no more, and what waited only for it goes.
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
    /// Tunnels.
    pub tunnels: u64,
    /// Letters that wait.
    pub letters: u64,
    /// Their sealed bytes.
    pub bytes: u64,
    /// When the oldest was received, in microseconds since the Unix epoch.
    pub oldest: Option<i64>,
}

/// What the app answers to a sender that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Header lines.
    pub headers: Vec<(String, Bytes)>,
    /// The body.
    pub body: Bytes,
}
