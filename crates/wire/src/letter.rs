//! A letter: one captured request, as a relay seals it and an app opens it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The newest letter version that this build reads and writes. The first byte of each letter is its version.
///
/// Version 1 does not say when its request arrived; only the envelope does, and nobody vouches for the envelope.
/// Version 2 ends with [`Received`]. A relay writes version 2 once every device of the tunnel has said that it reads
/// it.
pub const LETTER_VERSION: u8 = 2;

/// A request that a relay received, byte for byte, and what the relay knows about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// The event's id (UUIDv7). The relay makes it, because its answer to the sender already names it.
    pub id: [u8; 16],
    /// The slug of the source that the URL names.
    pub slug: String,
    /// The HTTP method.
    pub method: String,
    /// The raw path after the slug.
    pub path: String,
    /// The raw query, without its `?`.
    pub query: Option<String>,
    /// Whether the sender spoke HTTP/1.0 rather than 1.1.
    pub http10: bool,
    /// The header lines as they arrived, each with its line break, without the lines that a trusted proxy wrote.
    pub headers: Bytes,
    /// The body.
    pub body: Bytes,
    /// The SHA-256 of the body as the relay got it.
    pub sha256: [u8; 32],
    /// The URL that the sender called.
    pub url: String,
    /// The sender's address, as far as trusted proxies reveal it.
    pub remote: String,
    /// The `X-Forwarded-*`, `Forwarded`, `X-Real-IP` and `Via` lines of a trusted proxy, as they arrived.
    pub forwarded: Bytes,
    /// When the request arrived and whether its sender waits, sealed with the rest. `None` in a letter of version 1.
    #[serde(skip)]
    pub received: Option<Received>,
}

/// What the relay says about a request's arrival. It is sealed, so nobody who alters the relay's store can change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// When the last byte reached the relay, by the relay's clock, in microseconds since the Unix epoch.
    pub at: i64,
    /// Whether the sender waits for the app's answer.
    pub held: bool,
}

/// Why a letter can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LetterError {
    /// A newer relay wrote it.
    #[error("an event in format version {0}; this hookmitt reads {LETTER_VERSION}: update it")]
    Version(u8),
    /// Its bytes can't be parsed.
    #[error("an event that can't be read")]
    Malformed,
}

impl Letter {
    /// Returns the bytes to seal: version 2 if the letter says when it was received, else version 1.
    pub fn to_bytes(&self) -> Vec<u8> {
        let written = match &self.received {
            Some(received) => postcard::to_extend(&(self, received), vec![LETTER_VERSION]),
            None => postcard::to_extend(self, vec![1]),
        };
        written.unwrap_or_default()
    }

    /// Reads a letter from the bytes that were sealed.
    ///
    /// # Errors
    /// Returns [`LetterError::Version`] for an unknown version and [`LetterError::Malformed`] for bytes that can't be
    /// parsed.
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
