//! The records under the buckets' keys, in JSON, and the heads of letters, in postcard.
//!
//! Relays of two versions may share a store while they are updated one after the other. Therefore fields are only ever
//! added.

use bytes::Bytes;
use hookmitt_wire::Parcel;
use serde::{Deserialize, Serialize};

use crate::{DeviceKey, MOST_TUNNELS, NewDevice, age::Moment};

/// The version of the layout that this build reads and writes.
pub(super) const VERSION: u32 = 1;

/// The header line of a letter with what the index needs to know.
pub(super) const LABEL: &str = "Hookmitt-Letter";

/// The header line that says when a letter was put, in store time. It is a separate line, because relays of an earlier
/// version can't read a [`LABEL`] with more fields.
pub(super) const PUT_AT: &str = "Hookmitt-Put-At";

/// The layout of the store; written once.
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

/// The default for a token that was stored before tokens had this limit.
fn usual_tunnels() -> u32 {
    MOST_TUNNELS
}

/// A tunnel with its devices and codes. The record stays forever, so that its name is not given out again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TunnelRecord {
    pub(super) token: String,
    #[serde(with = "hex::serde")]
    pub(super) sealing_key: [u8; 32],
    pub(super) devices: Vec<DeviceRecord>,
    pub(super) invites: Vec<InviteRecord>,
    /// Letters up to this position are wanted by nobody, because a device is gone.
    pub(super) floor: u64,
    /// Whether its last device is gone.
    pub(super) shut: bool,
    /// When it was shut, in store time. `None` if it is open, or if a relay of an early version shut it.
    #[serde(default)]
    pub(super) shut_at: Option<i64>,
    /// Whether it took a letter or had a device connected; then its name is never given out again. A record of an
    /// earlier version, which lacks this field, counts as used.
    #[serde(default = "was_used")]
    pub(super) used: bool,
    /// The device that opened it. All zeros in a record from before this was stored; then the owner is the first
    /// device, unless that one has left.
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
    /// Returns the device that opened the tunnel and may revoke the others, if it is known.
    pub(super) fn owner(&self) -> Option<DeviceKey> {
        // A device that joined later has a `from` position.
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
    /// The device gets the letters after this position.
    pub(super) from: u64,
    pub(super) joined_at: i64,
    /// The newest letter version that it reads.
    #[serde(default = "first_letters")]
    pub(super) letters: u8,
    /// The proof that it was invited.
    #[serde(default)]
    pub(super) proof: Option<[u8; 32]>,
    /// The owner's note to it about the sealing key.
    #[serde(default, with = "hex::serde", skip_serializing_if = "Vec::is_empty")]
    pub(super) note: Vec<u8>,
}

/// The letter version of a device that has not said what it reads.
pub(super) const fn first_letters() -> u8 {
    1
}

impl DeviceRecord {
    /// Returns the record of a new device.
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
    /// When it expires in store time, if that is sooner. `None` if a relay of an earlier version wrote it.
    #[serde(default)]
    pub(super) store_until: Option<i64>,
}

impl InviteRecord {
    pub(super) fn is_over(&self, now: Moment) -> bool {
        self.until <= now.wall || self.store_until.is_some_and(|until| until <= now.store)
    }
}

/// A device's cursor, and when the device was last connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CursorRecord {
    pub(super) cursor: u64,
    pub(super) seen_at: i64,
    /// `seen_at` in store time. `None` if a relay of an earlier version wrote it; then the device ages from when a
    /// sweep finds it.
    #[serde(default)]
    pub(super) there_at: Option<i64>,
    /// Letters up to this position were wanted by nobody when a relay wrote this record.
    pub(super) floor: u64,
}

/// How many requests of a tunnel were refused, or how many letters were lost to a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CountRecord {
    pub(super) refused: u64,
    pub(super) refused_at: Option<i64>,
    pub(super) unknown: u64,
}

/// The head of a message: what stands before the letter's data.
#[derive(Serialize, Deserialize)]
struct Head {
    epoch: [u8; 32],
    number: u32,
    received_at: i64,
    held: bool,
    /// The positions, in the stream, of the parts that hold the data; empty if the data follow here.
    parts: Vec<u64>,
}

/// A message that holds a letter or the manifest of a letter.
pub(super) struct Message {
    pub(super) parcel: Parcel,
    /// The positions of the letter's parts, if this is a manifest.
    pub(super) parts: Vec<u64>,
}

/// Returns the bytes of a message: a letter that fits in one message, or a manifest (then `data` is empty).
pub(super) fn message(parcel: &Parcel, parts: Vec<u64>, data: &[u8]) -> Option<Bytes> {
    let Parcel { epoch, number, received_at, held, .. } = *parcel;
    let head = Head { epoch, number, received_at, held, parts };
    let mut bytes = Vec::with_capacity(data.len() + 64 + head.parts.len() * 10);
    bytes.push(u8::try_from(VERSION).ok()?);
    let mut bytes = postcard::to_extend(&head, bytes).ok()?;
    bytes.extend_from_slice(data);
    Some(bytes.into())
}

/// Reads a letter or a manifest from its bytes.
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

/// Returns the value of the [`LABEL`] line, for readers that get no bodies: when the letter was received, and its
/// sealed bytes.
pub(super) fn label(parcel: &Parcel) -> String {
    format!("{} {}", parcel.received_at, parcel.data.len())
}

/// Reads a [`LABEL`] line: when the letter was received, and how many sealed bytes it has.
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
