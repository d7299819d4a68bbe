//! Files from strangers: a fixture that parses yields the same request after it was written and parsed again, and
//! reading a request file never panics.
#![no_main]

use hookmitt_fixture::{Fixture, read_request_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _read = read_request_file(data);
    let Ok(fixture) = Fixture::parse(data) else { return };
    let again = Fixture::parse(fixture.to_json().as_bytes()).expect("its own text");
    assert_eq!(again.to_request(), fixture.to_request());
});
