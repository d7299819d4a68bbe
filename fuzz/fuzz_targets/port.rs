//! Hostile streams of requests against the whole capture port: it stores what an independent reading of RFC 9112 finds
//! in the stream. A stored request that exists only as a decoy in a body is a failure, and so is a changed body.
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
