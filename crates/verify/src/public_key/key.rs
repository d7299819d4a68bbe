//! One key, and verifying signatures with it.

use ed25519_dalek::{Signature, VerifyingKey};
use ring::signature as ring_signature;

use super::error::PublicKeyError;

/// How a signature is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signing {
    /// Ed25519. The signature is 64 bytes.
    Ed25519,
    /// ECDSA over P-256 with SHA-256. The signature is DER.
    P256Der,
    /// ECDSA over P-256 with SHA-256. The signature is r and s, 32 bytes each (JWS, RFC 7518, 3.4).
    P256Fixed,
    /// RSA PKCS#1 v1.5 with SHA-1, which SNS's first signature version and PayPal's legacy algorithm use.
    RsaSha1,
    /// RSA PKCS#1 v1.5 with SHA-256.
    RsaSha256,
}

/// A key without its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Ed25519(VerifyingKey),
    /// The uncompressed point.
    P256([u8; 65]),
    Rsa {
        modulus: Box<[u8]>,
        exponent: Box<[u8]>,
    },
}

impl Key {
    pub(super) fn ed25519(bytes: &[u8]) -> Result<Self, PublicKeyError> {
        let bytes: &[u8; 32] = bytes.try_into().map_err(|_| PublicKeyError::Unreadable)?;
        VerifyingKey::from_bytes(bytes).map(Self::Ed25519).map_err(|_| PublicKeyError::Point("Ed25519"))
    }

    /// Creates a key from an uncompressed point (SEC 1, 2.3.3).
    pub(super) fn p256(point: &[u8]) -> Result<Self, PublicKeyError> {
        match (point.first(), point.try_into()) {
            (Some(4), Ok(point)) => Ok(Self::P256(point)),
            (Some(2 | 3), _) if point.len() == 33 => Err(PublicKeyError::Kind("compressed P-256 points")),
            _ => Err(PublicKeyError::Point("P-256")),
        }
    }

    /// Creates a key from the big-endian bytes of modulus and exponent.
    pub(super) fn rsa(modulus: &[u8], exponent: &[u8]) -> Result<Self, PublicKeyError> {
        let [modulus, exponent] = [modulus, exponent].map(without_zeros);
        let top = modulus.first().ok_or(PublicKeyError::Unreadable)?;
        let bits = modulus.len() * 8 - top.leading_zeros() as usize;
        if exponent.is_empty() {
            return Err(PublicKeyError::Unreadable);
        }
        if !(1024..=8192).contains(&bits) {
            return Err(PublicKeyError::RsaSize(bits));
        }
        Ok(Self::Rsa { modulus: modulus.into(), exponent: exponent.into() })
    }

    /// Returns the length of a signature in bytes. Returns `None` if it varies, or if this kind of key doesn't sign
    /// that way.
    pub(super) fn signature_length(&self, signing: Signing) -> Option<usize> {
        match (self, signing) {
            (Self::Ed25519(_), Signing::Ed25519) | (Self::P256(_), Signing::P256Fixed) => Some(64),
            (Self::Rsa { modulus, .. }, Signing::RsaSha1 | Signing::RsaSha256) => Some(modulus.len()),
            _ => None,
        }
    }

    /// Whether `signature` was made over `message` with the private half.
    pub(super) fn verifies(&self, signing: Signing, message: &[u8], signature: &[u8]) -> bool {
        match (self, signing) {
            (Self::Ed25519(key), Signing::Ed25519) => Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(message, &signature).is_ok()),
            (Self::P256(point), Signing::P256Der | Signing::P256Fixed) => {
                let algorithm = match signing {
                    Signing::P256Fixed => &ring_signature::ECDSA_P256_SHA256_FIXED,
                    _ => &ring_signature::ECDSA_P256_SHA256_ASN1,
                };
                ring_signature::UnparsedPublicKey::new(algorithm, point).verify(message, signature).is_ok()
            }
            (Self::Rsa { modulus, exponent }, Signing::RsaSha1 | Signing::RsaSha256) => {
                // Providers choose the key length, so old keys of 1024 bits are accepted.
                let parameters = match signing {
                    Signing::RsaSha1 => &ring_signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
                    _ => &ring_signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
                };
                let key = ring_signature::RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(parameters, message, signature).is_ok()
            }
            _ => false,
        }
    }
}

/// Removes the leading zeros that DER and some JWKs put before a number.
fn without_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}
