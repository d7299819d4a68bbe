//! Hostile streams of requests against the whole port: what is stored is what an independent reading of RFC 9112 finds in
//! the stream. A request that only a decoy in a body could have made, or a changed body, is a failure.
#![no_main]

#[path = "../../crates/catch/tests/port/oracle.rs"]
mod oracle;
#[path = "../../crates/catch/tests/port/play.rs"]
mod play;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (sent, cut) = play::stream(data);
    play::play(&sent, cut);
});
