//! How a store measures the age of letters, devices and shut tunnels: by its own clock alone (DESIGN, promise 8).

use std::time::Duration;

use hookmitt_clock::{Reading, StoreClock};
use serde::{Deserialize, Serialize};

/// For this long after its first start, and after it was away, a relay forgets no device. Devices that could not reach
/// it, or whose connections went unrecorded, get this time to come back.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// A relay that did not note its clock for longer than this, in microseconds, was away.
const AWAY: i64 = 10 * 60 * 1_000_000;

/// What both clocks show at one moment, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The wall clock, since the Unix epoch. It is shown to people, and one-time codes expire by it (or by store time,
    /// whichever comes first), but ages are never computed from it.
    pub(crate) wall: i64,
    /// Store time, from which ages are computed.
    pub(crate) store: i64,
}

impl Moment {
    pub(crate) fn of(clock: &StoreClock) -> Self {
        let Reading { store, wall } = clock.keep();
        Self { wall, store }
    }
}

/// Converts a span to microseconds.
pub(crate) fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// The store's clock as the relay notes it in the store each minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) store: i64,
    pub(crate) wall: i64,
    /// Since when relays have been running without being away, in store time.
    pub(crate) since: i64,
}

impl Note {
    /// Returns the first note of a store.
    pub(crate) fn first(now: Moment) -> Self {
        Self { store: now.store, wall: now.wall, since: now.store }
    }

    /// Returns the note that follows this one. A store that was closed, or a machine that slept, leaves a gap.
    pub(crate) fn next(self, now: Moment) -> Self {
        let was_away = now.store.saturating_sub(self.store) > AWAY;
        Self { since: if was_away { now.store } else { self.since }, ..Self::first(now) }
    }

    /// Returns this note as the next run continues it. If the wall clock was set back meanwhile, nobody knows how long
    /// relays were away, so the grace period starts again.
    pub(crate) fn taken_up(self, now: Moment) -> Self {
        Self { since: if now.wall < self.wall { now.store } else { self.since }, ..self }
    }

    /// Returns the reading from which the clock continues.
    pub(crate) fn kept(self) -> Reading {
        Reading { store: self.store, wall: self.wall }
    }

    /// Returns the store time before which a device must have been last seen to count as idle for too long. During the
    /// grace period that is `i64::MIN`, so no device is idle.
    pub(crate) fn idle_before(&self, idle: Duration) -> i64 {
        let is_early = self.store.saturating_sub(self.since) < micros(GRACE.min(idle));
        if is_early { i64::MIN } else { self.store.saturating_sub(micros(idle)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000_000;
    const USUAL: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    fn at(store: i64) -> Moment {
        Moment { wall: 0, store }
    }

    #[test]
    fn nobody_is_forgotten_by_a_relay_that_was_not_there_itself() {
        let mut note = Note::first(at(0));
        let mut after = |span: i64, times: i64| {
            (0..times).for_each(|_| note = note.next(at(note.store + span)));
            (note.idle_before(USUAL), note.store - micros(USUAL))
        };
        assert_eq!(after(MINUTE, 1).0, i64::MIN, "it has just begun");
        let (before, usual) = after(10 * MINUTE, 144);
        assert_eq!(before, usual, "it was there for a day");
        assert_eq!(after(11 * MINUTE, 1).0, i64::MIN, "it was away, or the machine slept");
        let (before, usual) = after(10 * MINUTE, 144);
        assert_eq!(before, usual);
    }

    #[test]
    fn who_may_be_away_for_an_hour_only_has_an_hour_to_come_back() {
        let hour = Duration::from_secs(60 * 60);
        let mut note = Note::first(at(0));
        (0..6).for_each(|_| note = note.next(at(note.store + 10 * MINUTE)));
        assert_eq!((note.idle_before(hour), note.idle_before(USUAL)), (0, i64::MIN));
    }
}
