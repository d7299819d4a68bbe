//! The frames of a tunnel: each is one binary WebSocket message, the version in its first byte, then postcard.
//!
//! The relay speaks first: [`RelayFrame::Challenge`], answered by [`AppFrame::Hello`], answered by
//! [`RelayFrame::Welcome`] or [`RelayFrame::Refused`]. Then letters flow down, and acknowledgements up.

use bytes::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The version of the frames that this build speaks.
pub const VERSION: u8 = 1;

/// The newest words that this build knows. Both sides tell theirs in the header line [`WORDS_HEADER`] of the upgrade, the
/// first ones where there is no such line, and none says what the other doesn't know.
///
/// 1: all up to [`AppFrame::Leave`]. 2: devices introduce themselves, are listed and revoked; letters of version 2.
pub const WORDS: u8 = 2;

/// Tells which words a side knows.
pub const WORDS_HEADER: &str = "hookmitt-words";

/// The most bytes of one frame.
pub const MAX_FRAME: usize = 1024 * 1024;

/// The largest frame of sources: a relay keeps them in one record.
pub const MAX_SOURCES: usize = 192 * 1024;

/// The most bytes of one sealed letter: a body of 25 MiB, its head, and room for what is known of it.
pub const MAX_LETTER: usize = 32 * 1024 * 1024;

/// Sealed letters longer than this go in pieces of it, so that heartbeats and other letters pass between them.
pub const PIECE: usize = 256 * 1024;

/// What a device signs begins with this, so that the signature means nothing anywhere else.
pub const HELLO_CONTEXT: &[u8] = b"hookmitt tunnel hello v1\0";

/// What a relay says to an app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RelayFrame {
    /// Sign this.
    Challenge {
        /// Random, and used once.
        nonce: [u8; 32],
    },
    /// The device is who it says.
    Welcome {
        /// The public URL of the tunnel, without a slash at its end.
        public_url: String,
        /// What waits for this device.
        depth: Depth,
        /// The newest position in the mailbox: what comes up to it was waiting before.
        newest: u64,
        /// The relay's clock, in microseconds since the Unix epoch.
        now: i64,
    },
    /// The conversation can't go on; the connection closes.
    Refused {
        /// A stable code: `unknown-tunnel`, `unknown-device`, `bad-signature`, `version`, `busy`, `stopping`, `flood`.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
    /// One sealed letter, or the first piece of it.
    Parcel {
        /// Where it is in the mailbox: grows, with gaps.
        position: u64,
        /// What it is, with all of its data or the first piece of it.
        parcel: Parcel,
        /// How many bytes of data there are in all.
        size: u32,
    },
    /// The next piece of a letter.
    Piece {
        /// Which letter.
        position: u64,
        /// The bytes.
        data: Bytes,
    },
    /// Answers an [`AppFrame::Ping`].
    Pong {
        /// As it was asked.
        stamp: u64,
        /// What waits for this device now.
        depth: Depth,
    },
    /// Answers an [`AppFrame::Invite`].
    Invited {
        /// The one-time code with which another device joins.
        code: String,
        /// When it ends, in microseconds since the Unix epoch.
        until: i64,
    },
    /// Answers an [`AppFrame::Devices`].
    Devices {
        /// By which letters are sealed now.
        sealing_key: [u8; 32],
        /// Who takes part.
        devices: Vec<TunnelDevice>,
    },
    /// Answers an [`AppFrame::Revoke`]: a code and what happened, where the relay did not do it.
    Revoked(Option<(String, String)>),
    /// By which letters are sealed now; said after the welcome, when it was turned over, and where it is asked for.
    SealingKey {
        /// The public key.
        sealing_key: [u8; 32],
        /// What the owner has this device told of the private one; empty where it was not told anything.
        note: Bytes,
    },
}

/// A device of a tunnel as its relay knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunnelDevice {
    /// Its Ed25519 public key.
    pub key: [u8; 32],
    /// What it is called.
    pub name: String,
    /// When it joined, in microseconds since the Unix epoch.
    pub joined_at: i64,
    /// When it was there last.
    pub seen_at: i64,
    /// It is connected.
    pub is_connected: bool,
    /// It opened the tunnel.
    pub is_owner: bool,
    /// That it was invited, as it showed itself.
    pub proof: Option<[u8; 32]>,
}

/// The status of an answer that is none: the source's default one will do.
pub const NO_ANSWER: u16 = 0;

