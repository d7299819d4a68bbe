//! The sealing key among a tunnel's devices: passing a new key to a device, and proving that a device holds the key.

use ring::hmac;
use zeroize::Zeroizing;

use crate::{SealError, epoch::Epoch, epoch::info};

/// Binds sealed notes to this use.
const NOTE: &[u8] = b"hookmitt sealing keys v1\0";

/// The start of the text that a proof authenticates.
const PROOF: &[u8] = b"hookmitt invited device v1\0";

/// Seals a note for one device of a tunnel with that device's X25519 public key.
///
/// # Errors
/// Returns [`SealError::Key`] if the key isn't valid.
pub fn seal_note(public: &[u8; 32], tunnel: &str, plain: &[u8]) -> Result<Vec<u8>, SealError> {
    let epoch = Epoch::begin_for(public, &info(NOTE, tunnel))?;
    Ok([&epoch.name[..], &epoch.seal(tunnel, 0, plain)?].concat())
}

/// Opens a note with the device's X25519 secret key.
///
/// # Errors
/// Returns [`SealError::Foreign`] if the note was not sealed for this device and tunnel, or was changed.
pub fn open_note(secret: &[u8; 32], tunnel: &str, note: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let (name, sealed) = note.split_first_chunk().ok_or(SealError::Foreign)?;
    let epoch = Epoch::resume_for(secret, &info(NOTE, tunnel), name)?;
    epoch.open(tunnel, 0, sealed).map(Zeroizing::new)
}

/// Proves that a device was invited, which means that it holds the tunnel's sealing key. Everybody who holds that key
/// can check the proof; the relay can't forge it.
pub fn invited_proof(secret: &[u8; 32], tunnel: &str, device: &[u8; 32]) -> [u8; 32] {
    let text = [PROOF, tunnel.as_bytes(), &[0], device].concat();
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), &text);
    let mut proof = [0; 32];
    proof.copy_from_slice(tag.as_ref());
    proof
}

/// Whether a device's proof shows that it was invited.
pub fn is_invited(secret: &[u8; 32], tunnel: &str, device: &[u8; 32], proof: &[u8; 32]) -> bool {
    let text = [PROOF, tunnel.as_bytes(), &[0], device].concat();
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, secret), &text, proof).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyPair, Sealer};

    #[test]
    fn threat_12_a_note_opens_for_its_device_and_tunnel_alone() {
        let device = KeyPair::fresh();
        let note = seal_note(&device.public, "acme", b"keys").unwrap();
        assert_eq!(open_note(&device.secret, "acme", &note).unwrap()[..], b"keys"[..]);
        assert_eq!(open_note(&device.secret, "other", &note), Err(SealError::Foreign));
        assert_eq!(open_note(&KeyPair::fresh().secret, "acme", &note), Err(SealError::Foreign));
        assert_eq!(open_note(&device.secret, "acme", &note[..31]), Err(SealError::Foreign));
        let letter = Sealer::new(device.public, "acme").unwrap().seal(b"keys").unwrap();
        let passed_off = [&letter.epoch[..], &letter.data].concat();
        assert_eq!(
            open_note(&device.secret, "acme", &passed_off),
            Err(SealError::Foreign),
            "a letter is no note"
        );
    }

    #[test]
    fn threat_9_only_who_holds_the_key_shows_that_it_was_invited() {
        let (tunnel, stranger) = (KeyPair::fresh().secret, KeyPair::fresh().secret);
        let proof = invited_proof(&tunnel, "acme", &[1; 32]);
        assert!(is_invited(&tunnel, "acme", &[1; 32], &proof));
        assert!(!is_invited(&tunnel, "acme", &[2; 32], &proof), "another device");
        assert!(!is_invited(&tunnel, "other", &[1; 32], &proof), "another tunnel");
        assert!(!is_invited(&tunnel, "acme", &[1; 32], &invited_proof(&stranger, "acme", &[1; 32])));
    }
}
