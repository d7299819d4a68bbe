//! Tokens, one-time codes and names that nobody guesses.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

/// What every token begins with, so that scanners and people know one.
const PREFIX: &str = "hmr_";

/// The letters of names: none that is mistaken for another.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A fresh token.
pub fn fresh_token() -> String {
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random()))
}

/// A fresh id of a token, which gives nothing of it away.
pub fn fresh_token_id() -> String {
    format!("tk_{}", &fresh_name()[..10])
}

/// What the store keeps of a token or code. They are 256 random bits, so that a plain hash can't be guessed back, and
/// looking one up by its hash tells nothing about those that are near.
pub fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// A fresh one-time code.
pub(crate) fn fresh_code() -> String {
    URL_SAFE_NO_PAD.encode(random())
}

/// A fresh name of a tunnel: 130 random bits, fit for a host name.
pub(crate) fn fresh_name() -> String {
    random().iter().take(26).map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}

/// What a device signs.
pub(crate) fn fresh_nonce() -> [u8; 32] {
    random()
}

fn random() -> [u8; 32] {
    rand::random()
}

/// Names an event that is held, so that a device of one tunnel can't answer for another's.
pub(crate) fn held_key(tunnel: &str, event: &[u8; 16]) -> [u8; 16] {
    let digest =
        Sha256::new().chain_update(tunnel.as_bytes()).chain_update([0]).chain_update(event).finalize();
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::is_tunnel_name;

    #[test]
    fn secrets_are_long_fresh_and_well_formed() {
        let (one, other) = (fresh_token(), fresh_token());
        assert!(one.starts_with("hmr_") && one.len() == 47 && one != other);
        let (one, other) = (fresh_name(), fresh_name());
        assert!(is_tunnel_name(&one) && one.len() == 26 && one != other);
        assert_ne!(held_key("a", &[0; 16]), held_key("b", &[0; 16]));
    }
}