/// What an app says to a relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AppFrame {
    /// Who speaks.
    Hello {
        /// The tunnel's name.
        tunnel: String,
        /// The device's Ed25519 public key.
        device: [u8; 32],
        /// Its signature over [`hello_text`]; 64 bytes.
        signature: Bytes,
        /// The program and its version, for the relay's log.
        app: String,
        /// The most letters that may be on the way unacknowledged.
        window: u32,
        /// The most bytes of them.
        window_bytes: u32,
    },
    /// The sources that the tunnel takes, all of them; said after the welcome and whenever they change.
    Sources(Vec<SourceOffer>),
    /// Letters are committed durably on this device.
    Ack {
        /// Every letter up to this position.
        through: u64,
        /// Letters beyond it.
        also: Vec<u64>,
    },
    /// What to answer to a sender that is held.
    Answer {
        /// The letter's event id.
        event: [u8; 16],
        /// The status; [`NO_ANSWER`] where the app has nothing to say that the source's default answer doesn't.
        status: u16,
        /// Header lines.
        headers: Vec<(String, Bytes)>,
        /// The body.
        body: Bytes,
    },
    /// Are you there?
    Ping {
        /// Comes back unchanged.
        stamp: u64,
    },
    /// A code for another device is wanted.
    Invite,
    /// This device takes nothing more: its cursor and key are forgotten.
    Leave,
    /// What this device is; said after the welcome.
    Introduce {
        /// The newest version of letters that it reads.
        letters: u8,
        /// That it was invited: it holds the tunnel's sealing key. For the owner to check, who holds it, too.
        proof: [u8; 32],
    },
    /// Who takes part is asked for.
    Devices,
    /// A device is turned out, and the sealing key turned over.
    Revoke {
        /// Who goes.
        device: [u8; 32],
        /// The sealing key until now.
        before: [u8; 32],
        /// And from now on.
        sealing_key: [u8; 32],
        /// What each device is told that stays.
        notes: Vec<([u8; 32], Bytes)>,
    },
    /// The sealing key is asked for.
    SealingKey,
}

/// A sealed letter: what of it a relay and its disk know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parcel {
    /// The encapsulated key of the epoch in which it was sealed (HPKE, RFC 9180); names the epoch, too.
    pub epoch: [u8; 32],
    /// Its number in the epoch, from 0.
    pub number: u32,
    /// When the request's last byte was in, in microseconds since the Unix epoch.
    pub received_at: i64,
    /// Its sender waits for the app's answer.
    pub held: bool,
    /// The sealed [`Letter`](crate::Letter).
    pub data: Bytes,
}

/// What waits for a device at the relay, and what the relay had to refuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depth {
    /// How many letters.
    pub letters: u64,
    /// Their sealed bytes.
    pub bytes: u64,
    /// When the oldest was received, in microseconds since the Unix epoch.
    pub oldest: Option<i64>,
    /// How many requests were refused (429, 507, 503) since the tunnel was made, and how many letters became too old
    /// before this device had them; only grows.
    pub refused: u64,
    /// When one was refused last.
    pub refused_at: Option<i64>,
    /// How many requests named a source that the tunnel doesn't have; only grows.
    pub unknown: u64,
}

/// When a sender is held until the app has answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    /// Set-up requests are, so that they are answered as their provider wants it.
    #[default]
    Handshakes,
    /// Every sender is: the source must answer 401 to what is not genuine, or was told to.
    Always,
    /// None is.
    Never,
}

/// One source that a tunnel takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceOffer {
    /// Its name in URLs.
    pub slug: String,
    /// Its provider's id, where it was set.
    pub provider: Option<String>,
    /// When senders are held.
    pub hold: Hold,
    /// The status of the default answer; else 200 where the provider is known and 202 where it isn't.
    pub status: Option<u16>,
    /// Its header lines.
    pub headers: Vec<(String, Bytes)>,
    /// Its body instead of `{"received":true,"id":…}`.
    pub body: Option<String>,
    /// How long to wait before it, in milliseconds.
    pub delay_ms: u64,
}

/// A message that is no frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The other side speaks another version.
    #[error(
        "the other side speaks version {found} of the tunnel's frames, this one {VERSION}: update the older of the two"
    )]
    Version {
        /// Its version.
        found: u8,
    },
    /// It is longer than any frame may be.
    #[error("a frame of {0} bytes; {MAX_FRAME} are the most")]
    TooLarge(usize),
    /// Its bytes make no sense.
    #[error("a frame that can't be read")]
    Malformed,
}

/// What a device signs: the context, the tunnel's name, a zero, and the relay's nonce.
pub fn hello_text(tunnel: &str, nonce: &[u8; 32]) -> Vec<u8> {
    [HELLO_CONTEXT, tunnel.as_bytes(), &[0], nonce].concat()
}

/// The bytes of a frame.
pub fn encode(frame: &impl Serialize) -> Bytes {
    let start = vec![VERSION];
    // Writing plain data to memory can't fail; an empty message would be refused by the other side.
    postcard::to_extend(frame, start).map(Bytes::from).unwrap_or_default()
}

/// A frame from its bytes.
///
/// # Errors
/// [`FrameError`].
pub fn decode<F: DeserializeOwned>(message: &[u8]) -> Result<F, FrameError> {
    if message.len() > MAX_FRAME {
        return Err(FrameError::TooLarge(message.len()));
    }
    let (&found, rest) = message.split_first().ok_or(FrameError::Malformed)?;
    if found != VERSION {
        return Err(FrameError::Version { found });
    }
    match postcard::take_from_bytes(rest) {
        Ok((frame, [])) => Ok(frame),
        _ => Err(FrameError::Malformed),
    }
}
