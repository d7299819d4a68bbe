//! What is kept under the keys, as JSON, and at the head of each letter, as postcard.
//!
//! Relays of two versions may share a store while one after the other is updated: fields are only ever added.

use bytes::Bytes;
use hookmitt_wire::Parcel;
use serde::{Deserialize, Serialize};

use crate::{DeviceKey, MOST_TUNNELS, NewDevice, age::Moment};

/// The version of the layout that this build reads and writes.
pub(super) const VERSION: u32 = 1;

/// The header line that says of a letter what the index needs.
pub(super) const LABEL: &str = "Hookmitt-Letter";

/// The header line that says when a letter was put, in store time. One of its own: relays of an earlier version read no
/// [`LABEL`] with more in it.
pub(super) const PUT_AT: &str = "Hookmitt-Put-At";

/// How the store is laid out; written once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) version: u32,
    pub(super) shards: u16,
}

/// A token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TokenRecord {
    #[serde(with = "hex::serde")]
    pub(super) hash: [u8; 32],
    pub(super) name: Option<String>,
    pub(super) created_at: i64,
    pub(super) used_at: Option<i64>,
    pub(super) revoked_at: Option<i64>,
    #[serde(default = "usual_tunnels")]
    pub(super) most_tunnels: u32,
}

/// For a token from before there was such a number.
fn usual_tunnels() -> u32 {
    MOST_TUNNELS
}

/// A tunnel with its devices and codes. It stays for ever, so that its name is not given out again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TunnelRecord {
    pub(super) token: String,
    #[serde(with = "hex::serde")]
    pub(super) sealing_key: [u8; 32],
    pub(super) devices: Vec<DeviceRecord>,
    pub(super) invites: Vec<InviteRecord>,
    /// Letters up to here are wanted by nobody, since a device went.
    pub(super) floor: u64,
    /// Its last device is gone.
    pub(super) shut: bool,
    /// Since when, in store time; unknown where a relay of an early version shut it.
    #[serde(default)]
    pub(super) shut_at: Option<i64>,
    /// A letter came, or a device was connected: its name is never given out again. So it is where an earlier version
    /// wrote the record, which did not tell.
    #[serde(default = "was_used")]
    pub(super) used: bool,
    /// Who opened it. None in a record from before this was noted: then it was the first device, unless that has left.
    #[serde(default, with = "hex::serde", skip_serializing_if = "is_nobody")]
    pub(super) owner: DeviceKey,
}

fn was_used() -> bool {
    true
}

fn is_nobody(key: &DeviceKey) -> bool {
    *key == DeviceKey::default()
}

impl TunnelRecord {
    /// Who opened it and may revoke the others.
    pub(super) fn owner(&self) -> Option<DeviceKey> {
        // Whoever joined later has a position from which it gets letters.
        let opener = || self.devices.first().filter(|first| first.from == 0).map(|first| first.key);
        if is_nobody(&self.owner) { opener() } else { Some(self.owner) }
    }
}

/// A device of a tunnel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DeviceRecord {
    #[serde(with = "hex::serde")]
    pub(super) key: DeviceKey,
    pub(super) name: String,
    /// It gets the letters after this position.
    pub(super) from: u64,
    pub(super) joined_at: i64,
    /// The newest version of letters that it reads.
    #[serde(default = "first_letters")]
    pub(super) letters: u8,
    /// That it was invited.
    #[serde(default)]
    pub(super) proof: Option<[u8; 32]>,
    /// What it is told of the sealing key.
    #[serde(default, with = "hex::serde", skip_serializing_if = "Vec::is_empty")]
    pub(super) note: Vec<u8>,
}

/// For a device that has not said what it reads.
pub(super) const fn first_letters() -> u8 {
    1
}

impl DeviceRecord {
    /// One that is new.
    pub(super) fn new(device: NewDevice, joined_at: i64) -> Self {
        let NewDevice { key, name } = device;
        Self { key, name, from: 0, joined_at, letters: first_letters(), proof: None, note: Vec::new() }
    }
}

