//! Public keys in PEM, and decoding the base64 of keys.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use zeroize::Zeroizing;

use super::{der, error::PublicKeyError, key_set::PublicKey};

/// Parses the first block of a PEM text. In a certificate chain, that is the certificate of the key that signs.
///
/// Accepts lines of any length, and line ends that an environment variable turned into `\n`.
pub(super) fn parse(text: &str) -> Result<PublicKey, PublicKeyError> {
    let rest = text.strip_prefix("-----BEGIN ").ok_or(PublicKeyError::Unreadable)?;
    let (label, rest) = rest.split_once("-----").ok_or(PublicKeyError::Unreadable)?;
    let (base64, _) = rest.split_once("-----END ").ok_or(PublicKeyError::Unreadable)?;
    if label.ends_with("PRIVATE KEY") {
        return Err(PublicKeyError::Private);
    }
    let der = decode(&base64.replace("\\n", "")).ok_or(PublicKeyError::Unreadable)?;
    match label {
        "PUBLIC KEY" => der::spki(&der).map(PublicKey::one),
        "RSA PUBLIC KEY" => der::pkcs1(&der).map(PublicKey::one),
        "CERTIFICATE" => der::certificate(&der).map(|(key, facts)| PublicKey::one(key).certified(facts)),
        _ => Err(PublicKeyError::Unreadable),
    }
}

/// Decodes base64 in any of its alphabets, with or without padding and line breaks.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    // Every secret is also tried as a key, so no copy of it may stay in memory. A string that grows would leave old
    // copies behind, so its full capacity is reserved.
    let mut whole = Zeroizing::new(String::with_capacity(text.len()));
    whole.extend(text.split_ascii_whitespace());
    [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD]
        .into_iter()
        .find_map(|engine| engine.decode(&*whole).ok())
}
