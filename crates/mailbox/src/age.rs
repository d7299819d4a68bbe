//! By what a store ages letters, devices and shut tunnels: by its own clock alone (DESIGN, promise 8).

use std::time::Duration;

use hookmitt_clock::{Reading, StoreClock};
use serde::{Deserialize, Serialize};

/// So long after its first start, or after it was away, a relay forgets no device: those that could not reach it, or were
/// not seen to, have the time to come back.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// A relay that noted nothing for longer than this, in microseconds, was away.
const AWAY: i64 = 10 * 60 * 1_000_000;

/// What both clocks show at one moment, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Since the Unix epoch: to be shown, and never to age anything by.
    pub(crate) wall: i64,
    /// Store time: what ages are reckoned by.
    pub(crate) store: i64,
}

impl Moment {
    pub(crate) fn of(clock: &StoreClock) -> Self {
        let Reading { store, wall } = clock.keep();
        Self { wall, store }
    }
}

/// A span in microseconds.
pub(crate) fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// The store's clock as it is noted in the store, each minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) store: i64,
    pub(crate) wall: i64,
    /// Since when relays have been there without being away, in store time.
    pub(crate) since: i64,
}

impl Note {
    /// The first note of a store.
    pub(crate) fn first(now: Moment) -> Self {
        Self { store: now.store, wall: now.wall, since: now.store }
    }

    /// The note after this one. A store that was closed, and a machine that slept, leave a gap.
    pub(crate) fn next(self, now: Moment) -> Self {
        let was_away = now.store.saturating_sub(self.store) > AWAY;
        Self { since: if was_away { now.store } else { self.since }, ..Self::first(now) }
    }

    /// This note as the next run takes it up. Where the wall clock was set back meanwhile nobody knows for how long relays
    /// were away.
    pub(crate) fn taken_up(self, now: Moment) -> Self {
        Self { since: if now.wall < self.wall { now.store } else { self.since }, ..self }
    }

    /// The clock as it goes on from here.
    pub(crate) fn kept(self) -> Reading {
        Reading { store: self.store, wall: self.wall }
    }

    /// Devices that were seen last before this, in store time, have been away for too long.
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
