//! The names of streams, subjects and keys.

use std::borrow::Cow;

use hookmitt_wire::Parcel;

use crate::DeviceKey;

/// The names of one store.
///
/// | subject | what is there |
/// |---|---|
/// | `<prefix>.box.<shard>.<tunnel>.l` | letters that fit in one message |
/// | `<prefix>.box.<shard>.<tunnel>.m.<letter>` | the manifests of longer ones |
/// | `<prefix>.part.<shard>.<tunnel>.<letter>.<n>` | their parts |
/// | `<prefix>.answer.<event>` | answers to senders that are held; not stored |
/// | `<prefix>.here.<tunnel>` | whether a device is connected to some relay; not stored |
#[derive(Clone, Debug)]
pub(super) struct Names {
    prefix: String,
    shards: u16,
}

impl Names {
    pub(super) fn new(prefix: &str, shards: u16) -> Self {
        Self { prefix: prefix.to_owned(), shards }
    }

    /// Returns how many shards there are.
    pub(super) fn shards(&self) -> u16 {
        self.shards
    }

    /// Returns the shard that has a tunnel's mailbox.
    pub(super) fn shard(&self, tunnel: &str) -> u16 {
        let hash = crc32fast::hash(tunnel.as_bytes());
        u16::try_from(hash % u32::from(self.shards)).unwrap_or_default()
    }

    /// Returns the name of a shard's stream.
    pub(super) fn stream(&self, shard: u16) -> String {
        format!("{}_box_{shard}", self.prefix)
    }

    /// Returns the name of the bucket of tokens, tunnels and devices.
    pub(super) fn tunnels(&self) -> String {
        format!("{}_tunnels", self.prefix)
    }

    /// Returns the name of the bucket of cursors and counts, which change often.
    pub(super) fn cursors(&self) -> String {
        format!("{}_cursors", self.prefix)
    }

    /// Returns the filter for all letters and manifests of a shard.
    pub(super) fn boxes(&self, shard: u16) -> String {
        format!("{}.box.{shard}.>", self.prefix)
    }

    /// Returns the filter for all parts of a shard.
    pub(super) fn all_parts(&self, shard: u16) -> String {
        format!("{}.part.{shard}.>", self.prefix)
    }

    /// Returns the filter for all letters and manifests of a tunnel.
    pub(super) fn mailbox(&self, tunnel: &str) -> String {
        format!("{}.box.{}.{}.>", self.prefix, self.shard(tunnel), word(tunnel))
    }

    /// Returns the subject of letters that fit in one message.
    pub(super) fn letter(&self, tunnel: &str) -> String {
        format!("{}.box.{}.{}.l", self.prefix, self.shard(tunnel), word(tunnel))
    }

    /// Returns the subject of a long letter's manifest.
    pub(super) fn manifest(&self, tunnel: &str, letter: &str) -> String {
        format!("{}.box.{}.{}.m.{letter}", self.prefix, self.shard(tunnel), word(tunnel))
    }

    /// Returns the subject of a part of a long letter.
    pub(super) fn part(&self, tunnel: &str, letter: &str, number: usize) -> String {
        format!("{}.part.{}.{}.{letter}.{number}", self.prefix, self.shard(tunnel), word(tunnel))
    }

    /// Reads a subject below [`Self::boxes`]: the tunnel and, for a manifest, the letter's id.
    pub(super) fn in_box<'s>(&self, subject: &'s str) -> Option<(Cow<'s, str>, Option<&'s str>)> {
        let mut words = self.after_shard(subject, "box")?;
        Some((unword(words.next()?)?, words.nth(1)))
    }

    /// Reads a subject below [`Self::all_parts`]: the tunnel and the letter's id.
    pub(super) fn in_parts<'s>(&self, subject: &'s str) -> Option<(Cow<'s, str>, &'s str)> {
        let mut words = self.after_shard(subject, "part")?;
        Some((unword(words.next()?)?, words.next()?))
    }

    fn after_shard<'s>(&self, subject: &'s str, what: &str) -> Option<std::str::Split<'s, char>> {
        let rest = subject.strip_prefix(self.prefix.as_str())?.strip_prefix('.')?.strip_prefix(what)?;
        let mut words = rest.strip_prefix('.')?.split('.');
        words.next()?;
        Some(words)
    }

    /// Returns the subject on which relays ask whether a device of a tunnel is connected.
    pub(super) fn here(&self, tunnel: &str) -> String {
        format!("{}.here.{}", self.prefix, word(tunnel))
    }

    /// Returns the subject of the answer to a held sender.
    pub(super) fn answer(&self, event: &[u8; 16]) -> String {
        format!("{}.answer.{}", self.prefix, hex::encode(event))
    }
}

