//! What strangers send to the capture port: parsing never panics, and a head parses the same whatever follows it.
#![no_main]

use hookmitt_catch::parse_head;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(Some((head, taken))) = parse_head(data) else { return };
    assert!(taken <= data.len());

    // Bytes after a head do not change it, and a head without its last byte is not a head.
    assert_eq!(parse_head(&data[..taken]).expect("the same head"), Some((head.clone(), taken)));
    assert!(!matches!(parse_head(&data[..taken - 1]), Ok(Some(_))), "a head without its last byte");
    assert!(head.headers.iter().all(|line| !line.line.contains(&b'\n')));
});
