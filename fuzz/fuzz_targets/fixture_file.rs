//! Files from others: a fixture that is read is written and read again as the same; a raw message never panics.
#![no_main]

use hookmitt_fixture::{Fixture, read_request_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _read = read_request_file(data);
    let Ok(fixture) = Fixture::parse(data) else { return };
    let again = Fixture::parse(fixture.to_json().as_bytes()).expect("its own text");
    assert_eq!(again.to_request(), fixture.to_request());
});
