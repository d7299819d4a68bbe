//! The clock with which a store measures the age of its data.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use hookmitt_event::Timestamp;

use crate::Clock;

/// The longest pause between two runs that counts, in microseconds. If the wall clock was corrected by a year between
/// two runs, that looks like a pause of a year. So no pause may age anything by more than this.
const LONGEST_PAUSE: i64 = 24 * 60 * 60 * 1_000_000;

/// The state of a store's clock, stored so that the next run can continue from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The store time, in microseconds.
    pub store: i64,
    /// What the wall clock showed at that moment, in microseconds since the Unix epoch.
    pub wall: i64,
}

/// The clock with which a store measures the age of its data. It never goes back.
///
/// It shows *store time*, in microseconds. Store time passes while the store is open, even if the machine is suspended.
/// For each pause between two runs it moves forward by what the wall clock says, from 0 to 24 hours. Its first value is
/// the wall clock's microseconds, so that it can be compared with times that were stored before there was store time.
/// Clones share the clock.
#[derive(Clone, Debug)]
pub struct StoreClock {
    clock: Arc<dyn Clock>,
    /// The difference between store time and the machine's uptime, in microseconds. It only grows.
    ahead: Arc<AtomicI64>,
}

impl StoreClock {
    /// Continues from a stored [reading](Self::keep). Without a reading, starts at the wall clock's time.
    pub fn resume(kept: Option<Reading>, clock: Arc<dyn Clock>) -> Self {
        let wall = clock.now().as_micros();
        let store = kept.map_or(wall, |kept| {
            let pause = wall.saturating_sub(kept.wall).clamp(0, LONGEST_PAUSE);
            kept.store.saturating_add(pause)
        });
        let ahead = Arc::new(AtomicI64::new(store.saturating_sub(micros(clock.uptime()))));
        Self { clock, ahead }
    }

    /// Returns the present store time in microseconds.
    pub fn now(&self) -> i64 {
        self.ahead.load(Ordering::Acquire).saturating_add(micros(self.clock.uptime()))
    }

    /// Moves forward to `store` if that is later, because another process that shares the store is ahead.
    pub fn catch_up(&self, store: i64) {
        self.ahead.fetch_max(store.saturating_sub(micros(self.clock.uptime())), Ordering::AcqRel);
    }

    /// Returns the reading to store, each minute and at the end.
    pub fn keep(&self) -> Reading {
        Reading { store: self.now(), wall: self.clock.now().as_micros() }
    }

    /// Converts a moment in store time to the wall clock's time, for display: that long before the wall clock's present
    /// time.
    pub fn to_wall(&self, store: i64) -> Timestamp {
        let ago = self.now().saturating_sub(store);
        Timestamp::from_micros(self.clock.now().as_micros().saturating_sub(ago))
    }

    /// Returns the underlying clock, which tells the time of day and the uptime.
    pub fn machine(&self) -> &Arc<dyn Clock> {
        &self.clock
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HandClock;

    const HOUR: i64 = 60 * 60 * 1_000_000;
    const DAY: i64 = 24 * HOUR;

    fn opened(kept: Option<Reading>) -> (HandClock, StoreClock) {
        let clock = HandClock::at(Timestamp::from_seconds(1_750_000_000));
        let store = StoreClock::resume(kept, Arc::new(clock.clone()));
        (clock, store)
    }

    #[test]
    fn it_begins_at_the_wall_clock_and_is_moved_by_time_alone() {
        let (clock, store) = opened(None);
        let begun = clock.now().as_micros();
        assert_eq!(store.now(), begun);
        for step in [45 * DAY, -45 * DAY, HOUR, -HOUR, 70_000_000, -70_000_000, 365 * DAY, i64::MIN, i64::MAX]
        {
            clock.step(step);
            assert_eq!(store.now(), begun, "the wall clock was stepped by {step} µs");
        }
        clock.pass(Duration::from_secs(31 * 86_400));
        assert_eq!(store.now(), begun + 31 * DAY);
    }

    #[test]
    fn a_pause_between_runs_counts_from_none_to_a_day() {
        let (clock, before) = opened(None);
        let kept = before.keep();
        for (pause, counted) in
            [(HOUR, HOUR), (0, 0), (-HOUR, 0), (-365 * DAY, 0), (DAY, DAY), (45 * DAY, DAY), (365 * DAY, DAY)]
        {
            let clock = HandClock::at(clock.now());
            clock.step(pause);
            let store = StoreClock::resume(Some(kept), Arc::new(clock));
            assert_eq!(store.now() - kept.store, counted, "{pause} µs by the wall clock");
        }
    }

    #[test]
    fn a_restart_of_the_machine_takes_nothing_back() {
        let (clock, before) = opened(None);
        clock.pass(Duration::from_secs(86_400));
        let kept = before.keep();
        let (_, after) = opened(Some(kept)); // its wall clock and its uptime are a day behind
        assert_eq!(after.now(), kept.store);
    }

    #[test]
    fn it_catches_up_with_another_process_and_never_goes_back() {
        let (clock, store) = opened(None);
        let begun = store.now();
        store.catch_up(begun + HOUR);
        assert_eq!(store.clone().now(), begun + HOUR);
        store.catch_up(begun);
        assert_eq!(store.now(), begun + HOUR, "the other one is behind");
        clock.pass(Duration::from_secs(1));
        assert_eq!(store.now(), begun + HOUR + 1_000_000);
    }

    #[test]
    fn what_is_shown_is_as_long_ago_by_the_wall_clock_of_now() {
        let (clock, store) = opened(None);
        let noted = store.now();
        clock.pass(Duration::from_secs(60));
        clock.step(45 * DAY);
        assert_eq!(store.to_wall(noted), clock.now().before(Duration::from_secs(60)));
    }
}
