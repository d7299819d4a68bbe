//! The URLs that wait to be fetched.

use std::collections::{HashSet, VecDeque};

/// URLs that may wait.
const MOST: usize = 64;

/// Who waits, the one that came first in front.
///
/// The newest and the oldest take turns: who comes after a crowd has left need not wait until all of it was served, and
/// who waits while a crowd keeps coming gets a turn, too. Where there is no room, the one in the middle goes; its event
/// asks again.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<String>,
    /// Waiting or under way.
    known: HashSet<String>,
    oldest_next: bool,
}

impl Queue {
    /// Adds a URL, at the front where it goes `first`; `false` where it is there, or under way.
    pub(crate) fn add(&mut self, url: &str, first: bool) -> bool {
        if !self.known.insert(url.to_owned()) {
            return false;
        }
        if self.waiting.len() >= MOST
            && let Some(gone) = self.waiting.remove(MOST / 2)
        {
            self.known.remove(&gone);
        }
        if first {
            self.waiting.push_front(url.to_owned());
        } else {
            self.waiting.push_back(url.to_owned());
        }
        true
    }

    /// Takes the next.
    pub(crate) fn next(&mut self) -> Option<String> {
        let oldest = self.oldest_next;
        self.oldest_next = !oldest;
        if oldest { self.waiting.pop_front() } else { self.waiting.pop_back() }
    }

    /// Notes that one that was taken is no longer under way.
    pub(crate) fn done(&mut self, url: &str) {
        self.known.remove(url);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_6_the_newest_and_the_oldest_take_turns_and_nobody_is_turned_away() {
        let mut queue = Queue::default();
        for number in 0..1_000 {
            assert!(queue.add(&number.to_string(), false));
        }
        assert!(!queue.add("999", false), "it waits already");
        assert_eq!((queue.waiting.len(), queue.known.len()), (MOST, MOST));
        let taken: Vec<_> = (0..4).filter_map(|_| queue.next()).collect();
        assert_eq!(taken, ["999", "0", "998", "1"]);
        assert!(!queue.add("999", false), "it is under way");
        queue.done("999");
        assert!(queue.add("999", true));
        let taken: Vec<_> = (0..2).filter_map(|_| queue.next()).collect();
        assert_eq!(taken, ["997", "999"], "one that goes first is the oldest");
    }
}
