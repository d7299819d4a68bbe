//! A cache of tunnels, because every request looks one up.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::Tunnel;

/// How often to check whether another process changed something, for example with `hookmitt relay token revoke`.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How many tunnels are cached. When the cache is full, all of it is cleared.
const MOST: usize = 10_000;

/// How long the cache remembers that there is no such tunnel, and how many such names it remembers.
const NONE_FOR: Duration = Duration::from_secs(1);
const MOST_NONE: usize = 10_000;

/// The cache; it may be used from any thread.
#[derive(Debug)]
pub(super) struct TunnelCache(Mutex<Memory>);

#[derive(Debug)]
struct Memory {
    tunnels: HashMap<String, Arc<Tunnel>>,
    /// Names that no tunnel has, so that guessing names costs one query for each name and not one for each request.
    none: HashSet<String>,
    none_since: Instant,
    /// The file's count of changes as of the last check, or -1 before the first one.
    config: i64,
    looked_at: Instant,
    /// Counts how often something was removed, so that an answer read before a removal is not cached after it.
    forgotten: u64,
}

/// The cache's answer to a lookup.
pub(super) enum Asked {
    /// The tunnel is cached.
    Tunnel(Arc<Tunnel>),
    /// The cache knows that there is no such tunnel.
    None,
    /// The caller must read the tunnel, and pass the result to [`TunnelCache::learn`] or [`TunnelCache::learn_none`]
    /// with this number.
    Read(u64),
    /// The caller must first read the file's count of changes and pass it to [`TunnelCache::compare`].
    Compare,
}

impl TunnelCache {
    pub(super) fn new() -> Self {
        let tunnels = HashMap::new();
        let (none, now) = (HashSet::new(), Instant::now());
        Self(Mutex::new(Memory { tunnels, none, none_since: now, config: -1, looked_at: now, forgotten: 0 }))
    }

    /// Looks a tunnel up.
    pub(super) fn ask(&self, name: &str) -> Asked {
        let mut memory = self.memory();
        if memory.config < 0 || memory.looked_at.elapsed() >= LOOK_EVERY {
            memory.looked_at = Instant::now(); // so that concurrent callers need not check, too
            return Asked::Compare;
        }
        if let Some(tunnel) = memory.tunnels.get(name) {
            return Asked::Tunnel(Arc::clone(tunnel));
        }
        if memory.has_none(name) { Asked::None } else { Asked::Read(memory.forgotten) }
    }

    /// Clears the cache if the file's count of changes, just read, has changed.
    pub(super) fn compare(&self, config: i64) {
        let mut memory = self.memory();
        if memory.config != config {
            memory.config = config;
            memory.forget_all();
        }
    }

    /// Caches a tunnel that was read after [`Asked::Read`].
    pub(super) fn learn(&self, since: u64, tunnel: &Arc<Tunnel>) {
        let mut memory = self.memory();
        if memory.forgotten != since {
            return;
        }
        if memory.tunnels.len() >= MOST {
            memory.forget_all();
        }
        memory.tunnels.insert(tunnel.name.clone(), Arc::clone(tunnel));
    }

    /// Remembers that there is no such tunnel, as was read after [`Asked::Read`].
    pub(super) fn learn_none(&self, since: u64, name: &str) {
        let mut memory = self.memory();
        if memory.forgotten == since && memory.none.len() < MOST_NONE {
            memory.none.insert(name.to_owned());
        }
    }

    /// Removes the tunnels that a commit of this process changed.
    pub(super) fn forget(&self, changed: &[String]) {
        if changed.is_empty() {
            return;
        }
        let mut memory = self.memory();
        memory.forgotten += 1;
        for name in changed {
            memory.tunnels.remove(name);
            memory.none.remove(name);
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn forget_all(&mut self) {
        self.tunnels.clear();
        self.none.clear();
        self.forgotten += 1;
    }

    fn has_none(&mut self, name: &str) -> bool {
        if self.none_since.elapsed() >= NONE_FOR {
            self.none.clear();
            self.none_since = Instant::now();
        }
        self.none.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(cache: &TunnelCache, name: &str) -> bool {
        matches!(cache.ask(name), Asked::None)
    }

    #[test]
    fn a_name_that_nobody_has_is_looked_for_once_and_is_somebody_s_as_soon_as_it_is_taken() {
        let cache = TunnelCache::new();
        cache.compare(1);
        let Asked::Read(since) = cache.ask("acme") else { panic!("nothing is known yet") };
        cache.learn_none(since, "acme");
        assert!(none(&cache, "acme") && !none(&cache, "other"));
        cache.forget(&["acme".to_owned()]);
        assert!(!none(&cache, "acme"), "it was taken here");
        cache.learn_none(since, "acme");
        assert!(!none(&cache, "acme"), "what was read before counts no more");

        let Asked::Read(since) = cache.ask("acme") else { panic!("it has to be read") };
        cache.learn_none(since, "acme");
        cache.compare(2);
        assert!(!none(&cache, "acme"), "another process changed something");
    }

    #[test]
    fn a_flood_of_names_takes_no_more_room_than_so_many() {
        let cache = TunnelCache::new();
        cache.compare(1);
        (0..2 * MOST_NONE).for_each(|number| cache.learn_none(1, &number.to_string()));
        assert_eq!(cache.memory().none.len(), MOST_NONE);
    }
}
