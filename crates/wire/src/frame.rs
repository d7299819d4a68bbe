//! The frames of a tunnel. Each is one binary WebSocket message: a version byte, then the frame in postcard.
//!
//! The relay speaks first, with [`RelayFrame::Challenge`]. The app replies with [`AppFrame::Hello`], and the relay with
//! [`RelayFrame::Welcome`] or [`RelayFrame::Refused`]. Then the relay sends letters, and the app acknowledges them.

use bytes::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The frame version that this build speaks.
pub const VERSION: u8 = 1;

/// The newest vocabulary ("words") that this build knows: which frames and letter versions it understands.
///
/// Each side names its own in the header line [`WORDS_HEADER`] of the WebSocket upgrade; a side without that line knows
/// vocabulary 1. Neither side sends what the other does not know.
///
/// Vocabulary 1: all frames up to [`AppFrame::Leave`]. Vocabulary 2: devices introduce themselves, are listed and can
/// be revoked; letters of version 2. Vocabulary 3: [`RelayFrame::Unserved`].
pub const WORDS: u8 = 3;

/// The header line of the upgrade that carries a side's [`WORDS`].
pub const WORDS_HEADER: &str = "hookmitt-words";

/// The size limit of one frame, in bytes.
pub const MAX_FRAME: usize = 1024 * 1024;

/// The size limit of an encoded [`AppFrame::Sources`] frame, in bytes, because a relay keeps the sources in one record.
pub const MAX_SOURCES: usize = 192 * 1024;

/// The size limit of one sealed letter, in bytes: a body of 25 MiB, its head, and room for what the relay adds.
pub const MAX_LETTER: usize = 32 * 1024 * 1024;

/// How many names of unknown sources a relay tells.
pub const MAX_UNSERVED: usize = 8;

/// A sealed letter longer than this many bytes is sent in pieces of this size, so that heartbeats and other letters can
/// pass between them.
pub const PIECE: usize = 256 * 1024;

/// The text that a device signs begins with this prefix, so that the signature is of no use in any other context.
pub const HELLO_CONTEXT: &[u8] = b"hookmitt tunnel hello v1\0";

/// A frame from a relay to an app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RelayFrame {
    /// Asks the device to sign a nonce.
    Challenge {
        /// Random bytes, used only once.
        nonce: [u8; 32],
    },
    /// The device has proved who it is.
    Welcome {
        /// The tunnel's public URL, without a trailing slash.
        public_url: String,
        /// What waits for this device in the mailbox.
        depth: Depth,
        /// The newest position in the mailbox. Letters up to this position were waiting before the device connected.
        newest: u64,
        /// The relay's clock, in microseconds since the Unix epoch.
        now: i64,
    },
    /// The relay ends the session and closes the connection.
    Refused {
        /// A stable code: `unknown-device`, `bad-signature`, `bad-frame`, `version`, `connected-elsewhere`, `busy`,
        /// `stopping`, `flood`. Apps also understand `unknown-tunnel`, which this build's relay does not send.
        code: String,
        /// What happened, and what to do about it.
        message: String,
    },
    /// One sealed letter, or its first piece.
    Parcel {
        /// The letter's position in the mailbox. Positions grow, with gaps.
        position: u64,
        /// The letter's envelope, with all of its data or only the first piece.
        parcel: Parcel,
        /// The length of the whole letter's data, in bytes.
        size: u32,
    },
    /// The next piece of a letter.
    Piece {
        /// The position of the letter to which this piece belongs.
        position: u64,
        /// The bytes of this piece.
        data: Bytes,
    },
    /// Answers an [`AppFrame::Ping`].
    Pong {
        /// The stamp of the ping.
        stamp: u64,
        /// What waits for this device now.
        depth: Depth,
    },
    /// Answers an [`AppFrame::Invite`].
    Invited {
        /// The one-time code with which another device joins.
        code: String,
        /// When the code expires, in microseconds since the Unix epoch.
        until: i64,
    },
    /// Answers an [`AppFrame::Devices`].
    Devices {
        /// The public key to which letters are sealed now.
        sealing_key: [u8; 32],
        /// The tunnel's devices.
        devices: Vec<TunnelDevice>,
    },
    /// Answers an [`AppFrame::Revoke`]: `None` if the device was revoked, else an error code and a message.
    Revoked(Option<(String, String)>),
    /// The key to which letters are sealed now. Sent after the welcome, when the key was replaced, and on request.
    SealingKey {
        /// The public key.
        sealing_key: [u8; 32],
        /// What the owner tells this device about the new private key, sealed to it; empty if the owner told it
        /// nothing.
        note: Bytes,
    },
    /// The names that were called lately and are no sources of the tunnel, newest first, at most [`MAX_UNSERVED`]. Sent
    /// after a [`Pong`](Self::Pong) if they have changed.
    Unserved(Vec<String>),
}

/// A device of a tunnel, as the relay knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunnelDevice {
    /// Its Ed25519 public key.
    pub key: [u8; 32],
    /// Its display name.
    pub name: String,
    /// When it joined, in microseconds since the Unix epoch.
    pub joined_at: i64,
    /// When it was last connected, in microseconds since the Unix epoch.
    pub seen_at: i64,
    /// Whether it is connected now.
    pub is_connected: bool,
    /// Whether it is the device that opened the tunnel.
    pub is_owner: bool,
    /// The proof of its invitation that it gave in its introduction.
    pub proof: Option<[u8; 32]>,
}

/// The status of an [`AppFrame::Answer`] without an answer: the relay sends the source's default answer.
pub const NO_ANSWER: u16 = 0;

