//! Replaces the sealing key when a device is revoked: the owner tells the new key to each device that stays.
//!
//! The owner puts the key into a note that is encrypted for one device and signed; the device knows the owner's public
//! key from its invite. The relay passes notes on, but can neither read nor forge them. A note is encrypted to the
//! X25519 form of the device's Ed25519 key, because every device has one (using one key for both is secure:
//! <https://eprint.iacr.org/2021/509>).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use hookmitt_seal::{KeyPair, SECRETS, invited_proof, is_invited, open_note, seal_note};
use hookmitt_wire::{LETTER_VERSION, TunnelDevice};
use zeroize::Zeroizing;

use crate::{Credentials, TunnelError};

/// The prefix of what the owner signs.
const CONTEXT: &[u8] = b"hookmitt sealing keys v1\0";

/// A secret X25519 sealing key of a tunnel.
pub type SealingKey = Zeroizing<[u8; 32]>;

/// A device that is revoked, the new sealing key, and a note for each of the other devices.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The device that is revoked.
    pub device: [u8; 32],
    /// The public sealing key so far, as the relay knows it.
    pub before: [u8; 32],
    /// The new key pair. It must be stored before the relay learns of it.
    pub pair: KeyPair,
    /// The note for each device that stays; empty if the device can't be told.
    pub notes: Vec<([u8; 32], Bytes)>,
}

impl Turn {
    /// Makes a new key, and notes for all `devices` except the revoked one, those that are not `trusted`, and those to
    /// whose key nothing can be encrypted.
    pub fn new(
        owner: &Credentials,
        before: [u8; 32],
        devices: &[TunnelDevice],
        device: [u8; 32],
        trusted: impl Fn(&TunnelDevice) -> bool,
    ) -> Self {
        let pair = KeyPair::fresh();
        let keys: Vec<_> =
            [pair.secret.clone()].into_iter().chain(owner.sealing_keys()).take(SECRETS).collect();
        let stay = devices.iter().filter(|one| one.key != device);
        let note = |one: &TunnelDevice| match trusted(one) && one.key != owner.device_key() {
            // A device with a key to which nothing can be encrypted could otherwise prevent every revocation.
            true => note(owner, &pair.public, &keys, &one.key).unwrap_or_default(),
            false => Bytes::new(),
        };
        let notes = stay.map(|one| (one.key, note(one))).collect();
        Self { device, before, pair, notes }
    }
}

impl Turn {
    /// Whether a device that stays is told the new key.
    pub fn tells(&self, device: &[u8; 32]) -> bool {
        self.notes.iter().any(|(key, note)| key == device && !note.is_empty())
    }
}

impl Credentials {
    /// Returns the proof that this device was invited.
    pub(crate) fn proof(&self, sealing: &[u8; 32]) -> [u8; 32] {
        invited_proof(sealing, &self.tunnel, &self.device_key())
    }

    /// Returns the proof that [`join`](crate::join) sends.
    pub fn introduction(&self) -> String {
        format!("{LETTER_VERSION} {}", STANDARD.encode(self.proof(&self.sealing)))
    }

    /// Whether a device has proved that it was invited. Proofs with a key from before a revocation don't count.
    pub fn has_invited(&self, device: &TunnelDevice) -> bool {
        device.proof.is_some_and(|proof| is_invited(&self.sealing, &self.tunnel, &device.key, &proof))
    }

    /// Reads a note from the owner. Returns the secret sealing keys in it, newest first.
    pub(crate) fn told(
        &self,
        sealing_key: &[u8; 32],
        note: &[u8],
    ) -> Result<Vec<Zeroizing<[u8; 32]>>, NoKey> {
        let owner =
            self.owner.and_then(|owner| VerifyingKey::from_bytes(&owner).ok()).ok_or(NoKey::NoOwner)?;
        if note.is_empty() {
            return Err(NoKey::NotTold);
        }
        let (signature, sealed) = note.split_first_chunk::<64>().ok_or(NoKey::Forged)?;
        let text = text(&self.tunnel, &self.device_key(), sealing_key, sealed);
        owner.verify_strict(&text, &Signature::from_bytes(signature)).map_err(|_| NoKey::Forged)?;
        let secret = Zeroizing::new(self.signing().to_scalar_bytes());
        let keys = open_note(&secret, &self.tunnel, sealed).map_err(|_| NoKey::Forged)?;
        let (keys, []) = keys.as_chunks::<32>() else { return Err(NoKey::Forged) };
        let newest = keys.first().and_then(|newest| KeyPair::from_secret(newest).ok());
        if newest.is_none_or(|newest| newest.public != *sealing_key) {
            return Err(NoKey::Forged);
        }
        Ok(keys.iter().map(|key| Zeroizing::new(*key)).collect())
    }
}

/// Why a device does not have the current sealing key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKey {
    /// It joined with an invite that did not name the tunnel's owner.
    #[error("this device joined before invitations named the tunnel's owner, so it can't trust a new key")]
    NoOwner,
    /// The owner has not told it the key.
    #[error("the tunnel's owner didn't send this device the new key")]
    NotTold,
    /// The note that it got is not from the owner, or is for another device or key.
    #[error("the new key isn't from the tunnel's owner")]
    Forged,
}

