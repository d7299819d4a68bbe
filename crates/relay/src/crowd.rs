//! How many of one network are here at once: none may keep all the others out.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use ipnet::IpNet;

use crate::guesses::network;

/// Those who are here, by network.
#[derive(Debug)]
pub(crate) struct Crowd {
    most: usize,
    /// Behind these are many, and who they are is known only later.
    exempt: Vec<IpNet>,
    here: Mutex<HashMap<IpAddr, usize>>,
}

/// A place among them, given back when it is dropped. Who is exempt takes none.
#[derive(Debug)]
pub(crate) struct Member(Option<(Arc<Crowd>, IpAddr)>);

impl Crowd {
    pub(crate) fn new(most: usize, exempt: &[IpNet]) -> Arc<Self> {
        Arc::new(Self { most, exempt: exempt.to_vec(), here: Mutex::default() })
    }

    /// A place for somebody from there; none where their network has all that it may have.
    pub(crate) fn enter(self: &Arc<Self>, ip: IpAddr) -> Option<Member> {
        let ip = ip.to_canonical();
        if self.exempt.iter().any(|net| net.contains(&ip)) {
            return Some(Member(None));
        }
        let network = network(ip);
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        let count = here.entry(network).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Member(Some((Arc::clone(self), network))))
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let Some((crowd, network)) = &self.0 else { return };
        let mut here = crowd.here.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = here.get_mut(network) {
            *count -= 1;
            if *count == 0 {
                here.remove(network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_gets_its_share_and_no_more_and_others_still_come_in() {
        let crowd = Crowd::new(2, &["10.0.0.0/8".parse().unwrap()]);
        let enter = |ip: &str| crowd.enter(ip.parse().unwrap());
        let (first, second) = (enter("192.0.2.1").unwrap(), enter("::ffff:192.0.2.1").unwrap());
        assert!(enter("192.0.2.1").is_none() && enter("192.0.2.2").is_some());
        drop(first);
        assert!(enter("192.0.2.1").is_some());
        let household = [enter("2001:db8::1"), enter("2001:db8::2")];
        assert!(household.iter().all(Option::is_some) && enter("2001:db8::3").is_none());
        let proxied: Vec<_> = (0..9).map(|_| enter("10.1.2.3")).collect();
        assert!(proxied.iter().all(Option::is_some));
        drop((second, household, proxied));
        assert!(crowd.here.lock().unwrap().is_empty(), "nobody is remembered who is gone");
    }
}
