//! A head's header lines: whatever is accepted is the same after it was stored, or written as JSON, and read again.
#![no_main]

use bytes::Bytes;
use hookmitt_event::HeaderLines;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(lines) = HeaderLines::from_wire(Bytes::copy_from_slice(data)) else { return };

    let stored = HeaderLines::from_wire(lines.as_wire().clone()).expect("its own bytes");
    assert_eq!(stored, lines);

    let json = serde_json::to_vec(&lines).expect("header lines as JSON");
    let parsed: HeaderLines = serde_json::from_slice(&json).expect("its own JSON");
    let pairs = |lines: &HeaderLines| {
        lines.iter().map(|l| (l.name.to_owned(), l.value.to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&parsed), pairs(&lines));
});
