//! How long to wait before a connection is tried again.

use std::time::Duration;

use rand::RngExt as _;

/// The upper limit of the first pause. It doubles with each failure.
const FIRST: Duration = Duration::from_millis(500);

/// Pauses whose upper limit doubles up to a maximum. Each pause is between half of its limit and the whole, at random,
/// so that many apps don't reconnect to a restarted relay at the same moment.
#[derive(Debug)]
pub struct Backoff {
    longest: Duration,
    failures: u32,
}

impl Backoff {
    /// Creates pauses of at most `longest`.
    pub fn new(longest: Duration) -> Self {
        Self { longest, failures: 0 }
    }

    /// Makes the next pause short again, because a connection held.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// Returns the next pause.
    pub fn pause(&mut self) -> Duration {
        let limit = FIRST.saturating_mul(1 << self.failures.min(16)).min(self.longest);
        self.failures = self.failures.saturating_add(1);
        limit.mul_f64(rand::rng().random_range(0.5..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_limit_with_a_random_half_and_begin_again_after_success() {
        let longest = Duration::from_secs(10);
        let mut backoff = Backoff::new(longest);
        for limit in [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000].map(Duration::from_millis) {
            let pause = backoff.pause();
            assert!(pause >= limit / 2 && pause <= limit, "{pause:?} of {limit:?}");
        }
        let pauses: Vec<_> = (0..100).map(|_| backoff.pause()).collect();
        assert!(pauses.iter().all(|pause| *pause <= longest));
        assert!(pauses.windows(2).any(|two| two[0] != two[1]), "no two apps keep step");
        backoff.reset();
        assert!(backoff.pause() <= FIRST);
    }
}
