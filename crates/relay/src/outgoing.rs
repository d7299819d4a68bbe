//! How much of the letters that go out is in memory: bounded over all devices, and none keeps it from the others.
//!
//! Each session has a little of its own, with which it always gets on. What goes beyond is taken from what all have in
//! common: a part for large letters, and a part for the others, so that these don't wait behind them. Of each part one
//! session gets a share at most, and those that wait are served in their turn. What is held is given back when the last
//! piece went to the socket; a device that takes less than a piece in half a minute is gone (see `session_writer`).

use std::sync::Arc;

use hookmitt_wire::MAX_LETTER;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes are counted in pieces of this size.
const UNIT: usize = 1_024;

/// What all sessions have in common for large letters, and for the others.
const LARGE: usize = 192 * 1024 * 1024;
const USUAL: usize = 64 * 1024 * 1024;

/// The most of each that one session has at a time. The largest letter fits.
const LARGE_SHARE: usize = MAX_LETTER;
const USUAL_SHARE: usize = 4 * 1024 * 1024;

/// From this size a letter is large.
const IS_LARGE: usize = 1024 * 1024;

/// What each session has of its own, and how much of it is taken at a time where there is nothing else.
const OWN: usize = 64 * 1024;
const LITTLE: usize = OWN / 2;

/// What all sessions have in common.
#[derive(Debug)]
pub(crate) struct Outgoing {
    large: Arc<Semaphore>,
    usual: Arc<Semaphore>,
}

impl Default for Outgoing {
    fn default() -> Self {
        Self { large: room(LARGE), usual: room(USUAL) }
    }
}

impl Outgoing {
    /// How many bytes of it are held.
    pub(crate) fn held(&self) -> usize {
        let free = (self.large.available_permits() + self.usual.available_permits()) * UNIT;
        (LARGE + USUAL).saturating_sub(free)
    }

    /// For one session.
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance {
            own: room(OWN),
            usual: Lane { mine: room(USUAL_SHARE), all: Arc::clone(&self.usual) },
            large: Lane { mine: room(LARGE_SHARE), all: Arc::clone(&self.large) },
        }
    }
}

/// What one session may have in memory.
#[derive(Debug)]
pub(crate) struct Allowance {
    own: Arc<Semaphore>,
    usual: Lane,
    large: Lane,
}

/// One part of what all have in common, and the most of it for one session.
#[derive(Debug)]
struct Lane {
    mine: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

/// So many bytes may be in memory, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    bytes: usize,
    /// In each of the rooms that it is in.
    permits: Vec<OwnedSemaphorePermit>,
}

impl Allowance {
    /// For a batch of letters, whose size is not known yet: so many bytes, or a little where there is not as much.
    pub(crate) async fn batch(&self, bytes: usize) -> Share {
        match self.usual.try_share(bytes) {
            Some(share) => share,
            None => Share::of(LITTLE.min(bytes), [wait(&self.own, LITTLE.min(bytes)).await]),
        }
    }

    /// For one letter of that size. Waits for its turn.
    pub(crate) async fn letter(&self, bytes: usize) -> Share {
        match bytes {
            0..=OWN => Share::of(bytes, [wait(&self.own, bytes).await]),
            IS_LARGE.. => self.large.share(bytes, LARGE_SHARE).await,
            _ => self.usual.share(bytes, USUAL_SHARE).await,
        }
    }

    /// So many bytes were read within a share: gives back the rest, or all of it where the session's own does.
    pub(crate) fn settle(&self, share: Share, bytes: usize) -> Share {
        if share.permits.len() > 1
            && let Some(own) = take(&self.own, bytes)
        {
            return Share::of(bytes, [own]);
        }
        share.shrunk(bytes)
    }
}

impl Lane {
    fn try_share(&self, bytes: usize) -> Option<Share> {
        Some(Share::of(bytes, [Some(take(&self.mine, bytes)?), Some(take(&self.all, bytes)?)]))
    }

    async fn share(&self, bytes: usize, most: usize) -> Share {
        let mine = wait(&self.mine, bytes.min(most)).await;
        Share::of(bytes, [mine, wait(&self.all, bytes.min(most)).await])
    }
}

