//! Public keys in JSON: a JWK (RFC 7517), a set of them, the form of Plaid's answers, and Google's map of certificates.

use hookmitt_event::Timestamp;
use serde_json::{Map, Value};

use super::{error::PublicKeyError, key::Key, key_set::PublicKey, pem};

/// Parses any of these forms.
pub(super) fn parse(json: &str) -> Result<PublicKey, PublicKeyError> {
    let value: Value = serde_json::from_str(json).map_err(|_| PublicKeyError::Unreadable)?;
    let object = value.as_object().ok_or(PublicKeyError::Unreadable)?;
    if let Some(keys) = object.get("keys").and_then(Value::as_array) {
        return together(keys.iter().map(one));
    }
    // The answer of Plaid's `/webhook_verification_key/get`: {"key": {…}, "request_id": …}.
    if let Some(key) = object.get("key") {
        return one(key);
    }
    if object.contains_key("kty") { one(&value) } else { certificates(object) }
}

/// Collects the keys of a set. Keys that can't be used are skipped if the set has others.
fn together(
    keys: impl Iterator<Item = Result<PublicKey, PublicKeyError>>,
) -> Result<PublicKey, PublicKeyError> {
    let mut set = PublicKey::default();
    let mut problem = PublicKeyError::Unreadable;
    for key in keys {
        match key {
            Ok(key) => set.join(key),
            Err(error) => problem = error,
        }
    }
    if set.is_empty() { Err(problem) } else { Ok(set) }
}

/// Parses `{"<kid>": "-----BEGIN CERTIFICATE-----…"}`, as Google publishes its certificates.
fn certificates(object: &Map<String, Value>) -> Result<PublicKey, PublicKeyError> {
    together(object.iter().map(|(kid, value)| {
        let text = value.as_str().filter(|text| text.starts_with("-----BEGIN "));
        Ok(pem::parse(text.ok_or(PublicKeyError::Unreadable)?)?.with_key_id(kid))
    }))
}

fn one(jwk: &Value) -> Result<PublicKey, PublicKeyError> {
    let member = |name: &str| jwk.get(name).and_then(Value::as_str);
    let bytes = |name: &str| member(name).and_then(pem::decode).ok_or(PublicKeyError::Unreadable);
    if member("d").is_some() {
        return Err(PublicKeyError::Private);
    }
    let key = match (member("kty"), member("crv")) {
        (Some("OKP"), Some("Ed25519")) => Key::ed25519(&bytes("x")?)?,
        (Some("EC"), Some("P-256")) => Key::p256(&point(&bytes("x")?, &bytes("y")?)?)?,
        (Some("RSA"), _) => Key::rsa(&bytes("n")?, &bytes("e")?)?,
        (Some("EC" | "OKP"), _) => {
            return Err(PublicKeyError::Kind("elliptic-curve keys other than P-256 and Ed25519"));
        }
        (Some("oct"), _) => return Err(PublicKeyError::Kind("shared secrets written as JWKs")),
        _ => return Err(PublicKeyError::Unreadable),
    };
    let key = PublicKey::one(key).retired(jwk.get("expired_at").and_then(moment));
    Ok(match member("kid") {
        Some(kid) => key.with_key_id(kid),
        None => key,
    })
}

/// Reads the time when Plaid retired a key: Unix seconds in its API, text in older answers.
fn moment(value: &Value) -> Option<Timestamp> {
    let text = value.as_str().and_then(|text| text.parse().ok());
    value.as_i64().map(Timestamp::from_seconds).or(text)
}

/// Returns the uncompressed point. Each coordinate must have its full length (RFC 7518, 6.2.1.2).
fn point(x: &[u8], y: &[u8]) -> Result<Vec<u8>, PublicKeyError> {
    if x.len() != 32 || y.len() != 32 {
        return Err(PublicKeyError::Point("P-256"));
    }
    Ok([&[4], x, y].concat())
}
