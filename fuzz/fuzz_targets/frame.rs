//! What a tunnel and a relay send each other: no frame and no letter makes the receiver panic. Whatever is decoded is
//! encoded and decoded again to the same value.
#![no_main]

use std::fmt::Debug;

use hookmitt_wire::{AppFrame, Letter, RelayFrame, decode, encode};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};

fuzz_target!(|data: &[u8]| {
    is_kept::<RelayFrame>(data);
    is_kept::<AppFrame>(data);
    if let Ok(letter) = Letter::from_bytes(data) {
        assert_eq!(Letter::from_bytes(&letter.to_bytes()), Ok(letter));
    }
});

fn is_kept<F: Serialize + DeserializeOwned + PartialEq + Debug>(data: &[u8]) {
    let Ok(frame) = decode::<F>(data) else { return };
    let again = encode(&frame);
    // The input may encode numbers in more bytes than they need; our encoder never does.
    assert!(again.len() <= data.len());
    assert_eq!(decode::<F>(&again), Ok(frame));
}
