//! Local test keys, for schemes where only the provider has the private key.
//!
//! The handler is configured with the public half in place of the provider's key, so that it accepts what we sign.

use std::fmt;

use ed25519_dalek::{
    Signer as _, SigningKey,
    pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, KeypairBytes},
};
use hookmitt_event::Explain;
use ring::{
    rand::SystemRandom,
    rsa,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
        RSA_PKCS1_SHA256,
    },
};
use x509_cert::der::pem::{LineEnding, decode_vec, encode_string};

use crate::{
    key_bytes::decode_base64,
    public_key::{PublicForm, PublicKey, Signing},
    rsa_key,
    secret_bytes::SecretBytes,
};

/// The kinds of keys that providers sign with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairKind {
    /// Ed25519: Discord, Standard Webhooks `v1a`.
    Ed25519,
    /// ECDSA over P-256: SendGrid, Plaid.
    P256,
    /// RSA of 2048 bits: PayPal, SNS, Google.
    Rsa,
}

/// Why there is no key pair, or no signature made with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TestKeyPairError {
    /// The operating system gave no random numbers, or no suitable prime was found.
    #[error("the test key could not be created")]
    NotMade,
    /// The text isn't a PKCS#8 private key of one of these kinds.
    #[error("not the private key of a test pair")]
    Unreadable,
    /// This kind of key can't sign in that way.
    #[error("this kind of key can't sign that way")]
    WrongKind,
}

impl Explain for TestKeyPairError {
    fn code(&self) -> &'static str {
        match self {
            Self::NotMade => "no-test-key",
            Self::Unreadable => "bad-test-key",
            Self::WrongKind => "wrong-test-key",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotMade => "try again".to_owned(),
            Self::Unreadable | Self::WrongKind => "create a new test key pair for this source".to_owned(),
        })
    }
}

/// A private key that we made, with its public half. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct TestKeyPair {
    kind: PairKind,
    pkcs8: SecretBytes,
    public: PublicKey,
}

impl fmt::Debug for TestKeyPair {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "TestKeyPair({:?}, …)", self.kind)
    }
}

const LABEL: &str = "PRIVATE KEY";

impl TestKeyPair {
    /// Generates a pair with randomness from the operating system. An RSA pair takes a moment.
    ///
    /// # Errors
    /// Returns [`TestKeyPairError::NotMade`] if no key could be generated.
    pub fn generate(kind: PairKind) -> Result<Self, TestKeyPairError> {
        let made = match kind {
            PairKind::Ed25519 => new_ed25519(),
            PairKind::P256 => {
                EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new())
                    .ok()
                    .map(|der| der.as_ref().to_vec())
            }
            PairKind::Rsa => rsa_key::generate(),
        };
        Self::from_pkcs8(&made.ok_or(TestKeyPairError::NotMade)?)
    }

    /// Reads the pair from its private half in PEM.
    ///
    /// # Errors
    /// Returns [`TestKeyPairError::Unreadable`] if the text isn't such a key.
    pub fn from_pem(pem: &str) -> Result<Self, TestKeyPairError> {
        let (label, der) = decode_vec(pem.trim().as_bytes()).map_err(|_| TestKeyPairError::Unreadable)?;
        if label == LABEL { Self::from_pkcs8(&der) } else { Err(TestKeyPairError::Unreadable) }
    }

    /// Reads the pair from a source's secret: PEM, or `whsk_…` as Standard Webhooks writes it.
    ///
    /// # Errors
    /// Returns [`TestKeyPairError::Unreadable`] if the secret isn't such a key.
    pub fn from_secret(secret: &[u8]) -> Result<Self, TestKeyPairError> {
        let Some(seed) = secret.strip_prefix(b"whsk_") else {
            return Self::from_pem(std::str::from_utf8(secret).map_err(|_| TestKeyPairError::Unreadable)?);
        };
        // The decoded bytes are the seed, or the seed followed by the public key.
        let seed = decode_base64(seed);
        let seed = seed.as_deref().and_then(|seed| seed.first_chunk()).ok_or(TestKeyPairError::Unreadable)?;
        Self::from_pkcs8(&of_seed(*seed).ok_or(TestKeyPairError::Unreadable)?)
    }

    /// Returns the kind of key.
    pub fn kind(&self) -> PairKind {
        self.kind
    }

    /// Returns the private half as PKCS#8 PEM, for storing as a secret.
    ///
    /// # Panics
    /// Never: any bytes can be written as PEM.
    pub fn private_pem(&self) -> String {
        encode_string(LABEL, LineEnding::LF, self.pkcs8.expose()).expect("any bytes can be written as PEM")
    }

    /// Returns the public half.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Returns the public half in the form that a handler expects; `None` if this kind of key doesn't have that form.
    pub fn public(&self, form: PublicForm) -> Option<String> {
        self.public.written(form)
    }

    /// Signs a message.
    ///
    /// # Errors
    /// Returns [`TestKeyPairError::WrongKind`] if this kind of key can't sign in that way.
    pub fn sign(&self, signing: Signing, message: &[u8]) -> Result<Vec<u8>, TestKeyPairError> {
        let der = self.pkcs8.expose();
        let random = SystemRandom::new();
        let signature = match (self.kind, signing) {
            (PairKind::Ed25519, Signing::Ed25519) => {
                SigningKey::from_pkcs8_der(der).ok().map(|key| key.sign(message).to_bytes().to_vec())
            }
            (PairKind::P256, Signing::P256Der | Signing::P256Fixed) => {
                let algorithm = match signing {
                    Signing::P256Fixed => &ECDSA_P256_SHA256_FIXED_SIGNING,
                    _ => &ECDSA_P256_SHA256_ASN1_SIGNING,
                };
                let pair = EcdsaKeyPair::from_pkcs8(algorithm, der, &random).ok();
                pair.and_then(|pair| pair.sign(&random, message).ok()).map(|made| made.as_ref().to_vec())
            }
            (PairKind::Rsa, Signing::RsaSha256) => rsa::KeyPair::from_pkcs8(der).ok().and_then(|pair| {
                let mut made = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut made).ok().map(|()| made)
            }),
            (PairKind::Rsa, Signing::RsaSha1) => rsa_key::sign_sha1(der, message),
            _ => None,
        };
        signature.ok_or(TestKeyPairError::WrongKind)
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, TestKeyPairError> {
        let pkcs8 = SecretBytes::from(der);
        let (kind, public) = ed25519(der)
            .map(|public| (PairKind::Ed25519, public))
            .or_else(|| p256(der).map(|public| (PairKind::P256, public)))
            .or_else(|| rsa_2048(der).map(|public| (PairKind::Rsa, public)))
            .ok_or(TestKeyPairError::Unreadable)?;
        Ok(Self { kind, pkcs8, public })
    }
}

