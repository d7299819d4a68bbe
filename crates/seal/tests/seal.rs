//! What is sealed for one recipient opens only for that recipient.

use hookmitt_seal::{KeyPair, Opener, SealError, Sealed, Sealer};
use proptest::prelude::*;

/// A stored letter of this version, as an app may find it in a mailbox after an update.
const KEPT: &str = include_str!("kept_letter.txt");

#[test]
fn a_letter_that_an_older_version_sealed_still_opens() {
    let [secret, epoch, data] = KEPT.lines().collect::<Vec<_>>()[..] else { panic!("three lines") };
    let bytes = |text: &str| -> [u8; 32] { hex::decode(text).unwrap().try_into().unwrap() };
    let opener = Opener::new(&bytes(secret), "acme-dev").unwrap();
    let plain = opener.open(&bytes(epoch), 1, &hex::decode(data).unwrap()).unwrap();
    assert_eq!(plain, b"{\"id\":\"evt_1\"}");
}

#[test]
fn letters_open_alone_and_in_any_order_on_every_device_that_holds_the_key() {
    let (sealer, pair) = tunnel();
    let letters: Vec<_> = (0..50_u8).map(|n| sealer.seal(&[n; 9]).unwrap()).collect();
    for device in 0..2 {
        let opener = Opener::new(&pair.secret, "acme").unwrap();
        for (n, letter) in letters.iter().enumerate().rev().skip(device) {
            let plain = opener.open(&letter.epoch, letter.number, &letter.data).unwrap();
            assert_eq!(plain, [u8::try_from(n).unwrap(); 9]);
        }
    }
}

#[test]
fn the_largest_body_and_an_empty_one_come_back_unchanged() {
    let (sealer, pair) = tunnel();
    let opener = Opener::new(&pair.secret, "acme").unwrap();
    for plain in [vec![], vec![0xa5; 25 * 1024 * 1024]] {
        let Sealed { epoch, number, data } = sealer.seal(&plain).unwrap();
        assert_eq!(data.len(), plain.len() + 16);
        assert!(opener.open(&epoch, number, &data).unwrap() == plain);
    }
}

#[test]
fn no_other_key_tunnel_epoch_or_number_opens_a_letter() {
    let (sealer, pair) = tunnel();
    let Sealed { epoch, number, data } = sealer.seal(b"for acme only").unwrap();
    let opener = Opener::new(&pair.secret, "acme").unwrap();
    opener.open(&epoch, number, &data).unwrap();

    let other_tunnel = Opener::new(&pair.secret, "acme2").unwrap();
    assert_eq!(other_tunnel.open(&epoch, number, &data), Err(SealError::Foreign));
    let other_key = Opener::new(&KeyPair::fresh().secret, "acme").unwrap();
    assert_eq!(other_key.open(&epoch, number, &data), Err(SealError::Foreign));
    assert_eq!(opener.open(&epoch, number + 1, &data), Err(SealError::Foreign));
    let other_epoch = Sealer::new(pair.public, "acme").unwrap().seal(b"another").unwrap().epoch;
    assert_eq!(opener.open(&other_epoch, number, &data), Err(SealError::Foreign));
    assert_eq!(opener.open(&[0; 32], number, &data), Err(SealError::Foreign), "a point of low order");
}

#[test]
fn a_key_of_low_order_is_refused_because_anybody_could_open_what_it_seals() {
    assert_eq!(Sealer::new([0; 32], "acme").unwrap_err(), SealError::Key);
}

#[test]
fn nothing_secret_is_printed() {
    let (sealer, pair) = tunnel();
    let opener = Opener::new(&pair.secret, "acme").unwrap();
    assert_eq!(
        format!("{sealer:?} {opener:?}"),
        r#"Sealer { tunnel: "acme", .. } Opener { tunnel: "acme", .. }"#
    );
}

#[test]
fn threat_12_after_a_turn_over_the_old_key_opens_nothing_new_and_what_waited_opens_with_it() {
    let (old, new) = (KeyPair::fresh(), KeyPair::fresh());
    let seal = |pair: &KeyPair| Sealer::new(pair.public, "acme").unwrap().seal(b"letter").unwrap();
    let (waited, later) = (seal(&old), seal(&new));
    let revoked = Opener::new(&old.secret, "acme").unwrap();
    assert_eq!(revoked.open(&later.epoch, later.number, &later.data), Err(SealError::Foreign));

    let stays = Opener::new(&old.secret, "acme").unwrap();
    assert!(stays.add(&[new.secret.clone(), old.secret.clone()]));
    assert!(!stays.add(std::slice::from_ref(&new.secret)), "once");
    assert_eq!(stays.secrets(), [new.secret, old.secret]);
    for letter in [waited, later] {
        assert_eq!(stays.open(&letter.epoch, letter.number, &letter.data).unwrap(), b"letter");
    }
}

proptest! {
    #[test]
    fn a_letter_with_one_bit_changed_or_an_end_cut_off_does_not_open(
        plain: Vec<u8>, at: prop::sample::Index, bit in 0..8_u32, cut: prop::sample::Index,
    ) {
        let (sealer, pair) = tunnel();
        let opener = Opener::new(&pair.secret, "acme").unwrap();
        let Sealed { epoch, number, data } = sealer.seal(&plain).unwrap();
        prop_assert_eq!(opener.open(&epoch, number, &data), Ok(plain));

        let mut changed = data.clone();
        changed[at.index(data.len())] ^= 1 << bit;
        prop_assert_eq!(opener.open(&epoch, number, &changed), Err(SealError::Foreign));
        let short = &data[..cut.index(data.len())];
        prop_assert_eq!(opener.open(&epoch, number, short), Err(SealError::Foreign));
    }
}

fn tunnel() -> (Sealer, KeyPair) {
    let pair = KeyPair::fresh();
    (Sealer::new(pair.public, "acme").expect("an X25519 key"), pair)
}
