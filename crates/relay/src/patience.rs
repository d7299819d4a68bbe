//! Devices that were away are forgotten only by a relay that was there itself.

use std::time::Duration;

use hookmitt_event::Timestamp;
use hookmitt_mailbox::Quota;
use tokio::time::Instant;

/// So long after its start, and after the clock was set or the machine slept, a relay forgets no device: those that could
/// not reach it, or were not seen to, have the time to come back.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// A wall clock that runs so far ahead of the timers was set, or the machine stood still.
const JUMP: Duration = Duration::from_secs(10 * 60);

/// How patient a relay is with devices that are away.
#[derive(Debug)]
pub(crate) struct Patience {
    since: Instant,
    wall: Timestamp,
    timer: Instant,
}

impl Patience {
    /// Begins now.
    pub(crate) fn new(wall: Timestamp, timer: Instant) -> Self {
        Self { since: timer, wall, timer }
    }

    /// What counts as idle now. To be asked before each sweep.
    pub(crate) fn quota(&mut self, usual: &Quota, wall: Timestamp, timer: Instant) -> Quota {
        let by_wall = wall.since(std::mem::replace(&mut self.wall, wall));
        let by_timer = timer.saturating_duration_since(std::mem::replace(&mut self.timer, timer));
        if by_wall > by_timer + JUMP {
            self.since = timer;
        }
        let grace = timer.saturating_duration_since(self.since) < GRACE.min(usual.idle);
        Quota { idle: if grace { Duration::MAX } else { usual.idle }, ..*usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn nobody_is_forgotten_by_a_relay_that_was_not_there_itself() {
        let (mut wall, mut timer) = (Timestamp::from_seconds(1_750_000_000), Instant::now());
        let (usual, mut patience) = (Quota::default(), Patience::new(wall, timer));
        let mut after = |by_wall: Duration, by_timer: Duration| {
            (wall, timer) = (wall.after(by_wall), timer + by_timer);
            patience.quota(&usual, wall, timer).idle
        };
        assert_eq!(after(MINUTE, MINUTE), Duration::MAX, "it has just begun");
        assert_eq!(after(GRACE, GRACE), usual.idle);
        assert_eq!(after(40 * GRACE, MINUTE), Duration::MAX, "the machine slept, or its clock was set");
        assert_eq!(after(GRACE, GRACE), usual.idle);
        let short = Quota { idle: MINUTE, ..usual };
        let mut patience = Patience::new(wall, timer);
        assert_eq!(patience.quota(&short, wall.after(MINUTE), timer + MINUTE).idle, MINUTE);
    }
}
