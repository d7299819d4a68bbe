//! Writes public keys in the forms that webhook handlers have in their configuration.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::json;
use x509_cert::der::pem::{LineEnding, encode_string};

use super::{
    der,
    key::Key,
    key_set::{NamedKey, PublicKey},
};

/// A form of a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublicForm {
    /// 64 hex digits, for an Ed25519 key; Discord's form.
    Hex,
    /// `whpk_` and base64, for an Ed25519 key; the form of Standard Webhooks.
    Whpk,
    /// SPKI in base64 on one line; SendGrid's form.
    Spki,
    /// SPKI as PEM.
    Pem,
    /// A JSON Web Key, with the key id if there is one; Plaid's form.
    Jwk,
}

impl PublicKey {
    /// Writes the first key in that form; `None` if that kind of key doesn't have it.
    pub fn written(&self, form: PublicForm) -> Option<String> {
        let named = self.first()?;
        match (form, &named.key) {
            (PublicForm::Hex, Key::Ed25519(key)) => Some(hex::encode(key.as_bytes())),
            (PublicForm::Whpk, Key::Ed25519(key)) => {
                Some(format!("whpk_{}", STANDARD.encode(key.as_bytes())))
            }
            (PublicForm::Hex | PublicForm::Whpk, _) => None,
            (PublicForm::Spki, key) => der::to_spki(key).ok().map(|der| STANDARD.encode(der)),
            (PublicForm::Pem, key) => {
                encode_string("PUBLIC KEY", LineEnding::LF, &der::to_spki(key).ok()?).ok()
            }
            (PublicForm::Jwk, _) => Some(jwk(named)),
        }
    }
}

fn jwk(named: &NamedKey) -> String {
    let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let mut jwk = match &named.key {
        Key::Ed25519(key) => json!({ "kty": "OKP", "crv": "Ed25519", "x": text(key.as_bytes()) }),
        Key::P256(point) => {
            let (x, y) = point[1..].split_at(32);
            json!({ "kty": "EC", "crv": "P-256", "x": text(x), "y": text(y) })
        }
        Key::Rsa { modulus, exponent } => json!({ "kty": "RSA", "n": text(modulus), "e": text(exponent) }),
    };
    if let Some(kid) = &named.kid {
        jwk["kid"] = json!(kid);
    }
    jwk.to_string()
}
