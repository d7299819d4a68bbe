//! Seeds for random tests.

/// Returns `HOOKMITT_TEST_SEED`, or a random seed. Prints it, so that a failure can be repeated.
pub fn seed() -> u64 {
    let given = std::env::var("HOOKMITT_TEST_SEED").ok();
    let seed = given.map_or_else(rand::random, |seed| seed.parse().expect("HOOKMITT_TEST_SEED is a number"));
    say(&format!("HOOKMITT_TEST_SEED={seed}"));
    seed
}

/// Prints a line about this run. The harness shows it if the story fails, or with `--nocapture`.
#[expect(clippy::print_stderr, reason = "the test harness shows it where it matters")]
pub fn say(line: &str) {
    eprintln!("{line}");
}
