//! Public keys in DER: SPKI, PKCS#1 and X.509 certificates.

use hookmitt_event::Timestamp;
use pkcs1::RsaPublicKeyRef;
use x509_cert::{
    Certificate,
    der::{
        Any, Decode as _, Encode as _,
        asn1::{BitString, ObjectIdentifier, UintRef},
    },
    spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned},
};

use super::{error::PublicKeyError, key::Key};

const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");

/// What a certificate says about its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// The subject's common name.
    pub common_name: Option<String>,
    /// The start of its validity.
    pub not_before: Timestamp,
    /// The end of its validity.
    pub not_after: Timestamp,
}

/// Parses a SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
pub(super) fn spki(der: &[u8]) -> Result<Key, PublicKeyError> {
    let info = SubjectPublicKeyInfoOwned::from_der(der).map_err(|_| PublicKeyError::Unreadable)?;
    key_of(&info)
}

/// Parses an RSAPublicKey (RFC 8017, A.1.1).
pub(super) fn pkcs1(der: &[u8]) -> Result<Key, PublicKeyError> {
    let key = RsaPublicKeyRef::from_der(der).map_err(|_| PublicKeyError::Unreadable)?;
    Key::rsa(key.modulus.as_bytes(), key.public_exponent.as_bytes())
}

/// Parses an X.509 certificate into its key and the facts that are checked against the provider. Its chain isn't
/// checked, because a published certificate comes from an allowed host over TLS and a supplied one was chosen by a
/// person.
pub(super) fn certificate(der: &[u8]) -> Result<(Key, CertificateFacts), PublicKeyError> {
    let certificate = Certificate::from_der(der).map_err(|_| PublicKeyError::Unreadable)?;
    let inner = certificate.tbs_certificate();
    let key = key_of(inner.subject_public_key_info())?;
    let name = inner.subject().common_name().ok().flatten();
    let moment = |time: x509_cert::time::Time| {
        Timestamp::from_seconds(i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX))
    };
    let facts = CertificateFacts {
        common_name: name.map(|name| name.value().into_owned()),
        not_before: moment(inner.validity().not_before),
        not_after: moment(inner.validity().not_after),
    };
    Ok((key, facts))
}

fn key_of(info: &SubjectPublicKeyInfoOwned) -> Result<Key, PublicKeyError> {
    let bytes = info.subject_public_key.as_bytes().ok_or(PublicKeyError::Unreadable)?;
    match info.algorithm.oid {
        ED25519 => Key::ed25519(bytes),
        RSA => pkcs1(bytes),
        EC => {
            let curve = info.algorithm.parameters.as_ref();
            let curve = curve.and_then(|any| any.decode_as::<ObjectIdentifier>().ok());
            if curve == Some(P256) {
                Key::p256(bytes)
            } else {
                Err(PublicKeyError::Kind("elliptic-curve keys other than P-256 and Ed25519"))
            }
        }
        _ => Err(PublicKeyError::Kind("keys of this algorithm")),
    }
}

/// Encodes a key as SubjectPublicKeyInfo, the reverse of [`spki`].
pub(super) fn to_spki(key: &Key) -> Result<Vec<u8>, x509_cert::der::Error> {
    let (oid, parameters, bytes) = match key {
        Key::Ed25519(key) => (ED25519, None, key.as_bytes().to_vec()),
        Key::P256(point) => (EC, Some(Any::encode_from(&P256)?), point.to_vec()),
        Key::Rsa { modulus, exponent } => {
            let key =
                RsaPublicKeyRef { modulus: UintRef::new(modulus)?, public_exponent: UintRef::new(exponent)? };
            (RSA, Some(Any::null()), key.to_der()?)
        }
    };
    let algorithm = AlgorithmIdentifierOwned { oid, parameters };
    SubjectPublicKeyInfoOwned { algorithm, subject_public_key: BitString::from_bytes(&bytes)? }.to_der()
}
