//! The horizon of a tunnel: the time up to which everything that the relay received has arrived here. Letters that come
//! later can't be older than that.
//!
//! The relay reports when it received a request, and that time decides whether a signed timestamp is fresh. A lying
//! relay could therefore pass off an old request as a new one, so the time is checked against what this side saw
//! itself. This machine's clock may be wrong too: if it was set back since the horizon was noted, the horizon limits
//! nothing until the relay is heard from again.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hookmitt_event::Timestamp;
use hookmitt_wire::Depth;
use tokio::time::Instant;

/// How much the clocks of relay and app may differ, including the time that it takes the relay to store a letter.
pub(crate) const SLACK: Duration = Duration::from_secs(60);

/// The horizon of a tunnel. Clones share it. It outlives connections, and its owner stores it across restarts.
#[derive(Clone, Debug, Default)]
pub struct Horizon(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// Everything up to this moment has arrived; `None` if unknown.
    complete: Option<Mark>,
    /// The latest time of the wall clock that was ever noted here.
    latest: Option<Timestamp>,
}

/// A moment by the wall clock and by the timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    wall: Timestamp,
    /// When the mark was made, and how long before that its moment was.
    noted: Instant,
    earlier: Duration,
}

impl Horizon {
    /// Creates a horizon. `complete_until` is the one that was stored earlier, if any.
    pub fn new(complete_until: Option<Timestamp>, now: Timestamp) -> Self {
        let complete = complete_until.map(|wall| Mark::at(wall, now));
        Self(Arc::new(Mutex::new(Seen { complete, latest: complete_until })))
    }

    /// Returns the time up to which everything has arrived.
    pub fn until(&self) -> Option<Timestamp> {
        self.seen().complete.map(|mark| mark.wall)
    }

    /// Records the relay's report of what waits, which came at `now` and was asked for at `asked` at the earliest.
    /// Everything else that it received before `asked` has arrived. The relay's own word for the oldest letter's time
    /// counts, so that it can't send an older one later.
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

    /// Returns when a letter that arrives at `now` can have been received. It was received after `began`, if that is
    /// given.
    pub(crate) fn bounds(&self, began: Option<Mark>, now: Timestamp) -> Bounds {
        let seen = self.seen();
        let complete = seen.complete.filter(|mark| !is_ahead(mark.wall, now));
        let marks = [complete, began].into_iter().flatten();
        let went_back = seen.latest.is_some_and(|latest| is_ahead(latest, now));
        Bounds {
            earliest: marks.map(|mark| mark.now(now).before(SLACK)).max(),
            // A clock that went back is wrong now or was wrong before, so it limits nothing.
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

    /// Returns the moment by a clock that shows `now`. If the clock was set meanwhile, the wall clock and the timer
    /// disagree; the earlier result counts, so that no genuine letter appears too old.
    fn now(&self, now: Timestamp) -> Timestamp {
        self.wall.min(now.before(self.noted.elapsed() + self.earlier))
    }
}

/// The range in which a letter can have been received, as far as this side knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The earliest moment.
    pub earliest: Option<Timestamp>,
    /// The latest moment.
    pub latest: Option<Timestamp>,
    /// When the letter arrived here, by the timer.
    pub came: Instant,
}

impl Bounds {
    /// Returns a range without limits.
    pub fn none() -> Self {
        Self { earliest: None, latest: None, came: Instant::now() }
    }

    /// Returns the moment in the range that is nearest to `moment`.
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
