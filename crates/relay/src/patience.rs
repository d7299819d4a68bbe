//! Devices that were away are forgotten only by a relay that was there itself.

use std::time::Duration;

use hookmitt_event::Timestamp;
use hookmitt_mailbox::{Presence, Quota};
use tokio::time::Instant;

/// So long after its first start, or one after it was away, and after the clock was set or the machine slept, a relay
/// forgets no device: those that could not reach it, or were not seen to, have the time to come back.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// A wall clock that runs so far ahead of the timers was set, or the machine stood still. A relay that was started again
/// sooner was not away.
const JUMP: Duration = Duration::from_secs(10 * 60);

/// How patient a relay is with devices that are away.
#[derive(Debug)]
pub(crate) struct Patience {
    /// For how long it was there, over restarts.
    present: Duration,
    wall: Timestamp,
    timer: Instant,
}

impl Patience {
    /// Begins now, after what was noted of it, or of relays beside it, before.
    pub(crate) fn new(before: Option<Presence>, wall: Timestamp, timer: Instant) -> Self {
        let was_there = before.filter(|before| {
            let at = Timestamp::from_micros(before.at);
            at <= wall && wall.since(at) <= JUMP
        });
        let lasting = was_there.and_then(|before| u64::try_from(before.lasting).ok());
        Self { present: lasting.map_or(Duration::ZERO, Duration::from_micros), wall, timer }
    }

    /// What is to be noted.
    pub(crate) fn presence(&self) -> Presence {
        let lasting = i64::try_from(self.present.as_micros()).unwrap_or(i64::MAX);
        Presence { at: self.wall.as_micros(), lasting }
    }

    /// What counts as idle now. To be asked before each sweep.
    pub(crate) fn quota(&mut self, usual: &Quota, wall: Timestamp, timer: Instant) -> Quota {
        let by_wall = wall.since(std::mem::replace(&mut self.wall, wall));
        let by_timer = timer.saturating_duration_since(std::mem::replace(&mut self.timer, timer));
        let was_away = by_wall > by_timer + JUMP;
        self.present = if was_away { Duration::ZERO } else { self.present.saturating_add(by_timer) };
        let grace = self.present < GRACE.min(usual.idle);
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
        let (usual, mut patience) = (Quota::default(), Patience::new(None, wall, timer));
        let mut after = |by_wall: Duration, by_timer: Duration| {
            (wall, timer) = (wall.after(by_wall), timer + by_timer);
            patience.quota(&usual, wall, timer).idle
        };
        assert_eq!(after(MINUTE, MINUTE), Duration::MAX, "it has just begun");
        assert_eq!(after(GRACE, GRACE), usual.idle);
        assert_eq!(after(40 * GRACE, MINUTE), Duration::MAX, "the machine slept, or its clock was set");
        assert_eq!(after(GRACE, GRACE), usual.idle);
        let short = Quota { idle: MINUTE, ..usual };
        let mut patience = Patience::new(None, wall, timer);
        assert_eq!(patience.quota(&short, wall.after(MINUTE), timer + MINUTE).idle, MINUTE);
    }

    #[test]
    fn a_relay_that_is_started_again_soon_was_there_all_the_time() {
        let (wall, timer, usual) = (Timestamp::from_seconds(1_750_000_000), Instant::now(), Quota::default());
        let mut patience = Patience::new(None, wall, timer);
        patience.quota(&usual, wall.after(GRACE - MINUTE), timer + (GRACE - MINUTE));
        let noted = patience.presence();
        let left = wall.after(GRACE - MINUTE);
        let idle_after = |away: Duration, before: Presence| {
            let (wall, timer) = (left.after(away), Instant::now());
            let mut patience = Patience::new(Some(before), wall, timer);
            patience.quota(&usual, wall.after(MINUTE), timer + MINUTE).idle
        };
        assert_eq!(idle_after(MINUTE, noted), usual.idle, "a day altogether");
        assert_eq!(idle_after(2 * JUMP, noted), Duration::MAX, "devices could not reach it meanwhile");
        let later = Presence { at: left.after(GRACE).as_micros(), ..noted };
        assert_eq!(idle_after(MINUTE, later), Duration::MAX, "the clock was set back");
    }
}