/// A frame from an app to a relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AppFrame {
    /// Says which device of which tunnel this is, and proves it.
    Hello {
        /// The tunnel's name.
        tunnel: String,
        /// The device's Ed25519 public key.
        device: [u8; 32],
        /// The device's signature over [`hello_text`], 64 bytes.
        signature: Bytes,
        /// The program and its version, for the relay's log.
        app: String,
        /// How many letters may be sent but not yet acknowledged.
        window: u32,
        /// How many bytes of letters may be sent but not yet acknowledged.
        window_bytes: u32,
    },
    /// All the sources that the tunnel takes. Sent after the welcome and whenever they change.
    Sources(Vec<SourceOffer>),
    /// Acknowledges letters that are committed durably on this device.
    Ack {
        /// Every letter up to this position is committed.
        through: u64,
        /// The positions of later letters that are committed, too.
        also: Vec<u64>,
    },
    /// The answer for a sender that the relay holds.
    Answer {
        /// The event id of the sender's letter.
        event: [u8; 16],
        /// The HTTP status, or [`NO_ANSWER`] if the source's default answer will do.
        status: u16,
        /// The header lines of the answer.
        headers: Vec<(String, Bytes)>,
        /// The body of the answer.
        body: Bytes,
    },
    /// Asks whether the relay is still there.
    Ping {
        /// A number that the relay sends back unchanged.
        stamp: u64,
    },
    /// Asks for a one-time code with which another device can join.
    Invite,
    /// This device leaves the tunnel; the relay forgets its cursor and its key.
    Leave,
    /// Says what this device can do; sent after the welcome.
    Introduce {
        /// The newest letter version that the device reads.
        letters: u8,
        /// Proof that the device was invited: only a holder of the tunnel's sealing key can compute it. The owner, who
        /// holds that key too, checks it.
        proof: [u8; 32],
    },
    /// Asks for the list of the tunnel's devices.
    Devices,
    /// Revokes a device and replaces the sealing key.
    Revoke {
        /// The device to revoke.
        device: [u8; 32],
        /// The sealing key (public) that is replaced.
        before: [u8; 32],
        /// The new sealing key (public).
        sealing_key: [u8; 32],
        /// The note about the new key for each device that stays: the device's key, then the note.
        notes: Vec<([u8; 32], Bytes)>,
    },
    /// Asks for the current sealing key.
    SealingKey,
}

/// A sealed letter in its envelope. The envelope is what the relay and its disk can read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parcel {
    /// The encapsulated key of the epoch in which the letter was sealed (HPKE, RFC 9180). It also identifies the epoch.
    pub epoch: [u8; 32],
    /// The letter's number in its epoch, counted from 0.
    pub number: u32,
    /// When the request's last byte reached the relay, in microseconds since the Unix epoch.
    pub received_at: i64,
    /// Whether the sender waits for the app's answer.
    pub held: bool,
    /// The sealed [`Letter`](crate::Letter).
    pub data: Bytes,
}

/// What waits for a device at the relay, and what the relay refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depth {
    /// The number of letters that wait.
    pub letters: u64,
    /// The size of their sealed data, in bytes.
    pub bytes: u64,
    /// When the oldest of them was received, in microseconds since the Unix epoch.
    pub oldest: Option<i64>,
    /// How many requests were refused (429, 507, 503) since the tunnel was opened, plus how many letters expired before
    /// this device got them. Never decreases.
    pub refused: u64,
    /// When a request was last refused, in microseconds since the Unix epoch.
    pub refused_at: Option<i64>,
    /// How many requests named a source that the tunnel doesn't have. Never decreases.
    pub unknown: u64,
}

/// Which senders of a source are held until the app has answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    /// Only senders of set-up requests, so that they get the answer that their provider expects.
    #[default]
    Handshakes,
    /// Every sender: the source must answer 401 to what is not genuine, or it is set to wait for the app.
    Always,
    /// No sender.
    Never,
}

/// A source that a tunnel takes, and how the relay answers for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceOffer {
    /// The source's slug in URLs.
    pub slug: String,
    /// The provider's id, if the user set one.
    pub provider: Option<String>,
    /// Which senders are held.
    pub hold: Hold,
    /// The status of the default answer. If it is `None`: 200 for a known provider, else 202.
    pub status: Option<u16>,
    /// The header lines of the default answer.
    pub headers: Vec<(String, Bytes)>,
    /// The body of the default answer, instead of `{"received":true,"id":…}`.
    pub body: Option<String>,
    /// How long the relay waits before the default answer, in milliseconds.
    pub delay_ms: u64,
}

/// Why a message is not a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The other side speaks another frame version.
    #[error(
        "the other side speaks version {found} of the tunnel's frames, this one {VERSION}: update whichever is older"
    )]
    Version {
        /// The version of the other side.
        found: u8,
    },
    /// The message is longer than [`MAX_FRAME`].
    #[error("a frame of {0} bytes; the maximum is {MAX_FRAME}")]
    TooLarge(usize),
    /// The bytes can't be parsed.
    #[error("a frame that can't be read")]
    Malformed,
}

/// Returns the text that a device signs: [`HELLO_CONTEXT`], the tunnel's name, a zero byte, and the relay's nonce.
pub fn hello_text(tunnel: &str, nonce: &[u8; 32]) -> Vec<u8> {
    [HELLO_CONTEXT, tunnel.as_bytes(), &[0], nonce].concat()
}

/// Returns the bytes of a frame, with the version byte in front.
pub fn encode(frame: &impl Serialize) -> Bytes {
    let start = vec![VERSION];
    // Writing plain data to memory can't fail. If it did, the other side would refuse the empty message.
    postcard::to_extend(frame, start).map(Bytes::from).unwrap_or_default()
}

/// Reads a frame from the bytes of a message.
///
/// # Errors
/// Returns a [`FrameError`] if the message is too large, has another version, or can't be parsed.
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
