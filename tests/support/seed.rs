//! Where randomness begins.

/// A seed, printed so that a failure can be had again: `HOOKMITT_TEST_SEED`, else a random one.
pub fn seed() -> u64 {
    let given = std::env::var("HOOKMITT_TEST_SEED").ok();
    let seed = given.map_or_else(rand::random, |seed| seed.parse().expect("HOOKMITT_TEST_SEED is a number"));
    say(&format!("HOOKMITT_TEST_SEED={seed}"));
    seed
}

/// Says something about this run: shown where the story fails, or with `--nocapture`.
#[expect(clippy::print_stderr, reason = "the test harness shows it where it matters")]
pub fn say(line: &str) {
    eprintln!("{line}");
}
