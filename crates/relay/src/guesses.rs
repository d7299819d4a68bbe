//! Limits guessing of tokens and codes: a block of addresses with too many wrong guesses is refused for a while.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ipnet::IpNet;
use tokio::time::Instant;

use crate::blocks::{SIZES, blocks};

/// How many wrong guesses a block of each size may make …
const MOST: [u32; SIZES] = [10, 100, 1_000, 10_000];
/// … within this time.
const SPAN: Duration = Duration::from_secs(60);
/// How many blocks are remembered.
const BLOCKS: usize = 10_000;

/// Counts wrong guesses by block.
#[derive(Debug, Default)]
pub(crate) struct Guesses(Mutex<HashMap<IpNet, Wrong>>);

#[derive(Debug)]
struct Wrong {
    count: u32,
    since: Instant,
    most: u32,
}

impl Wrong {
    /// Returns how long the block is still refused, if it is.
    fn wait(&self) -> Option<Duration> {
        SPAN.checked_sub(self.since.elapsed()).filter(|_| self.count >= self.most)
    }
}

impl Guesses {
    /// Returns how long this address has to wait, or `None` if it may guess.
    pub(crate) fn wait(&self, ip: IpAddr) -> Option<Duration> {
        let wrong = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        blocks(ip).iter().filter_map(|block| wrong.get(block)?.wait()).max()
    }

    /// Counts a wrong guess from this address.
    pub(crate) fn wrong(&self, ip: IpAddr) {
        let mut wrong = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if wrong.len() + SIZES > BLOCKS {
            make_room(&mut wrong);
        }
        for (block, most) in blocks(ip).into_iter().zip(MOST) {
            if wrong.len() >= BLOCKS && !wrong.contains_key(&block) {
                continue;
            }
            let now = Instant::now();
            let found = wrong.entry(block).or_insert(Wrong { count: 0, since: now, most });
            if found.since.elapsed() >= SPAN {
                *found = Wrong { count: 0, since: now, most };
            }
            found.count += 1;
        }
    }
}

/// Removes blocks whose time is over; if that is not enough, also blocks that are below their limit. Refused blocks
/// stay, so that nobody ends a refusal by guessing from other addresses.
fn make_room(wrong: &mut HashMap<IpNet, Wrong>) {
    wrong.retain(|_, found| found.since.elapsed() < SPAN);
    if wrong.len() + SIZES > BLOCKS {
        wrong.retain(|_, found| found.wait().is_some());
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    /// Returns an address in the household with this number, below 2001:db8::/32.
    fn household(number: u128) -> IpAddr {
        Ipv6Addr::from((0x2001_0db8 << 96) + (number << 64) + 1).into()
    }

    #[tokio::test(start_paused = true)]
    async fn threat_9_an_address_that_is_wrong_too_often_waits_and_others_do_not() {
        let (guesses, ip) = (Guesses::default(), household(0));
        for _ in 0..MOST[0] {
            assert_eq!(guesses.wait(ip), None);
            guesses.wrong(ip);
        }
        assert!(guesses.wait("2001:db8::ffff".parse().unwrap()).is_some());
        assert_eq!(guesses.wait(household(1)), None);
        tokio::time::advance(SPAN).await;
        assert_eq!(guesses.wait(ip).unwrap_or_default(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn threat_9_a_block_that_guesses_from_all_its_addresses_waits_as_a_whole() {
        let guesses = Guesses::default();
        for number in 0..100 {
            assert_eq!(guesses.wait(household(number)), None);
            guesses.wrong(household(number));
        }
        assert!(guesses.wait(household(255)).is_some(), "the whole /56");
        assert_eq!(guesses.wait(household(256)), None);
        assert_eq!(guesses.wait("192.0.2.1".parse().unwrap()), None);
    }

    #[tokio::test(start_paused = true)]
    async fn threat_9_who_waits_is_not_forgotten_however_many_others_are_wrong() {
        let (guesses, ip) = (Guesses::default(), "192.0.2.1".parse().unwrap());
        for _ in 0..MOST[0] {
            guesses.wrong(ip);
        }
        for number in 0..50_000 {
            guesses.wrong(household(number << 8));
        }
        assert!(guesses.wait(ip).is_some());
        assert!(guesses.0.lock().unwrap().len() <= BLOCKS);
    }
}
