//! Up to when everything is here that a relay received: what comes later can't be older.
//!
//! A relay says when it received a request, and its word decides whether a timestamp that was signed is fresh: one that
//! lies could pass off an old request as a new one. What this side saw itself bounds that word. Clocks lie, too: one that
//! was set back since the horizon was noted bounds nothing until the relay is heard anew.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hookmitt_event::Timestamp;
use hookmitt_wire::Depth;
use tokio::time::Instant;

/// By how much the clocks of relay and app may differ, with the time that a letter takes into the relay's store.
pub(crate) const SLACK: Duration = Duration::from_secs(60);

/// The horizon of a tunnel; clones are the same one. It outlives connections, and its owner keeps it over restarts.
#[derive(Clone, Debug, Default)]
pub struct Horizon(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// Everything is here up to then; none where that isn't known.
    complete: Option<Mark>,
    /// The latest moment that the clock ever showed here.
    latest: Option<Timestamp>,
}

/// A moment by the wall clock, and by the timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    wall: Timestamp,
    /// When it was noted, and by how much earlier it lies.
    noted: Instant,
    earlier: Duration,
}

impl Horizon {
    /// Up to when everything was here, as far as that is known from an earlier time.
    pub fn new(complete_until: Option<Timestamp>, now: Timestamp) -> Self {
        let complete = complete_until.map(|wall| Mark::at(wall, now));
        Self(Arc::new(Mutex::new(Seen { complete, latest: complete_until })))
    }

    /// Up to when everything is here.
    pub fn until(&self) -> Option<Timestamp> {
        self.seen().complete.map(|mark| mark.wall)
    }

    /// The relay said at `now`, asked no earlier than `asked`, what waits: nothing else does that it received until then.
    /// What it says itself of the oldest letter is taken at its word, so that it can't come with an older one later.
    pub(crate) fn heard(&self, depth: &Depth, asked: Timestamp, now: Timestamp) {
        let complete = match depth.oldest.map(Timestamp::from_micros) {
            _ if depth.letters == 0 => asked,
            Some(oldest) => oldest.min(asked),
            None => return,
        };
        let mut seen = self.seen();
        let known = seen.complete.filter(|mark| !is_ahead(mark.wall, now));
        if known.is_none_or(|known| known.wall < complete) {
            seen.complete = Some(Mark::at(complete, now));
            seen.latest = seen.latest.max(Some(complete));
        }
    }

    /// What a letter that comes at `now` may say of when it was received: it came after `began`, where that is known.
    pub(crate) fn bounds(&self, began: Option<Mark>, now: Timestamp) -> Bounds {
        let seen = self.seen();
        let complete = seen.complete.filter(|mark| !is_ahead(mark.wall, now));
        let marks = [complete, began].into_iter().flatten();
        let went_back = seen.latest.is_some_and(|latest| is_ahead(latest, now));
        Bounds {
            earliest: marks.map(|mark| mark.now(now).before(SLACK)).max(),
            // A clock that has gone back is wrong, now or before: it bounds nothing.
            latest: (!went_back).then(|| now.after(SLACK)),
            came: Instant::now(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_ahead(moment: Timestamp, now: Timestamp) -> bool {
    moment.since(now) > SLACK
}

impl Mark {
    pub(crate) fn at(wall: Timestamp, now: Timestamp) -> Self {
        Self { wall, noted: Instant::now(), earlier: now.since(wall) }
    }

    /// The moment as the clock that shows `now` has it. Where the clock was set meanwhile, the two ways to reckon differ:
    /// the earlier one counts, so that no genuine letter is too old.
    fn now(&self, now: Timestamp) -> Timestamp {
        self.wall.min(now.before(self.noted.elapsed() + self.earlier))
    }
}

/// Within which a letter can have been received, as far as this side knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Not before.
    pub earliest: Option<Timestamp>,
    /// Not after.
    pub latest: Option<Timestamp>,
    /// When the letter was here, by the timer.
    pub came: Instant,
}

impl Bounds {
    /// Where nothing is known.
    pub fn none() -> Self {
        Self { earliest: None, latest: None, came: Instant::now() }
    }

    /// The moment within the bounds that is nearest.
    pub(crate) fn nearest(&self, moment: Timestamp) -> Timestamp {
        let late_enough = self.earliest.map_or(moment, |earliest| moment.max(earliest));
        self.latest.map_or(late_enough, |latest| late_enough.min(latest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_seconds(1_750_000_000);
    const HOUR: Duration = Duration::from_secs(3_600);

    fn waits(letters: u64, oldest: Option<Timestamp>) -> Depth {
        Depth { letters, oldest: oldest.map(Timestamp::as_micros), ..Depth::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_is_no_older_than_what_was_complete() {
        let horizon = Horizon::new(Some(NOON), NOON.after(HOUR));
        let now = NOON.after(HOUR);
        let after_a_gap = horizon.bounds(None, now);
        assert_eq!(after_a_gap.earliest, Some(NOON.before(SLACK)));
        assert_eq!(after_a_gap.latest, Some(now.after(SLACK)));
        let live = horizon.bounds(Some(Mark::at(now, now)), now);
        assert_eq!(live.earliest, Some(now.before(SLACK)), "it came after the connection was made");

        let oldest = NOON.after(HOUR / 2);
        horizon.heard(&waits(3, Some(oldest)), now, now);
        assert_eq!(horizon.until(), Some(oldest), "as the relay says itself");
        horizon.heard(&waits(3, Some(NOON)), now, now);
        assert_eq!(horizon.until(), Some(oldest), "it never goes back");
        horizon.heard(&waits(1, None), now, now);
        assert_eq!(horizon.until(), Some(oldest), "nothing is known of what waits");
        horizon.heard(&waits(0, None), now, now);
        assert_eq!(horizon.until(), Some(now));
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_set_makes_no_genuine_letter_too_old() {
        let horizon = Horizon::new(None, NOON);
        horizon.heard(&waits(0, None), NOON, NOON);
        tokio::time::advance(SLACK).await;
        for now in [NOON.before(HOUR).after(SLACK), NOON.after(HOUR)] {
            let earliest = horizon.bounds(None, now).earliest;
            let genuine = now.before(Duration::from_secs(5));
            assert!(earliest.is_none_or(|earliest| earliest <= genuine), "{now}: {earliest:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_was_set_back_bounds_nothing_until_the_relay_is_heard() {
        let board = Timestamp::from_seconds(0);
        let horizon = Horizon::new(Some(NOON), board);
        let bounds = horizon.bounds(None, board);
        assert_eq!((bounds.earliest, bounds.latest), (None, None));
        horizon.heard(&waits(2, Some(NOON.after(HOUR))), board, board);
        assert_eq!(horizon.bounds(None, board).nearest(NOON.after(HOUR)), NOON.after(HOUR));

        let was_ahead = Horizon::new(Some(NOON.after(24 * 365 * HOUR)), NOON);
        was_ahead.heard(&waits(1, Some(NOON.before(HOUR))), NOON, NOON);
        assert_eq!(was_ahead.bounds(None, NOON).nearest(NOON.before(HOUR)), NOON.before(HOUR));
        was_ahead.heard(&waits(0, None), NOON, NOON);
        assert_eq!(was_ahead.until(), Some(NOON), "so it is right again after a restart");
    }
}
