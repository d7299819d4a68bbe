//! From what people have to the bytes of a key.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use zeroize::Zeroizing;

use super::{PublicKey, PublicKeyError, der, jwk};

/// Reads a public key: PEM (certificate, SPKI or PKCS#1), base64 SPKI, hex or base64 of 32 bytes, `whpk_…`, a JWK, a
/// JWKS, or a JSON object of certificates by key id.
///
/// # Errors
/// [`PublicKeyError`] where it is none, or one of a kind that can't be used.
pub fn parse_public_key(bytes: &[u8]) -> Result<PublicKey, PublicKeyError> {
    if bytes.len() == 32 && std::str::from_utf8(bytes).is_err() {
        return PublicKey::from_bytes(bytes);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| PublicKeyError::Unreadable)?.trim();
    if text.starts_with('{') {
        return jwk::parse(text);
    }
    if let Some(start) = text.find("-----BEGIN ") {
        return pem(&text[start..]);
    }
    if text.starts_with("whsk_") {
        return Err(PublicKeyError::Private);
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
    if raw.len() == 32 { PublicKey::from_bytes(&raw) } else { der::spki(&raw) }
}

/// The first block of a PEM text: of a chain, the certificate that signs.
///
/// Read with forgiveness: lines of any length, and line ends that an environment variable turned into `\n`.
pub(super) fn pem(text: &str) -> Result<PublicKey, PublicKeyError> {
    let rest = text.strip_prefix("-----BEGIN ").ok_or(PublicKeyError::Unreadable)?;
    let (label, rest) = rest.split_once("-----").ok_or(PublicKeyError::Unreadable)?;
    let (base64, _) = rest.split_once("-----END ").ok_or(PublicKeyError::Unreadable)?;
    if label.ends_with("PRIVATE KEY") {
        return Err(PublicKeyError::Private);
    }
    let der = decode(&base64.replace("\\n", "")).ok_or(PublicKeyError::Unreadable)?;
    match label {
        "PUBLIC KEY" => der::spki(&der),
        "RSA PUBLIC KEY" => der::pkcs1(&der),
        "CERTIFICATE" => der::certificate(&der),
        _ => Err(PublicKeyError::Unreadable),
    }
}

/// Base64 in any of its alphabets, with or without padding and line breaks.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    // Every secret is tried as a key, too: no copy of it may stay in memory. One that grows would leave pieces behind.
    let mut whole = Zeroizing::new(String::with_capacity(text.len()));
    whole.extend(text.split_ascii_whitespace());
    [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD]
        .into_iter()
        .find_map(|engine| engine.decode(&*whole).ok())
}
