//! One captured request as a relay seals it and an app opens it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The version of letters that this build writes: the first byte of each.
const VERSION: u8 = 1;

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
}

/// A letter that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LetterError {
    /// It was written by a newer relay.
    #[error("a letter of version {0}; this hookmitt reads {VERSION}: update it")]
    Version(u8),
    /// Its bytes make no sense.
    #[error("a letter that can't be read")]
    Malformed,
}

impl Letter {
    /// Its bytes, to be sealed.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_extend(self, vec![VERSION]).unwrap_or_default()
    }

    /// A letter from what was sealed.
    ///
    /// # Errors
    /// [`LetterError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LetterError> {
        match bytes.split_first() {
            Some((&VERSION, rest)) => match postcard::take_from_bytes(rest) {
                Ok((letter, [])) => Ok(letter),
                _ => Err(LetterError::Malformed),
            },
            Some((&other, _)) => Err(LetterError::Version(other)),
            None => Err(LetterError::Malformed),
        }
    }
}
