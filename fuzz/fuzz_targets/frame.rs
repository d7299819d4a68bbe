//! What a tunnel and a relay send each other: neither side's frames nor a letter make the other panic, and what was
//! understood is written and read again as the same.
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
    // Numbers may have come in more bytes than they need; ours never do.
    assert!(again.len() <= data.len());
    assert_eq!(decode::<F>(&again), Ok(frame));
}
