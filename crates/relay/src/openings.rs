//! Limits how often tunnels are opened. Each takes a name for good, so a token, or a block of addresses, may open a few
//! at once and then only slowly.

use std::{net::IpAddr, num::NonZeroU32};

use governor::{
    DefaultKeyedRateLimiter, Quota as Pace, RateLimiter,
    clock::{Clock as _, DefaultClock},
};
use ipnet::IpNet;

use crate::blocks::{SIZES, blocks};

/// How many minutes' worth of its rate a token may open at once.
const AT_ONCE: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// How many tunnels a block of each size may open, as a multiple of one token's limit.
const OF_BLOCK: [u32; SIZES] = [3, 6, 12, 48];

/// How often tunnels were opened, by token and by block of addresses.
#[derive(Debug)]
pub(crate) struct Openings {
    tokens: DefaultKeyedRateLimiter<String>,
    blocks: [DefaultKeyedRateLimiter<IpNet>; SIZES],
}

impl Openings {
    /// Returns limits that allow each token `a_minute` tunnels a minute over time.
    pub(crate) fn new(a_minute: NonZeroU32) -> Self {
        let pace =
            |a_minute: NonZeroU32| Pace::per_minute(a_minute).allow_burst(a_minute.saturating_mul(AT_ONCE));
        Self {
            tokens: RateLimiter::keyed(pace(a_minute)),
            blocks: OF_BLOCK.map(|tokens| {
                let tokens = NonZeroU32::new(tokens).unwrap_or(NonZeroU32::MIN);
                RateLimiter::keyed(pace(a_minute.saturating_mul(tokens)))
            }),
        }
    }

    /// Counts a tunnel that is about to be opened. Returns `None` if it may be opened, else in how many seconds to try
    /// again.
    pub(crate) fn wait(&self, token: &str, from: IpAddr) -> Option<u64> {
        let of_token = self.tokens.check_key(&token.to_owned()).err();
        let denied = of_token.or_else(|| {
            let mut blocks = blocks(from).into_iter().zip(&self.blocks);
            blocks.find_map(|(block, pace)| pace.check_key(&block).err())
        });
        Some(denied?.wait_time_from(DefaultClock::default().now()).as_secs() + 1)
    }

    /// Forgets tokens and blocks that opened no tunnel lately.
    pub(crate) fn forget_idle(&self) {
        self.tokens.retain_recent();
        self.blocks.iter().for_each(RateLimiter::retain_recent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(openings: &Openings, token: &str, from: &str) -> usize {
        let from = from.parse().unwrap();
        (0..1_000).take_while(|_| openings.wait(token, from).is_none()).count()
    }

    #[test]
    fn threat_12_a_token_opens_a_few_at_once_and_others_are_not_held_up() {
        let openings = Openings::new(NonZeroU32::new(10).unwrap());
        assert_eq!(opened(&openings, "one", "192.0.2.1"), 20);
        let wait = openings.wait("one", "198.51.100.1".parse().unwrap());
        assert!(wait.is_some_and(|seconds| (1..=7).contains(&seconds)), "{wait:?}");
        assert_eq!(opened(&openings, "other", "192.0.2.1"), 20);
    }

    #[test]
    fn threat_12_a_block_of_addresses_with_many_tokens_goes_slowly_too() {
        let openings = Openings::new(NonZeroU32::new(1).unwrap());
        let households =
            (0..200).map(|at| opened(&openings, &format!("tk{at}"), &format!("2001:db8::{at:x}:0:0:0:1")));
        assert_eq!(households.sum::<usize>(), 12, "a /56");
        assert_eq!(opened(&openings, "tk", "2001:db8:0:100::1"), 2, "the /56 beside it");
        let one = (0..9).map(|at| opened(&openings, &format!("t{at}"), "192.0.2.1"));
        assert_eq!(one.sum::<usize>(), 6, "one address");
    }
}
