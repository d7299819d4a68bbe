//! Keyed hashes, and comparing in constant time what depends on a secret.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use subtle::ConstantTimeEq as _;

use crate::algorithm::{Algorithm, Encoding};

/// A keyed hash with its key set, or a plain hash, ready for input. Cloning a keyed one saves hashing the key again.
#[derive(Clone)]
pub(crate) enum Mac {
    Sha1(Hmac<Sha1>),
    Sha256(Hmac<Sha256>),
    Sha512(Box<Hmac<Sha512>>),
    /// A plain hash without a key: the secret is part of what is hashed.
    Plain(Sha256),
}

/// The longest text of a tag, in bytes: SHA-512 in hex.
const LONGEST: usize = 128;

/// The result of a keyed hash, as text in the scheme's encoding.
pub(crate) struct TagText {
    text: [u8; LONGEST],
    length: usize,
}

impl Mac {
    /// Creates a keyed hash with a key of any length, or a plain hash, which ignores the key. Returns `None` if the
    /// algorithm is no hash.
    pub(crate) fn new(algorithm: Algorithm, key: &[u8]) -> Option<Self> {
        Some(match algorithm {
            Algorithm::HmacSha1 => Self::Sha1(Hmac::new_from_slice(key).ok()?),
            Algorithm::HmacSha256 => Self::Sha256(Hmac::new_from_slice(key).ok()?),
            Algorithm::HmacSha512 => Self::Sha512(Box::new(Hmac::new_from_slice(key).ok()?)),
            Algorithm::Sha256 => Self::Plain(Sha256::new()),
            _ => return None,
        })
    }

    /// Adds bytes to the hashed content.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(mac) => mac.update(bytes),
            Self::Sha256(mac) => mac.update(bytes),
            Self::Sha512(mac) => mac.update(bytes),
            Self::Plain(hash) => hash.update(bytes),
        }
    }

    /// Returns the tag as text.
    pub(crate) fn finish(self, encoding: Encoding) -> TagText {
        match self {
            Self::Sha1(mac) => TagText::new(&mac.finalize().into_bytes(), encoding),
            Self::Sha256(mac) => TagText::new(&mac.finalize().into_bytes(), encoding),
            Self::Sha512(mac) => TagText::new(&mac.finalize().into_bytes(), encoding),
            Self::Plain(hash) => TagText::new(&hash.finalize(), encoding),
        }
    }
}

impl TagText {
    fn new(tag: &[u8], encoding: Encoding) -> Self {
        let mut text = [0; LONGEST];
        let length = match encoding {
            Encoding::Hex => {
                let length = tag.len() * 2;
                hex::encode_to_slice(tag, &mut text[..length])
                    .expect("the buffer holds the longest tag in hex");
                length
            }
            Encoding::Base64 => {
                STANDARD.encode_slice(tag, &mut text).expect("the buffer holds the longest tag in base64")
            }
            Encoding::Base64url => URL_SAFE_NO_PAD
                .encode_slice(tag, &mut text)
                .expect("the buffer holds the longest tag in base64"),
        };
        Self { text, length }
    }

    /// The text.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.text[..self.length]
    }

    /// Whether the tag is exactly `given`. A near miss takes as long as any other mismatch.
    pub(crate) fn is(&self, given: &[u8]) -> bool {
        constant_time_eq(self.as_bytes(), given)
    }
}

/// Whether two texts are equal. The time taken reveals only their length.
pub(crate) fn constant_time_eq(left: &[u8], right: &[u8]) -> bool {
    bool::from(left.ct_eq(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_written_in_the_scheme_s_encoding() {
        // RFC 4231, test case 2.
        let mut mac = Mac::new(Algorithm::HmacSha256, b"Jefe").unwrap();
        mac.update(b"what do ya want for nothing?");
        let hex = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert!(mac.clone().finish(Encoding::Hex).is(hex.as_bytes()));
        assert!(mac.finish(Encoding::Base64).is(b"W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM="));
        assert!(Mac::new(Algorithm::Token, b"x").is_none());
    }
}
