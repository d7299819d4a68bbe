//! Messages that no honest peer sends.

use hookmitt_wire::{
    AppFrame, FrameError, Letter, LetterError, MAX_FRAME, PIECE, RelayFrame, decode, encode,
};

use crate::samples::{letter, parcel};

#[test]
fn another_version_is_refused_in_words() {
    let mut ping = encode(&AppFrame::Ping { stamp: 1 }).to_vec();
    ping[0] = 9;
    let error = decode::<AppFrame>(&ping).unwrap_err();
    assert_eq!(error, FrameError::Version { found: 9 });
    let words =
        "the other side speaks version 9 of the tunnel's frames, this one 1: update whichever is older";
    assert_eq!(error.to_string(), words);

    let mut newer = letter().to_bytes();
    newer[0] = 3;
    assert_eq!(Letter::from_bytes(&newer), Err(LetterError::Version(3)));
    assert_eq!(
        LetterError::Version(3).to_string(),
        "an event in format version 3; this hookmitt reads 2: update it"
    );
}

#[test]
fn a_frame_that_is_too_large_is_not_even_looked_at() {
    assert_eq!(decode::<AppFrame>(&vec![1; MAX_FRAME + 1]), Err(FrameError::TooLarge(MAX_FRAME + 1)));
}

#[test]
fn nothing_is_no_frame_and_no_letter() {
    assert_eq!(decode::<AppFrame>(&[]), Err(FrameError::Malformed));
    assert_eq!(decode::<RelayFrame>(&[1]), Err(FrameError::Malformed));
    assert_eq!(Letter::from_bytes(&[]), Err(LetterError::Malformed));
    assert_eq!(Letter::from_bytes(&[1]), Err(LetterError::Malformed));
}

#[test]
fn a_frame_of_one_side_is_none_of_the_other() {
    let welcome = encode(&RelayFrame::Challenge { nonce: [0xa5; 32] });
    assert_eq!(decode::<AppFrame>(&welcome), Err(FrameError::Malformed));
    assert_eq!(decode::<RelayFrame>(&encode(&AppFrame::Leave)), Err(FrameError::Malformed));
}

#[test]
fn lengths_that_are_only_announced_are_not_believed() {
    // An `Ack` and `Sources` that announce 2^63 entries, and a refusal whose code announces 2^63 bytes.
    let many = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
    let ack = [&[1, 2, 0], &many[..]].concat();
    let sources = [&[1, 1], &many[..]].concat();
    assert_eq!(decode::<AppFrame>(&ack), Err(FrameError::Malformed));
    assert_eq!(decode::<AppFrame>(&sources), Err(FrameError::Malformed));
    assert_eq!(decode::<RelayFrame>(&[&[1, 2], &many[..]].concat()), Err(FrameError::Malformed));
}

#[test]
fn a_piece_and_what_is_around_it_fit_into_a_frame() {
    let mut parcel = parcel();
    parcel.data = vec![0; PIECE].into();
    let frame = RelayFrame::Parcel { position: u64::MAX, parcel, size: u32::MAX };
    assert!(encode(&frame).len() < MAX_FRAME);
}
