//! Public keys in the writings that people have them in.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use ed25519_dalek::{Signature, VerifyingKey};
use hookmitt_event::Explain;

/// A public key that signatures can be checked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// A text that is not a public key we can use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublicKeyError {
    /// Nothing that looks like a key.
    #[error("not a public key")]
    Unreadable,
    /// A kind of key that is known and not supported yet.
    #[error("{0} are not supported yet")]
    Kind(&'static str),
    /// Thirty-two bytes that are no point of the curve.
    #[error("not a point of the Ed25519 curve")]
    Point,
}

impl Explain for PublicKeyError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unreadable => "bad-public-key",
            Self::Kind(_) => "unsupported-key",
            Self::Point => "bad-public-key",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Kind(_) => "use an Ed25519 public key".to_owned(),
            Self::Unreadable | Self::Point => {
                "use PEM, base64 SPKI, hex or base64 of 32 bytes, whpk_…, or a JWK".to_owned()
            }
        })
    }
}

impl PublicKey {
    /// From the thirty-two bytes of an Ed25519 key.
    ///
    /// # Errors
    /// [`PublicKeyError::Point`] where they are no point of the curve, [`PublicKeyError::Unreadable`] where there are
    /// more or fewer.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PublicKeyError> {
        let bytes: &[u8; 32] = bytes.try_into().map_err(|_| PublicKeyError::Unreadable)?;
        VerifyingKey::from_bytes(bytes).map(Self).map_err(|_| PublicKeyError::Point)
    }

    /// Whether `signature` (64 bytes) was made over `message` with its private key.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        Signature::from_slice(signature)
            .is_ok_and(|signature| self.0.verify_strict(message, &signature).is_ok())
    }
}

/// The start of an Ed25519 key in SPKI (RFC 8410, 10.1): the 32 bytes follow.
const ED25519_SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// Object identifiers, DER-encoded, of the kinds of keys that providers use otherwise.
const RSA_OID: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const EC_OID: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// Reads a public key: PEM, base64 SPKI, hex or base64 of 32 bytes, `whpk_…` or a JWK.
///
/// # Errors
/// [`PublicKeyError`] where it is none, or one of a kind that is not supported yet.
pub fn parse_public_key(bytes: &[u8]) -> Result<PublicKey, PublicKeyError> {
    if bytes.len() == 32 && std::str::from_utf8(bytes).is_err() {
        return PublicKey::from_bytes(bytes);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| PublicKeyError::Unreadable)?.trim();
    if text.starts_with('{') {
        return parse_jwk(text);
    }
    if text.starts_with("-----BEGIN ") {
        return parse_pem(text);
    }
    if let Some(rest) = text.strip_prefix("whpk_") {
        return PublicKey::from_bytes(&decode(rest).ok_or(PublicKeyError::Unreadable)?);
    }
    if text.len() == 64
        && let Ok(raw) = hex::decode(text)
    {
        return PublicKey::from_bytes(&raw);
    }
    let raw = decode(text).ok_or(PublicKeyError::Unreadable)?;
    if raw.len() == 32 { PublicKey::from_bytes(&raw) } else { parse_spki(&raw) }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let text: String = text.split_ascii_whitespace().collect();
    [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD]
        .into_iter()
        .find_map(|engine| engine.decode(&text).ok())
}

fn parse_pem(text: &str) -> Result<PublicKey, PublicKeyError> {
    let rest = text.strip_prefix("-----BEGIN ").ok_or(PublicKeyError::Unreadable)?;
    let (label, rest) = rest.split_once("-----").ok_or(PublicKeyError::Unreadable)?;
    let (base64, _) = rest.split_once("-----END ").ok_or(PublicKeyError::Unreadable)?;
    match label {
        "PUBLIC KEY" => parse_spki(&decode(base64).ok_or(PublicKeyError::Unreadable)?),
        "CERTIFICATE" => Err(PublicKeyError::Kind("certificates")),
        "RSA PUBLIC KEY" => Err(PublicKeyError::Kind("RSA keys")),
        _ => Err(PublicKeyError::Unreadable),
    }
}

fn parse_spki(der: &[u8]) -> Result<PublicKey, PublicKeyError> {
    let holds = |oid: &[u8]| der.windows(oid.len()).take(64).any(|window| window == oid);
    match der.strip_prefix(&ED25519_SPKI) {
        Some(raw) => PublicKey::from_bytes(raw),
        None if holds(RSA_OID) => Err(PublicKeyError::Kind("RSA keys")),
        None if holds(EC_OID) => Err(PublicKeyError::Kind("elliptic-curve keys other than Ed25519")),
        None => Err(PublicKeyError::Unreadable),
    }
}

fn parse_jwk(text: &str) -> Result<PublicKey, PublicKeyError> {
    let jwk: serde_json::Value = serde_json::from_str(text).map_err(|_| PublicKeyError::Unreadable)?;
    // A set with one key in it is as good as the key.
    let jwk = jwk.pointer("/keys/0").unwrap_or(&jwk);
    let member = |name: &str| jwk.get(name).and_then(serde_json::Value::as_str);
    match (member("kty"), member("crv"), member("x")) {
        (Some("OKP"), Some("Ed25519"), Some(x)) => {
            PublicKey::from_bytes(&decode(x).ok_or(PublicKeyError::Unreadable)?)
        }
        (Some("RSA"), ..) => Err(PublicKeyError::Kind("RSA keys")),
        (Some("EC"), ..) => Err(PublicKeyError::Kind("elliptic-curve keys other than Ed25519")),
        _ => Err(PublicKeyError::Unreadable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, 7.1, test 1.
    const HEX: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    #[test]
    fn one_key_is_read_in_every_writing() {
        let raw = hex::decode(HEX).unwrap();
        let base64 = STANDARD.encode(&raw);
        let spki = STANDARD.encode([&ED25519_SPKI[..], &raw].concat());
        let x = URL_SAFE_NO_PAD.encode(&raw);
        let writings = [
            HEX.to_owned(),
            HEX.to_ascii_uppercase(),
            format!("{base64}\n"),
            format!("whpk_{base64}"),
            spki.clone(),
            format!("-----BEGIN PUBLIC KEY-----\n{spki}\n-----END PUBLIC KEY-----\n"),
            format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}"#),
            format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}]}}"#),
        ];
        let key = PublicKey::from_bytes(&raw).unwrap();
        for writing in writings {
            assert_eq!(parse_public_key(writing.as_bytes()).as_ref(), Ok(&key), "{writing}");
        }
        assert_eq!(parse_public_key(&raw), Ok(key));
    }

    #[test]
    fn what_can_t_be_used_says_so() {
        let table: [(&str, PublicKeyError); 5] = [
            ("", PublicKeyError::Unreadable),
            ("hello", PublicKeyError::Unreadable),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
                PublicKeyError::Kind("certificates"),
            ),
            (r#"{"kty":"RSA","n":"AQAB"}"#, PublicKeyError::Kind("RSA keys")),
            (r#"{"kty":"EC"}"#, PublicKeyError::Kind("elliptic-curve keys other than Ed25519")),
        ];
        for (text, error) in table {
            assert_eq!(parse_public_key(text.as_bytes()), Err(error), "{text}");
        }
    }
}
