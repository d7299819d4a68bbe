//! Guessing tokens and codes: a block of addresses that is wrong too often is not listened to for a while.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ipnet::IpNet;
use tokio::time::Instant;

use crate::blocks::{SIZES, blocks};

/// So many wrong guesses are borne from a block of each size …
const MOST: [u32; SIZES] = [10, 100, 1_000, 10_000];
/// … in this time.
const SPAN: Duration = Duration::from_secs(60);
/// So many blocks are remembered.
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
    /// How long nobody there is listened to.
    fn wait(&self) -> Option<Duration> {
        SPAN.checked_sub(self.since.elapsed()).filter(|_| self.count >= self.most)
    }
}

impl Guesses {
    /// How long this address has to wait; none where it may guess.
    pub(crate) fn wait(&self, ip: IpAddr) -> Option<Duration> {
        let wrong = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        blocks(ip).iter().filter_map(|block| wrong.get(block)?.wait()).max()
    }

    /// Somebody at this address was wrong.
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

/// Forgets those whose time is over; where that is not enough, also those who are still borne. Who is not listened to
/// stays: nobody gets rid of that by guessing from elsewhere.
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

    /// An address in the household of that number, below 2001:db8::/32.
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
