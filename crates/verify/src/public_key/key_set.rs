//! A public key as signatures are checked with it: one key, or several that are told apart by their ids.

use hookmitt_event::Timestamp;

use super::{
    der::{self, CertificateFacts},
    error::PublicKeyError,
    key::{Key, Signing},
};

/// A public key that signatures can be checked with, or a set of them that is told apart by key ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublicKey(Vec<NamedKey>);

/// One key of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedKey {
    /// Its id; one without answers to any.
    pub(super) kid: Option<String>,
    pub(super) key: Key,
    certificate: Option<CertificateFacts>,
    /// When its owner stopped using it.
    retired_at: Option<Timestamp>,
}

impl PublicKey {
    /// From the thirty-two bytes of an Ed25519 key.
    ///
    /// # Errors
    /// [`PublicKeyError::Point`] where they are no point of the curve, [`PublicKeyError::Unreadable`] where there are
    /// more or fewer.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PublicKeyError> {
        Key::ed25519(bytes).map(Self::one)
    }

    /// From an uncompressed point of P-256.
    pub(crate) fn p256(point: &[u8]) -> Result<Self, PublicKeyError> {
        Key::p256(point).map(Self::one)
    }

    /// From the PKCS#1 DER of an RSA key.
    pub(crate) fn rsa(der: &[u8]) -> Result<Self, PublicKeyError> {
        der::pkcs1(der).map(Self::one)
    }

    /// The same key under that id, where it is one key and has none yet.
    #[must_use]
    pub fn with_key_id(mut self, kid: &str) -> Self {
        if let [only] = self.0.as_mut_slice() {
            only.kid.get_or_insert_with(|| kid.to_owned());
        }
        self
    }

    /// The ids of its keys.
    pub fn key_ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|named| named.kid.as_deref())
    }

    /// What the certificate of the key with that id says, where it came in one.
    pub fn certificate(&self, kid: Option<&str>) -> Option<&CertificateFacts> {
        self.called(kid).find_map(|named| named.certificate.as_ref())
    }

    /// Whether a signature that names the key `kid` can be checked with it.
    pub fn knows(&self, kid: Option<&str>) -> bool {
        self.called(kid).next().is_some()
    }

    /// Whether the key of that id was out of use at that moment: its certificate had ended, or its owner retired it.
    ///
    /// A certificate that only begins later is no objection: what is stored may be judged with a renewed one.
    pub fn ended(&self, kid: Option<&str>, at: Timestamp) -> bool {
        self.called(kid).all(|named| {
            let until = named.certificate.as_ref().map(|certificate| certificate.not_after);
            until.into_iter().chain(named.retired_at).any(|end| end < at)
        })
    }

    /// Whether `signature` was made over `message` with the private half of the key with that id, or of any of them
    /// where none is named.
    pub fn verifies(&self, signing: Signing, kid: Option<&str>, message: &[u8], signature: &[u8]) -> bool {
        self.called(kid).any(|named| named.key.verifies(signing, message, signature))
    }

    /// How many bytes a signature made in that way has; `None` where that differs from one to the next.
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

    /// The first of its keys.
    pub(super) fn first(&self) -> Option<&NamedKey> {
        self.0.first()
    }
}
