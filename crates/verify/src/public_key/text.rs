//! Parses the forms of public keys that people have.

use super::{der, error::PublicKeyError, jwk, key_set::PublicKey, pem};

/// Parses a public key: PEM (certificate, SPKI or PKCS#1), base64 SPKI, hex or base64 of 32 bytes, 32 raw bytes that
/// aren't UTF-8, `whpk_…`, a JWK, a JWKS, or a JSON object of certificates by key id.
///
/// # Errors
/// Returns a [`PublicKeyError`] if the bytes aren't a public key, or are one of a kind that can't be used.
pub fn parse_public_key(bytes: &[u8]) -> Result<PublicKey, PublicKeyError> {
    if bytes.len() == 32 && std::str::from_utf8(bytes).is_err() {
        return PublicKey::from_bytes(bytes);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| PublicKeyError::Unreadable)?.trim();
    if text.starts_with('{') {
        return jwk::parse(text);
    }
    if let Some(start) = text.find("-----BEGIN ") {
        return pem::parse(&text[start..]);
    }
    if text.starts_with("whsk_") {
        return Err(PublicKeyError::Private);
    }
    if let Some(rest) = text.strip_prefix("whpk_") {
        return PublicKey::from_bytes(&pem::decode(rest).ok_or(PublicKeyError::Unreadable)?);
    }
    if text.len() == 64
        && let Ok(raw) = hex::decode(text)
    {
        return PublicKey::from_bytes(&raw);
    }
    let raw = pem::decode(text).ok_or(PublicKeyError::Unreadable)?;
    if raw.len() == 32 { PublicKey::from_bytes(&raw) } else { der::spki(&raw).map(PublicKey::one) }
}
