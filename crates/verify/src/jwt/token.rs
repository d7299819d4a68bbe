//! A token, and verifying its signature.

use base64::{Engine as _, alphabet, engine};
use serde_json::{Map, Value};

use crate::{
    algorithm::{Algorithm, Encoding},
    mac::Mac,
    public_key::{PublicKey, Signing},
};

/// Base64url without padding. Unused bits in the last character must not be set, or two texts would decode to the same
/// signature.
pub(super) const BASE64URL: engine::GeneralPurpose = engine::GeneralPurpose::new(
    &alphabet::URL_SAFE,
    engine::GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(engine::DecodePaddingMode::RequireNone),
);

/// The algorithms that providers sign tokens with (RFC 7518, 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JwsAlgorithm {
    /// HMAC with SHA-256.
    Hs256,
    /// RSA PKCS#1 v1.5 with SHA-256.
    Rs256,
    /// ECDSA over P-256 with SHA-256.
    Es256,
}

impl JwsAlgorithm {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hs256 => "HS256",
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }
}

/// A token that was parsed, but not verified.
#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    header: Map<String, Value>,
    pub(super) claims: Map<String, Value>,
    /// Header and claims as they were written: the signed text.
    signed: &'a str,
    /// The signature as it was written.
    signature: &'a str,
}

/// Why a token's signature doesn't match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenFault {
    /// The token names an algorithm, such as `none`, that isn't its provider's.
    Algorithm {
        /// The named algorithm; empty if the token names none.
        found: String,
        expected: &'static str,
    },
    /// No key has the id that the token names.
    UnknownKey(String),
    /// The signature is shorter than this kind of key makes it.
    Truncated,
    /// The signature was not made with that key.
    NoMatch,
}

impl<'a> Token<'a> {
    /// Parses a token; `None` if the text doesn't have the form of one.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let object =
            |part: &str| serde_json::from_slice::<Map<String, Value>>(&BASE64URL.decode(part).ok()?).ok();
        Some(Self { header: object(header)?, claims: object(claims)?, signed, signature })
    }

    /// Returns the id of the key that the token names.
    pub(crate) fn key_id(&self) -> Option<&str> {
        self.header.get("kid").and_then(Value::as_str)
    }

    /// Returns the signed text.
    pub(crate) fn signed(&self) -> &'a [u8] {
        self.signed.as_bytes()
    }

    /// Returns a claim if it is a string.
    pub(crate) fn claim(&self, name: &str) -> Option<&str> {
        self.claims.get(name).and_then(Value::as_str)
    }

    /// Checks that the token was signed with that shared secret (HS256).
    pub(crate) fn fits_secret(&self, secret: &[u8]) -> Result<(), TokenFault> {
        self.names(JwsAlgorithm::Hs256)?;
        let mut mac = Mac::new(Algorithm::HmacSha256, secret).ok_or(TokenFault::NoMatch)?;
        mac.update(self.signed.as_bytes());
        self.signature_of(Some(32))?;
        let tag = mac.finish(Encoding::Base64url);
        if tag.is(self.signature.as_bytes()) { Ok(()) } else { Err(TokenFault::NoMatch) }
    }

    /// Checks that the token was signed with the private half of that key, or of the key in the set that the token
    /// names.
    pub(crate) fn fits_key(&self, algorithm: JwsAlgorithm, key: &PublicKey) -> Result<(), TokenFault> {
        self.names(algorithm)?;
        let kid = self.key_id();
        if !key.knows(kid) {
            return Err(TokenFault::UnknownKey(kid.unwrap_or_default().to_owned()));
        }
        let signing = match algorithm {
            JwsAlgorithm::Es256 => Signing::P256Fixed,
            JwsAlgorithm::Rs256 => Signing::RsaSha256,
            JwsAlgorithm::Hs256 => return Err(TokenFault::NoMatch),
        };
        let signature = self.signature_of(key.signature_length(signing, kid))?;
        if key.verifies(signing, kid, self.signed(), &signature) { Ok(()) } else { Err(TokenFault::NoMatch) }
    }

    /// Checks that the token names that algorithm.
    pub(crate) fn names(&self, expected: JwsAlgorithm) -> Result<(), TokenFault> {
        let found = self.header.get("alg").and_then(Value::as_str).unwrap_or_default();
        // A header with `crit` demands extensions that we don't support, so it is rejected (RFC 7515, 4.1.11).
        if found == expected.name() && !self.header.contains_key("crit") {
            return Ok(());
        }
        Err(TokenFault::Algorithm { found: found.to_owned(), expected: expected.name() })
    }

    fn signature_of(&self, length: Option<usize>) -> Result<Vec<u8>, TokenFault> {
        let decoded = BASE64URL.decode(self.signature);
        let letters = length.map_or(0, |length| (length * 4).div_ceil(3));
        match decoded {
            _ if self.signature.len() < letters => Err(TokenFault::Truncated),
            Ok(signature) => Ok(signature),
            Err(_) => Err(TokenFault::NoMatch),
        }
    }
}