impl Share {
    fn of(bytes: usize, permits: impl IntoIterator<Item = impl Into<Option<OwnedSemaphorePermit>>>) -> Self {
        Self { bytes, permits: permits.into_iter().filter_map(Into::into).collect() }
    }

    /// How many bytes may be read within it.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn shrunk(mut self, bytes: usize) -> Self {
        let units = bytes.div_ceil(UNIT);
        for permit in &mut self.permits {
            drop(permit.split(permit.num_permits().saturating_sub(units)));
        }
        self.bytes = bytes;
        self
    }
}

fn room(bytes: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(bytes / UNIT))
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

fn take(room: &Arc<Semaphore>, bytes: usize) -> Option<OwnedSemaphorePermit> {
    Arc::clone(room).try_acquire_many_owned(units(bytes)).ok()
}

/// None where the room was closed, which nobody does.
async fn wait(room: &Arc<Semaphore>, bytes: usize) -> Option<OwnedSemaphorePermit> {
    Arc::clone(room).acquire_many_owned(units(bytes)).await.ok()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const LETTER: usize = 26 * 1024 * 1024;

    #[test]
    fn small_letters_take_nothing_from_the_others_for_longer_than_they_are_read() {
        let all = Outgoing::default();
        let session = all.allowance();
        let share = session.batch(IS_LARGE).now_or_never().expect("all is free");
        assert_eq!((share.bytes(), all.held()), (IS_LARGE, IS_LARGE));
        let share = session.settle(share, 3_000);
        assert_eq!((share.bytes(), all.held()), (3_000, 0));
        let many = session.settle(session.batch(IS_LARGE).now_or_never().unwrap(), 100 * UNIT);
        assert_eq!(all.held(), 100 * UNIT);
        drop((share, many));
        assert_eq!(all.held(), 0);
    }

    #[test]
    fn a_slow_device_has_its_share_and_no_more() {
        let all = Outgoing::default();
        let (slow, other) = (all.allowance(), all.allowance());
        let mut held = Vec::new();
        while let Some(share) = slow.batch(IS_LARGE).now_or_never() {
            held.push(slow.settle(share, IS_LARGE));
        }
        assert!(all.held() <= USUAL_SHARE, "{}", all.held());
        assert!(slow.letter(IS_LARGE - 1).now_or_never().is_none(), "it has to take something first");
        held.push(slow.letter(LETTER).now_or_never().expect("that is counted apart"));
        assert!(slow.letter(LETTER).now_or_never().is_none(), "one at a time");
        assert_eq!(other.batch(IS_LARGE).now_or_never().unwrap().bytes(), IS_LARGE);
        assert!(other.letter(LETTER).now_or_never().is_some());
    }

    #[test]
    fn where_all_is_taken_large_letters_wait_for_their_turn_and_small_ones_go_on() {
        let all = Outgoing::default();
        let fill = |bytes: usize| -> Vec<_> {
            std::iter::from_fn(|| all.allowance().letter(bytes).now_or_never()).collect()
        };
        let mut large = fill(LETTER);
        let late = all.allowance();
        let mut waits = std::pin::pin!(late.letter(LETTER));
        assert!((&mut waits).now_or_never().is_none());
        assert!(all.allowance().letter(IS_LARGE).now_or_never().is_none(), "nobody passes whoever waits");
        assert!(all.allowance().letter(IS_LARGE - 1).now_or_never().is_some(), "smaller ones don't wait");
        let usual = fill(IS_LARGE - 1);
        assert!(all.held() <= LARGE + USUAL);
        let little = late.batch(IS_LARGE).now_or_never().expect("its own is free");
        assert_eq!(little.bytes(), LITTLE);
        drop(large.pop());
        assert!(waits.now_or_never().is_some());
        drop((large, usual));
        assert_eq!(all.held(), 0);
    }

    #[test]
    fn even_the_largest_letter_that_there_is_gets_its_turn() {
        let session = Outgoing::default().allowance();
        for bytes in [OWN, OWN + 1, IS_LARGE - 1, IS_LARGE, MAX_LETTER, 2 * MAX_LETTER] {
            assert_eq!(session.letter(bytes).now_or_never().map(|share| share.bytes()), Some(bytes));
        }
        assert_eq!(session.batch(1).now_or_never().map(|share| share.bytes()), Some(1));
    }
}
