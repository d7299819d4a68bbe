//! The queue of URLs to fetch.

use std::collections::{HashSet, VecDeque};

/// The maximum number of URLs in the queue.
const MOST: usize = 64;

/// The queue of URLs, oldest in front.
///
/// The newest and the oldest URL are taken in turns. So a URL that comes after a flood of others need not wait until
/// all of them are fetched, and a URL that waits while a flood goes on gets its turn, too. If the queue is full, the
/// URL in the middle is dropped; its event asks for it again later.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<String>,
    /// The URLs that are in the queue or being fetched.
    known: HashSet<String>,
    oldest_next: bool,
}

impl Queue {
    /// Adds a URL: at the front if `first`, else at the end. Returns `false` if it is in the queue or being fetched
    /// already.
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

    /// Takes the next URL from the queue: the newest and the oldest in turns.
    pub(crate) fn next(&mut self) -> Option<String> {
        let oldest = self.oldest_next;
        self.oldest_next = !oldest;
        if oldest { self.waiting.pop_front() } else { self.waiting.pop_back() }
    }

    /// Notes that the fetch of a URL has ended.
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
