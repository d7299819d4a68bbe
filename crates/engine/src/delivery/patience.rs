//! Backoff for what can't be done just now.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(10);

/// The waits of a backoff: half a second, then twice as long each time, at most ten seconds.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    last: Option<Duration>,
}

impl Patience {
    /// Returns how long to wait this time.
    pub(crate) fn next(&mut self) -> Duration {
        let next = self.last.map_or(FIRST, |last| LONGEST.min(last * 2));
        *self.last.insert(next)
    }

    /// Waits that long.
    pub(crate) async fn wait(&mut self) {
        tokio::time::sleep(self.next()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_backs_off_to_ten_seconds() {
        let mut patience = Patience::default();
        let waits: Vec<_> = (0..7).map(|_| patience.next().as_millis()).collect();
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    }
}
