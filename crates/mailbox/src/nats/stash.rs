//! Letters that were forgotten just now because their tunnel's records said so.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use super::erase::Gone;

/// How long they are remembered, at least.
const KEPT: Duration = Duration::from_secs(10);

/// Letters that were forgotten before this relay's own acknowledgement came to deleting them: the bucket told it of its
/// own change first. Those of other relays' acknowledgements are deleted there, and fall out of here after a while.
#[derive(Debug)]
pub(super) struct Stash {
    young: HashMap<String, Vec<Gone>>,
    old: HashMap<String, Vec<Gone>>,
    turned: Instant,
}

impl Stash {
    pub(super) fn new(now: Instant) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), turned: now }
    }

    /// Remembers letters of a tunnel for a while.
    pub(super) fn add(&mut self, tunnel: &str, gone: Vec<Gone>, now: Instant) {
        if now.duration_since(self.turned) > KEPT {
            self.old = std::mem::take(&mut self.young);
            self.turned = now;
        }
        if !gone.is_empty() {
            self.young.entry(tunnel.to_owned()).or_default().extend(gone);
        }
    }

    /// The letters of a tunnel that were forgotten just now.
    pub(super) fn take(&mut self, tunnel: &str) -> Vec<Gone> {
        let mut gone = self.old.remove(tunnel).unwrap_or_default();
        gone.extend(self.young.remove(tunnel).unwrap_or_default());
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_relay_deletes_is_not_remembered_for_ever() {
        let start = Instant::now();
        let mut stash = Stash::new(start);
        stash.add("acme", vec![(1, false)], start);
        stash.add("acme", vec![(2, true)], start + KEPT * 2);
        assert_eq!(stash.take("acme"), [(1, false), (2, true)]);
        stash.add("acme", vec![(3, false)], start + KEPT * 4);
        stash.add("other", Vec::new(), start + KEPT * 6);
        stash.add("other", Vec::new(), start + KEPT * 8);
        assert_eq!(stash.take("acme"), []);
    }
}
