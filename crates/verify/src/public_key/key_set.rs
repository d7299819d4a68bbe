//! The public keys that verify signatures: one key, or several with ids.

use hookmitt_event::Timestamp;

use super::{
    der::{self, CertificateFacts},
    error::PublicKeyError,
    key::{Key, Signing},
};

/// A public key that verifies signatures, or a set of them with key ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicKey(Vec<NamedKey>);

/// One key of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedKey {
    /// Its id. A key without an id matches every id.
    pub(super) kid: Option<String>,
    pub(super) key: Key,
    certificate: Option<CertificateFacts>,
    /// When its owner stopped using it.
    retired_at: Option<Timestamp>,
}

impl PublicKey {
    /// Creates a key from the 32 bytes of an Ed25519 key.
    ///
    /// # Errors
    /// Returns [`PublicKeyError::Point`] if they are not a point of the curve, [`PublicKeyError::Unreadable`] if there
    /// are not 32 of them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PublicKeyError> {
        Key::ed25519(bytes).map(Self::one)
    }

    /// Creates a key from an uncompressed point of P-256.
    pub(crate) fn p256(point: &[u8]) -> Result<Self, PublicKeyError> {
        Key::p256(point).map(Self::one)
    }

    /// Creates a key from the PKCS#1 DER of an RSA key.
    pub(crate) fn rsa(der: &[u8]) -> Result<Self, PublicKeyError> {
        der::pkcs1(der).map(Self::one)
    }

    /// Gives the key this id, if it is a single key without an id.
    #[must_use]
    pub fn with_key_id(mut self, kid: &str) -> Self {
        if let [only] = self.0.as_mut_slice() {
            only.kid.get_or_insert_with(|| kid.to_owned());
        }
        self
    }

    /// Iterates over the ids of the keys.
    pub fn key_ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|named| named.kid.as_deref())
    }

    /// Returns the facts of the certificate that the key with that id came in, if it came in one.
    pub fn certificate(&self, kid: Option<&str>) -> Option<&CertificateFacts> {
        self.called(kid).find_map(|named| named.certificate.as_ref())
    }

    /// Whether there is a key for a signature that names the key `kid`.
    pub fn knows(&self, kid: Option<&str>) -> bool {
        self.called(kid).next().is_some()
    }

    /// Whether the key of that id was out of use at that time: its certificate had expired, or its owner had retired
    /// it.
    ///
    /// A certificate that isn't valid yet is accepted, because a stored event may be verified with a renewed
    /// certificate.
    pub fn ended(&self, kid: Option<&str>, at: Timestamp) -> bool {
        self.called(kid).all(|named| {
            let until = named.certificate.as_ref().map(|certificate| certificate.not_after);
            until.into_iter().chain(named.retired_at).any(|end| end < at)
        })
    }

    /// Whether `signature` was made over `message` with the private half of the key with that id, or of any key if no
    /// id is given.
    pub fn verifies(&self, signing: Signing, kid: Option<&str>, message: &[u8], signature: &[u8]) -> bool {
        self.called(kid).any(|named| named.key.verifies(signing, message, signature))
    }

    /// Returns the length in bytes of a signature made in that way; `None` if it varies.
    pub fn signature_length(&self, signing: Signing, kid: Option<&str>) -> Option<usize> {
        self.called(kid).find_map(|named| named.key.signature_length(signing))
    }

    fn called(&self, kid: Option<&str>) -> impl Iterator<Item = &NamedKey> {
        self.0.iter().filter(move |named| kid.is_none() || named.kid.is_none() || named.kid.as_deref() == kid)
    }

    pub(super) fn one(key: Key) -> Self {
        Self(vec![NamedKey { kid: None, key, certificate: None, retired_at: None }])
    }

    pub(super) fn certified(mut self, facts: CertificateFacts) -> Self {
        self.0.iter_mut().for_each(|named| named.certificate = Some(facts.clone()));
        self
    }

    pub(super) fn retired(mut self, at: Option<Timestamp>) -> Self {
        self.0.iter_mut().for_each(|named| named.retired_at = at);
        self
    }

    pub(super) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the first key.
    pub(super) fn first(&self) -> Option<&NamedKey> {
        self.0.first()
    }
}