fn note(
    owner: &Credentials,
    sealing_key: &[u8; 32],
    keys: &[Zeroizing<[u8; 32]>],
    device: &[u8; 32],
) -> Result<Bytes, TunnelError> {
    let known = VerifyingKey::from_bytes(device).map_err(|_| hookmitt_seal::SealError::Key)?;
    let mut plain = Zeroizing::new(Vec::with_capacity(keys.len() * 32));
    keys.iter().for_each(|key| plain.extend_from_slice(&**key));
    let sealed = seal_note(&known.to_montgomery().to_bytes(), &owner.tunnel, &plain)?;
    let signature = owner.signing().sign(&text(&owner.tunnel, device, sealing_key, &sealed));
    Ok([&signature.to_bytes()[..], &sealed].concat().into())
}

/// Returns what the owner signs: tunnel, device, new public key and encrypted content of the note.
fn text(tunnel: &str, device: &[u8; 32], sealing_key: &[u8; 32], sealed: &[u8]) -> Vec<u8> {
    [CONTEXT, tunnel.as_bytes(), &[0], device, sealing_key, sealed].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened() -> Credentials {
        Credentials {
            tunnel: "acme-dev".to_owned(),
            ..Credentials::fresh("https://relay.test/".parse().unwrap())
        }
    }

    fn joined(owner: &Credentials) -> Credentials {
        Credentials::invited(&owner.invite("code".to_owned())).unwrap()
    }

    fn listed(one: &Credentials) -> TunnelDevice {
        TunnelDevice {
            key: one.device_key(),
            name: "laptop".to_owned(),
            joined_at: 0,
            seen_at: 0,
            is_connected: false,
            is_owner: false,
            proof: Some(one.proof(&one.sealing)),
        }
    }

    fn turn(owner: &Credentials, stays: &[&Credentials], goes: &Credentials) -> Turn {
        let devices: Vec<_> = stays.iter().chain([&owner, &goes]).map(|one| listed(one)).collect();
        Turn::new(owner, [0; 32], &devices, goes.device_key(), |one| owner.has_invited(one))
    }

    fn note_for<'t>(turn: &'t Turn, one: &Credentials) -> &'t [u8] {
        &turn.notes.iter().find(|(key, _)| *key == one.device_key()).expect("it is told").1
    }

    #[test]
    fn threat_12_who_stays_gets_the_new_key_and_the_old_one_and_who_goes_gets_nothing() {
        let owner = opened();
        let (mate, goes) = (joined(&owner), joined(&owner));
        let turn = turn(&owner, &[&mate], &goes);
        assert!(turn.notes.iter().all(|(key, _)| *key != goes.device_key()));
        let keys = mate.told(&turn.pair.public, note_for(&turn, &mate)).unwrap();
        assert_eq!(keys, [turn.pair.secret.clone(), owner.sealing.clone()]);
        let stolen = goes.told(&turn.pair.public, note_for(&turn, &mate));
        assert_eq!(stolen, Err(NoKey::Forged), "another's note tells nothing");
    }

    #[test]
    fn threat_9_a_key_that_the_relay_slips_in_is_not_believed() {
        let (owner, relay) = (opened(), opened());
        let (mate, goes) = (joined(&owner), joined(&owner));
        let by_relay = turn(&Credentials { tunnel: owner.tunnel.clone(), ..relay }, &[&mate], &goes);
        let empty = mate.told(&by_relay.pair.public, &[]);
        assert_eq!(empty, Err(NoKey::NotTold));
        let made_up = note(
            &opened(),
            &by_relay.pair.public,
            std::slice::from_ref(&by_relay.pair.secret),
            &mate.device_key(),
        );
        assert_eq!(mate.told(&by_relay.pair.public, &made_up.unwrap()), Err(NoKey::Forged));
        let genuine = turn(&owner, &[&mate], &goes);
        let other_key = mate.told(&by_relay.pair.public, note_for(&genuine, &mate));
        assert_eq!(other_key, Err(NoKey::Forged), "a genuine note for another key");
        let without_owner = Credentials { owner: None, ..mate.clone() };
        let told = without_owner.told(&genuine.pair.public, note_for(&genuine, &mate));
        assert_eq!(told, Err(NoKey::NoOwner));
        for cut in [1, 63, 64, 100] {
            assert_eq!(
                mate.told(&genuine.pair.public, &note_for(&genuine, &mate)[..cut]),
                Err(NoKey::Forged)
            );
        }
    }

    #[test]
    fn threat_9_a_device_that_nobody_invited_is_told_nothing() {
        let owner = opened();
        let (goes, slipped_in) = (joined(&owner), opened());
        let turn = turn(&owner, &[&slipped_in], &goes);
        assert!(note_for(&turn, &slipped_in).is_empty());
        assert!(
            !owner.has_invited(&TunnelDevice { proof: None, ..listed(&goes) }),
            "an old hookmitt shows nothing"
        );
    }
}