/// Returns a letter's id: its epoch and its number there. It stays the same however often the letter is sent.
pub(super) fn letter_id(parcel: &Parcel) -> String {
    format!("{}-{}", hex::encode(parcel.epoch), parcel.number)
}

/// The parts of a record's key.
pub(super) struct Key<'k> {
    pub(super) kind: &'k str,
    /// The tunnel's name, or the token's id.
    pub(super) name: Cow<'k, str>,
    /// The rest: the device, if the record belongs to one.
    pub(super) rest: &'k str,
}

impl<'k> Key<'k> {
    /// Parses a key. Returns `None` if it does not have the form of a record's key.
    pub(super) fn parse(key: &'k str) -> Option<Self> {
        let (kind, name) = key.split_once('.')?;
        let (name, rest) = name.split_once('.').unwrap_or((name, ""));
        Some(Self { kind, name: unword(name)?, rest })
    }

    /// Returns the device, if the key has one.
    pub(super) fn device(&self) -> Option<DeviceKey> {
        let mut device = DeviceKey::default();
        hex::decode_to_slice(self.rest, &mut device).is_ok().then_some(device)
    }
}

/// Returns the key of a tunnel's record.
pub(super) fn tunnel_key(tunnel: &str) -> String {
    format!("tunnel.{}", word(tunnel))
}

/// Returns the key of a token's record.
pub(super) fn token_key(id: &str) -> String {
    format!("token.{}", word(id))
}

/// Returns the key under which a token's hash leads to its id.
pub(super) fn hash_key(hash: &[u8; 32]) -> String {
    format!("hash.{}", hex::encode(hash))
}

/// Returns the key of a device's cursor.
pub(super) fn cursor_key(tunnel: &str, device: &DeviceKey) -> String {
    format!("cursor.{}.{}", word(tunnel), hex::encode(device))
}

/// Returns the key of the sources that a device takes.
pub(super) fn offer_key(tunnel: &str, device: &DeviceKey) -> String {
    format!("offer.{}.{}", word(tunnel), hex::encode(device))
}

/// The key of the store's clock. Relays of an earlier version use the key `presence` beside it.
pub(super) const CLOCK: &str = "clock";

/// Returns the key of a tunnel's refusals, or of the letters that were lost to one of its devices.
pub(super) fn count_key(tunnel: &str, device: Option<&DeviceKey>) -> String {
    match device {
        Some(device) => format!("count.{}.{}", word(tunnel), hex::encode(device)),
        None => format!("count.{}", word(tunnel)),
    }
}

/// Writes a name as one word of a subject or key: any other character becomes `=` and two hexadecimal digits for each
/// byte.
fn word(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let mut written = String::from("=");
    for byte in name.bytes() {
        if is_plain(byte) {
            written.push(char::from(byte))
        } else {
            written.push_str(&format!("={byte:02x}"))
        }
    }
    Cow::Owned(written)
}

/// Reads a name from a word; the inverse of [`word`].
fn unword(word: &str) -> Option<Cow<'_, str>> {
    let Some(written) = word.strip_prefix('=') else { return Some(Cow::Borrowed(word)) };
    let mut pieces = written.split('=');
    let mut name = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        name.push(u8::from_str_radix(piece.get(..2)?, 16).ok()?);
        name.extend_from_slice(piece.get(2..)?.as_bytes());
    }
    Some(Cow::Owned(String::from_utf8(name).ok()?))
}

/// The key of the store's own settings.
pub(super) const SETTINGS: &str = "settings";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_say_whose_letter_is_there() {
        let names = Names::new("hookmitt", 8);
        for tunnel in ["acme", "a.b", "", "Grün *>", "=", "=2e"] {
            let none: Option<&str> = None;
            assert_eq!(names.in_box(&names.letter(tunnel)), Some((tunnel.into(), none)));
            assert_eq!(names.in_box(&names.manifest(tunnel, "ab-7")), Some((tunnel.into(), Some("ab-7"))));
            assert_eq!(names.in_parts(&names.part(tunnel, "ab-7", 2)), Some((tunnel.into(), "ab-7")));
            assert_eq!(names.letter(tunnel).split('.').count(), 5);
        }
        assert_eq!(names.in_box(&names.part("acme", "ab-7", 2)), None);
        assert_eq!(Names::new("hook", 8).in_box(&names.letter("acme")), None);
    }

    #[test]
    fn a_tunnel_stays_in_its_shard() {
        let names = Names::new("hookmitt", 8);
        // Settled with the first release: another answer would lose sight of what is stored.
        assert_eq!(["acme-dev", "quiet-otter", "a"].map(|name| names.shard(name)), [1, 2, 3]);
    }
}
