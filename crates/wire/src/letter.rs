//! One captured request as a relay seals it and an app opens it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The newest version of letters that this build reads and writes: the first byte of each.
///
/// Version 1 says nothing of when its request came: only the envelope does, which nobody vouches for. Version 2 ends with
/// [`Received`]. A relay writes it for a tunnel whose devices have all said that they read it.
pub const LETTER_VERSION: u8 = 2;

/// A request at a relay, byte for byte, and what the relay knows of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// The event's id (UUIDv7), made by the relay: its answer named it already.
    pub id: [u8; 16],
    /// The source that the URL names.
    pub slug: String,
    /// The method.
    pub method: String,
    /// The raw path after the slug.
    pub path: String,
    /// The raw query, without its `?`.
    pub query: Option<String>,
    /// Whether the sender spoke HTTP/1.0 rather than 1.1.
    pub http10: bool,
    /// The header lines as they came, each ended by its line break, without those that a trusted proxy wrote.
    pub headers: Bytes,
    /// The body.
    pub body: Bytes,
    /// The SHA-256 of the body as the relay got it.
    pub sha256: [u8; 32],
    /// The URL that the sender called.
    pub url: String,
    /// The sender's address, as far as trusted proxies tell.
    pub remote: String,
    /// `X-Forwarded-*`, `Forwarded`, `X-Real-IP` and `Via` lines of a trusted proxy, as they came.
    pub forwarded: Bytes,
    /// When it came, and whether its sender waits, sealed with the rest; none in a letter of version 1.
    #[serde(skip)]
    pub received: Option<Received>,
}

/// What the relay says of a request's arrival. It is sealed, so that nobody who alters the relay's store can change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// When the last byte was at the relay, by its clock, in microseconds since the Unix epoch.
    pub at: i64,
    /// Whether the sender waits for the app's answer.
    pub held: bool,
}

/// A letter that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LetterError {
    /// It was written by a newer relay.
    #[error("a letter of version {0}; this hookmitt reads {LETTER_VERSION}: update it")]
    Version(u8),
    /// Its bytes make no sense.
    #[error("a letter that can't be read")]
    Malformed,
}

impl Letter {
    /// Its bytes, to be sealed: of version 2 where it says when it was received, else of version 1.
    pub fn to_bytes(&self) -> Vec<u8> {
        let written = match &self.received {
            Some(received) => postcard::to_extend(&(self, received), vec![LETTER_VERSION]),
            None => postcard::to_extend(self, vec![1]),
        };
        written.unwrap_or_default()
    }

    /// A letter from what was sealed.
    ///
    /// # Errors
    /// [`LetterError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LetterError> {
        let (&version, rest) = bytes.split_first().ok_or(LetterError::Malformed)?;
        let read = match version {
            1 => postcard::take_from_bytes::<Self>(rest),
            LETTER_VERSION => postcard::take_from_bytes::<(Self, Received)>(rest).map(|(read, rest)| {
                let (letter, received) = read;
                (Self { received: Some(received), ..letter }, rest)
            }),
            other => return Err(LetterError::Version(other)),
        };
        match read {
            Ok((letter, [])) => Ok(letter),
            _ => Err(LetterError::Malformed),
        }
    }
}
