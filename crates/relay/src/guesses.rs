//! Guessing tokens and codes: who is wrong too often from one address is not listened to for a while.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// So many wrong guesses are borne …
const MOST: u32 = 10;
/// … in this time.
const SPAN: Duration = Duration::from_secs(60);
/// So many addresses are remembered; when there are more, those whose time is over go, else all.
const ADDRESSES: usize = 10_000;

/// Counts wrong guesses by address.
#[derive(Debug, Default)]
pub(crate) struct Guesses(Mutex<HashMap<IpAddr, Wrong>>);

#[derive(Debug)]
struct Wrong {
    count: u32,
    since: Instant,
}

impl Guesses {
    /// How long this address has to wait; none where it may guess.
    pub(crate) fn wait(&self, ip: IpAddr) -> Option<Duration> {
        let wrong = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = wrong.get(&network(ip)).filter(|found| found.count >= MOST)?;
        SPAN.checked_sub(found.since.elapsed())
    }

    /// Somebody at this address was wrong.
    pub(crate) fn wrong(&self, ip: IpAddr) {
        let mut wrong = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if wrong.len() >= ADDRESSES {
            wrong.retain(|_, found| found.since.elapsed() < SPAN);
            if wrong.len() >= ADDRESSES {
                wrong.clear();
            }
        }
        let found = wrong.entry(network(ip)).or_insert_with(|| Wrong { count: 0, since: Instant::now() });
        if found.since.elapsed() >= SPAN {
            *found = Wrong { count: 0, since: Instant::now() };
        }
        found.count += 1;
    }
}

/// A household has a whole /64 of IPv6.
pub(crate) fn network(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) & (u128::MAX << 64)).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_address_that_is_wrong_too_often_waits_and_others_do_not() {
        let (guesses, ip) = (Guesses::default(), "2001:db8::1".parse().unwrap());
        for _ in 0..MOST {
            assert_eq!(guesses.wait(ip), None);
            guesses.wrong(ip);
        }
        assert!(guesses.wait("2001:db8::ffff".parse().unwrap()).is_some());
        assert_eq!(guesses.wait("2001:db8:0:1::1".parse().unwrap()), None);
        tokio::time::advance(SPAN).await;
        assert_eq!(guesses.wait(ip).unwrap_or_default(), Duration::ZERO);
    }
}
