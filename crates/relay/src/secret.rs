//! Generates tokens, one-time codes and names that nobody can guess.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

/// The beginning of every token, so that secret scanners and people recognise it.
const PREFIX: &str = "hmr_";

/// The letters of names, without those that are easily mistaken for others.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Returns a fresh token.
pub fn fresh_token() -> String {
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random()))
}

/// Returns a new token id. It is not derived from the token.
pub fn fresh_token_id() -> String {
    format!("tk_{}", &fresh_name()[..10])
}

/// Returns what the store keeps of a token or code. Because they are 256 random bits, a plain hash can't be reversed by
/// guessing, and the time of a lookup by hash reveals nothing about similar ones.
pub fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// Returns a fresh one-time code.
pub(crate) fn fresh_code() -> String {
    URL_SAFE_NO_PAD.encode(random())
}

/// Returns a fresh tunnel name: 130 random bits, usable as a host name.
pub(crate) fn fresh_name() -> String {
    random().iter().take(26).map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}

/// Returns a fresh nonce for a device to sign.
pub(crate) fn fresh_nonce() -> [u8; 32] {
    random()
}

fn random() -> [u8; 32] {
    rand::random()
}

/// Returns the key under which a sender is held for an event. It depends on the tunnel, so that a device of one tunnel
/// can't answer for another.
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