/// A one-time code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InviteRecord {
    #[serde(with = "hex::serde")]
    pub(super) hash: [u8; 32],
    pub(super) until: i64,
    /// When it ends in store time, if that is sooner. None from a relay of an earlier version.
    #[serde(default)]
    pub(super) store_until: Option<i64>,
}

impl InviteRecord {
    pub(super) fn is_over(&self, now: Moment) -> bool {
        self.until <= now.wall || self.store_until.is_some_and(|until| until <= now.store)
    }
}

/// How far a device is, and when it was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CursorRecord {
    pub(super) cursor: u64,
    pub(super) seen_at: i64,
    /// The same in store time. None from a relay of an earlier version: then it counts from when that is found.
    #[serde(default)]
    pub(super) there_at: Option<i64>,
    /// Letters up to here are wanted by nobody, as this device's relay knew when it wrote this.
    pub(super) floor: u64,
}

/// What was refused of a tunnel, or became too old for a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CountRecord {
    pub(super) refused: u64,
    pub(super) refused_at: Option<i64>,
    pub(super) unknown: u64,
}

/// What stands before a letter's data, in the same message.
#[derive(Serialize, Deserialize)]
struct Head {
    epoch: [u8; 32],
    number: u32,
    received_at: i64,
    held: bool,
    /// Where the data are that don't follow here: positions in the stream.
    parts: Vec<u64>,
}

/// A message with a letter in it, or with the manifest of one.
pub(super) struct Message {
    pub(super) parcel: Parcel,
    /// Where the data are, where the parcel has none.
    pub(super) parts: Vec<u64>,
}

/// The bytes of a letter that fits in one message, or of a manifest (`data` empty then).
pub(super) fn message(parcel: &Parcel, parts: Vec<u64>, data: &[u8]) -> Option<Bytes> {
    let Parcel { epoch, number, received_at, held, .. } = *parcel;
    let head = Head { epoch, number, received_at, held, parts };
    let mut bytes = Vec::with_capacity(data.len() + 64 + head.parts.len() * 10);
    bytes.push(u8::try_from(VERSION).ok()?);
    let mut bytes = postcard::to_extend(&head, bytes).ok()?;
    bytes.extend_from_slice(data);
    Some(bytes.into())
}

/// A letter or a manifest from its bytes.
pub(super) fn read_message(bytes: &Bytes) -> Option<Message> {
    let (&version, rest) = bytes.split_first()?;
    if u32::from(version) != VERSION {
        return None;
    }
    let (head, data) = postcard::take_from_bytes::<Head>(rest).ok()?;
    let Head { epoch, number, received_at, held, parts } = head;
    let data = bytes.slice_ref(data);
    Some(Message { parcel: Parcel { epoch, number, received_at, held, data }, parts })
}

/// What a letter's header line says to those who read no bodies: when it was received, and its sealed bytes.
pub(super) fn label(parcel: &Parcel) -> String {
    format!("{} {}", parcel.received_at, parcel.data.len())
}

/// When a letter was received and how many sealed bytes it has, from its header line.
pub(super) fn read_label(label: &str) -> Option<(i64, u64)> {
    let (received_at, bytes) = label.split_once(' ')?;
    Some((received_at.parse().ok()?, bytes.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_comes_back_as_it_was() {
        let parcel = Parcel {
            epoch: [7; 32],
            number: 9,
            received_at: -3,
            held: true,
            data: Bytes::from_static(b"sealed"),
        };
        let bytes = message(&parcel, Vec::new(), &parcel.data).unwrap();
        let back = read_message(&bytes).unwrap();
        assert_eq!((back.parcel, back.parts), (parcel.clone(), vec![]));
        assert_eq!(read_label(&label(&parcel)), Some((-3, 6)));
    }

    #[test]
    fn what_a_newer_relay_wrote_or_what_is_broken_is_not_read() {
        for bytes in [&b""[..], b"\x02whatever", b"\x01short"] {
            assert!(read_message(&Bytes::copy_from_slice(bytes)).is_none());
        }
    }
}