/// Whether a secret is the private half of a key pair.
pub(crate) fn is_private_key(secret: &[u8]) -> bool {
    secret.starts_with(b"whsk_") || secret.trim_ascii_start().starts_with(b"-----BEGIN PRIVATE KEY-----")
}

fn new_ed25519() -> Option<Vec<u8>> {
    of_seed(ring::rand::generate(&SystemRandom::new()).ok()?.expose())
}

/// Encodes a seed as PKCS#8 version 1, without the public half, which older versions of OpenSSL reject.
fn of_seed(seed: [u8; 32]) -> Option<Vec<u8>> {
    let bytes = KeypairBytes { secret_key: seed, public_key: None };
    Some(bytes.to_pkcs8_der().ok()?.as_bytes().to_vec())
}

fn ed25519(der: &[u8]) -> Option<PublicKey> {
    let key = SigningKey::from_pkcs8_der(der).ok()?;
    PublicKey::from_bytes(key.verifying_key().as_bytes()).ok()
}

fn p256(der: &[u8]) -> Option<PublicKey> {
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, der, &SystemRandom::new()).ok()?;
    PublicKey::p256(pair.public_key().as_ref()).ok()
}

fn rsa_2048(der: &[u8]) -> Option<PublicKey> {
    let pair = rsa::KeyPair::from_pkcs8(der).ok()?;
    PublicKey::rsa(pair.public().as_ref()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::public_key::parse_public_key;

    #[test]
    fn what_a_test_pair_signs_verifies_with_each_form_of_its_public_half() {
        use PublicForm::{Hex, Jwk, Pem, Spki, Whpk};
        let table: [(PairKind, &[Signing], &[PublicForm]); 3] = [
            (PairKind::Ed25519, &[Signing::Ed25519], &[Hex, Whpk, Spki, Pem, Jwk]),
            (PairKind::P256, &[Signing::P256Der, Signing::P256Fixed], &[Spki, Pem, Jwk]),
            (PairKind::Rsa, &[Signing::RsaSha256, Signing::RsaSha1], &[Spki, Pem, Jwk]),
        ];
        for (kind, signings, forms) in table {
            let made = TestKeyPair::generate(kind).unwrap();
            let kept = TestKeyPair::from_pem(&made.private_pem()).unwrap();
            assert!(kept == made && kept.kind() == kind, "{kind:?}");
            for signing in signings {
                let signature = kept.sign(*signing, b"message").unwrap();
                for form in forms {
                    let key = parse_public_key(kept.public(*form).unwrap().as_bytes()).unwrap();
                    assert_eq!(&key, kept.public_key());
                    assert!(key.verifies(*signing, None, b"message", &signature), "{kind:?} {form:?}");
                    assert!(!key.verifies(*signing, None, b"massage", &signature), "{kind:?} {form:?}");
                }
            }
            let other = if kind == PairKind::Rsa { Signing::Ed25519 } else { Signing::RsaSha1 };
            assert_eq!(kept.sign(other, b"message"), Err(TestKeyPairError::WrongKind));
        }
    }

    #[test]
    fn a_test_pair_is_not_printed_and_not_made_of_anything() {
        let pair = TestKeyPair::generate(PairKind::P256).unwrap();
        assert_eq!(format!("{pair:?}"), "TestKeyPair(P256, …)");
        assert_eq!(pair.public(PublicForm::Hex), None);
        let named = pair.public_key().clone().with_key_id("k1");
        assert!(named.written(PublicForm::Jwk).unwrap().contains(r#""kid":"k1""#));
        for text in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "whsk_AAAA"] {
            assert_eq!(TestKeyPair::from_pem(text), Err(TestKeyPairError::Unreadable));
        }
    }
}
