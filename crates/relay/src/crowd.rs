//! Limits who uses places at the same time, so that no block of addresses, small or large, keeps everybody else out.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use ipnet::IpNet;

use crate::blocks::{SIZES, blocks};

/// Shares of blocks are given in parts of this many.
pub(crate) const PARTS: usize = 32;

/// The share of all places, in units of 1/[`PARTS`], that a block of each size may have while nobody else is connected;
/// the smallest size first.
pub(crate) type Shares = [usize; SIZES];

/// The places in use, counted by the blocks of addresses that use them.
///
/// How many places a block may have is proportional to the number of free places. So a block gets its whole share while
/// it is alone, and less the more others are there. The last places are left to blocks that have none yet.
#[derive(Debug)]
pub(crate) struct Crowd {
    places: usize,
    shares: Shares,
    /// Networks that are not counted, such as trusted proxies: many senders are behind them, and who they are is known
    /// only later.
    exempt: Vec<IpNet>,
    here: Mutex<Here>,
}

#[derive(Debug, Default)]
struct Here {
    all: usize,
    /// Blocks that use no place are removed, so that the map stays as small as the crowd.
    of: HashMap<IpNet, usize>,
}

/// A place in use, returned when it is dropped. An exempt address uses no place.
#[derive(Debug)]
pub(crate) struct Member(Option<(Arc<Crowd>, [IpNet; SIZES])>);

impl Crowd {
    pub(crate) fn new(places: usize, shares: Shares, exempt: &[IpNet]) -> Arc<Self> {
        Arc::new(Self { places, shares, exempt: exempt.to_vec(), here: Mutex::default() })
    }

    /// Returns a place for an address, or `None` if one of its blocks has all that it may have or no place is free.
    pub(crate) fn enter(self: &Arc<Self>, ip: IpAddr) -> Option<Member> {
        let ip = ip.to_canonical();
        if self.exempt.iter().any(|net| net.contains(&ip)) {
            return Some(Member(None));
        }
        let blocks = blocks(ip);
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.places.checked_sub(here.all).filter(|free| *free > 0)?;
        let has = |block: &IpNet| here.of.get(block).copied().unwrap_or_default();
        if !blocks.iter().zip(self.shares).all(|(block, share)| may_grow(has(block), share, free)) {
            return None;
        }
        here.all += 1;
        blocks.iter().for_each(|block| *here.of.entry(*block).or_default() += 1);
        Some(Member(Some((Arc::clone(self), blocks))))
    }
}

/// Returns whether a block with `has` places may get another one while `free` places are free. A block that is alone
/// ends up with `share / PARTS` of all places.
fn may_grow(has: usize, share: usize, free: usize) -> bool {
    has == 0 || has * (PARTS - share) < free * share
}

impl Drop for Member {
    fn drop(&mut self) {
        let Some((crowd, blocks)) = &self.0 else { return };
        let mut here = crowd.here.lock().unwrap_or_else(PoisonError::into_inner);
        here.all -= 1;
        for block in blocks {
            if let Some(count) = here.of.get_mut(block) {
                *count -= 1;
                if *count == 0 {
                    here.of.remove(block);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    const PLACES: usize = 1_024;
    const SHARES: Shares = [4, 5, 6, 10];

    fn crowd() -> Arc<Crowd> {
        Crowd::new(PLACES, SHARES, &["10.0.0.0/8".parse().unwrap()])
    }

    /// Enters as often as possible from the /64 blocks below a prefix, and returns the places.
    fn all_from(crowd: &Arc<Crowd>, prefix: &str) -> Vec<Member> {
        let net: ipnet::Ipv6Net = prefix.parse().unwrap();
        let first = u128::from(net.network());
        let bits = 64 - net.prefix_len();
        let (count, apart) = (1_u128 << bits.min(12), 64 + bits.saturating_sub(12));
        let households = (0..count).map(|at| first + (at << apart));
        let enter = |ip: u128| std::iter::from_fn(move || crowd.enter(Ipv6Addr::from(ip).into()));
        households.flat_map(enter).collect()
    }

    fn enters(crowd: &Arc<Crowd>, ip: &str) -> Option<Member> {
        crowd.enter(ip.parse().unwrap())
    }

    #[test]
    fn threat_12_no_block_of_any_size_takes_all_places() {
        for (prefix, parts) in [
            ("2001:db8::/64", 4),
            ("2001:db8::/61", 5),
            ("2001:db8::/56", 5),
            ("2001:db8::/52", 6),
            ("2001:db8::/48", 6),
            ("2001:db8::/44", 10),
            ("2001:db8::/32", 10),
        ] {
            let crowd = crowd();
            let there = all_from(&crowd, prefix);
            let most = PLACES * parts / PARTS;
            assert!((most..=most + 1).contains(&there.len()), "{prefix}: {} of {most}", there.len());
            let other = all_from(&crowd, "2001:db9::/64");
            assert!(other.len() >= PLACES / 16, "another household still has {}", other.len());
            assert!(enters(&crowd, "192.0.2.1").is_some(), "{prefix}");
        }
    }

    #[test]
    fn threat_12_the_fuller_it_is_the_less_a_block_gets() {
        let crowd = crowd();
        let there: Vec<_> = (0..20).flat_map(|at| all_from(&crowd, &format!("2a{at:02x}::/56"))).collect();
        assert!(there.len() < PLACES, "{}", there.len());
        let newcomer = enters(&crowd, "2001:db8::1").expect("the last places are for those who have none");
        drop((there, newcomer));
        let here = crowd.here.lock().unwrap();
        assert_eq!((here.all, here.of.len()), (0, 0), "nobody is remembered who is gone");
    }

    #[test]
    fn an_address_has_its_share_however_it_is_written_and_others_still_come_in() {
        let crowd = Crowd::new(16, [8, 10, 12, 20], &[]);
        let there: Vec<_> = std::iter::from_fn(|| enters(&crowd, "192.0.2.1")).collect();
        assert!((4..=5).contains(&there.len()), "{}", there.len());
        assert!(enters(&crowd, "::ffff:192.0.2.1").is_none());
        assert!(enters(&crowd, "198.51.100.1").is_some());
        drop(there);
        assert!(enters(&crowd, "192.0.2.1").is_some());
    }

    #[test]
    fn who_comes_through_a_proxy_takes_no_place() {
        let crowd = Crowd::new(1, SHARES, &["10.0.0.0/8".parse().unwrap()]);
        let proxied: Vec<_> = (0..9).map(|_| enters(&crowd, "10.1.2.3")).collect();
        assert!(proxied.iter().all(Option::is_some));
        let _one = enters(&crowd, "192.0.2.1").unwrap();
        assert!(enters(&crowd, "198.51.100.1").is_none(), "there is one place");
    }
}
