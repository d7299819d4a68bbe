//! Limits the memory for letters that are sent to devices: the total of all devices, and the share of each, so that no
//! device takes it from the others.
//!
//! Each session has a little memory of its own, with which it always makes progress. The rest comes from two common
//! pools: one for large letters, and one for all others, so that these don't wait behind large ones. A session gets at
//! most a fixed share of each pool, and sessions that wait are served in turn. Memory is returned when the last piece
//! goes to the socket; a device that takes less than a piece in half a minute is disconnected (see `session_writer`).

use std::sync::Arc;

use hookmitt_wire::MAX_LETTER;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes are counted in units of this size.
const UNIT: usize = 1_024;

/// The sizes of the common pools, in bytes: for large letters, and for the others.
const LARGE: usize = 192 * 1024 * 1024;
const USUAL: usize = 64 * 1024 * 1024;

/// How much of each pool one session may have at a time, in bytes. The largest letter fits.
const LARGE_SHARE: usize = MAX_LETTER;
const USUAL_SHARE: usize = 4 * 1024 * 1024;

/// From this size in bytes a letter counts as large.
const IS_LARGE: usize = 1024 * 1024;

/// Each session's own memory in bytes, and how much of it a batch gets when the common pool has no room.
const OWN: usize = 64 * 1024;
const LITTLE: usize = OWN / 2;

/// The common pools.
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
    /// Returns how many bytes of the pools are in use.
    pub(crate) fn held(&self) -> usize {
        let free = (self.large.available_permits() + self.usual.available_permits()) * UNIT;
        (LARGE + USUAL).saturating_sub(free)
    }

    /// Returns the allowance of one session.
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance {
            own: room(OWN),
            usual: Lane { mine: room(USUAL_SHARE), all: Arc::clone(&self.usual) },
            large: Lane { mine: room(LARGE_SHARE), all: Arc::clone(&self.large) },
        }
    }
}

/// The memory that one session may use.
#[derive(Debug)]
pub(crate) struct Allowance {
    own: Arc<Semaphore>,
    usual: Lane,
    large: Lane,
}

/// A common pool, and the limit of one session in it.
#[derive(Debug)]
struct Lane {
    mine: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

/// A share of the memory, in use until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    bytes: usize,
    /// One permit for each limit that the share counts against.
    permits: Vec<OwnedSemaphorePermit>,
}

impl Allowance {
    /// Returns a share for a batch of letters of unknown size: `bytes` bytes, or a little of the session's own memory
    /// if the pool does not have as much.
    pub(crate) async fn batch(&self, bytes: usize) -> Share {
        match self.usual.try_share(bytes) {
            Some(share) => share,
            None => Share::of(LITTLE.min(bytes), [wait(&self.own, LITTLE.min(bytes)).await]),
        }
    }

    /// Returns a share for one letter of this size. Waits for its turn.
    pub(crate) async fn letter(&self, bytes: usize) -> Share {
        match bytes {
            0..=OWN => Share::of(bytes, [wait(&self.own, bytes).await]),
            IS_LARGE.. => self.large.share(bytes, LARGE_SHARE).await,
            _ => self.usual.share(bytes, USUAL_SHARE).await,
        }
    }

    /// Shrinks a share to the bytes that were read within it. If they fit into the session's own memory, the pool gets
    /// everything back.
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

    /// Returns how many bytes may be read within the share.
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

/// Returns `None` only if the semaphore was closed, which never happens.
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
