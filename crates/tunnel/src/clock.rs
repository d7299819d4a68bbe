//! Notices that this machine slept.

use std::{sync::Arc, time::Duration};

use hookmitt_clock::{Clock, MachineClock};
use hookmitt_event::Timestamp;
use tokio::time::Instant;

/// How often the clocks are compared.
pub(crate) const TICK: Duration = Duration::from_secs(1);

/// A difference between the clocks, or a late tick, of more than this means that the machine slept.
const JUMP: Duration = Duration::from_secs(5);

/// Waits until this machine has slept and is awake again. Returns the time at which it fell asleep.
pub async fn slept() -> Timestamp {
    let mut jumps = Jumps::new(Arc::new(MachineClock));
    loop {
        tokio::time::sleep(TICK).await;
        if let Some(since) = jumps.look() {
            return since;
        }
    }
}

/// Notices sleep by comparing two clocks at every tick. On Linux and macOS timers stop during sleep while the wall
/// clock goes on. On Windows timers go on too, but the tick comes far too late.
pub(crate) struct Jumps {
    clock: Arc<dyn Clock>,
    wall: Timestamp,
    timer: Instant,
}

impl Jumps {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let wall = clock.now();
        Self { clock, wall, timer: Instant::now() }
    }

    /// Returns when the machine fell asleep, if it has slept since the last call. Must be called every [`TICK`].
    pub(crate) fn look(&mut self) -> Option<Timestamp> {
        let (wall, timer) = (self.clock.now(), Instant::now());
        let by_wall = wall.since(self.wall);
        let by_timer = timer.saturating_duration_since(self.timer);
        let awake_at = std::mem::replace(&mut self.wall, wall);
        self.timer = timer;
        let slept = by_wall > by_timer + JUMP || by_timer > TICK + JUMP;
        slept.then_some(awake_at)
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_clock::HandClock;

    use super::*;

    const START: Timestamp = Timestamp::from_seconds(1_750_000_000);

    async fn after(clock: &HandClock, wall: Duration, timer: Duration) {
        clock.pass(wall);
        tokio::time::advance(timer).await;
    }

    #[tokio::test(start_paused = true)]
    async fn sleep_is_noticed_where_timers_stand_still_and_where_they_go_on() {
        let clock = HandClock::at(START);
        let mut jumps = Jumps::new(Arc::new(clock.clone()));
        after(&clock, TICK, TICK).await;
        assert_eq!(jumps.look(), None);

        let asleep_since = clock.now();
        after(&clock, Duration::from_secs(3_600), TICK).await;
        assert_eq!(jumps.look(), Some(asleep_since), "timers stood still");
        after(&clock, TICK, TICK).await;
        assert_eq!(jumps.look(), None, "told once");

        let asleep_since = clock.now();
        after(&clock, Duration::from_secs(60), Duration::from_secs(60)).await;
        assert_eq!(jumps.look(), Some(asleep_since), "a tick came a minute late");
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_corrected_is_no_sleep() {
        let clock = HandClock::at(START);
        let mut jumps = Jumps::new(Arc::new(clock.clone()));
        after(&clock, TICK + Duration::from_secs(4), TICK).await;
        assert_eq!(jumps.look(), None, "a few seconds forward");
        clock.step(-3_600_000_000);
        tokio::time::advance(TICK).await;
        assert_eq!(jumps.look(), None, "an hour back");
        after(&clock, TICK, TICK).await;
        assert_eq!(jumps.look(), None);
    }
}
