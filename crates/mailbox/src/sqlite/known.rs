//! Tunnels as requests ask for them, remembered.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::Tunnel;

/// How often we look whether another process changed something (`hookmitt relay token revoke`, say).
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How many are remembered; beyond, all are forgotten and asked for anew.
const MOST: usize = 10_000;

/// What is remembered of tunnels.
#[derive(Debug)]
pub(super) struct Known(Mutex<Memory>);

#[derive(Debug)]
struct Memory {
    tunnels: HashMap<String, Arc<Tunnel>>,
    /// The file's count of changes, as far as we know.
    config: i64,
    looked_at: Instant,
    /// Counts what was forgotten: what was read before must not be remembered after.
    forgotten: u64,
}

/// What to do about a question.
pub(super) enum Asked {
    /// The answer is known.
    Tunnel(Arc<Tunnel>),
    /// It has to be read, and told with [`Known::learn`] and this number.
    Read(u64),
    /// First the file's count of changes has to be read, and told with [`Known::compare`].
    Compare,
}

impl Known {
    pub(super) fn new() -> Self {
        let tunnels = HashMap::new();
        Self(Mutex::new(Memory { tunnels, config: -1, looked_at: Instant::now(), forgotten: 0 }))
    }

    /// Asks for a tunnel.
    pub(super) fn ask(&self, name: &str) -> Asked {
        let mut memory = self.memory();
        if memory.config < 0 || memory.looked_at.elapsed() >= LOOK_EVERY {
            memory.looked_at = Instant::now(); // whoever asks meanwhile need not look, too
            return Asked::Compare;
        }
        match memory.tunnels.get(name) {
            Some(tunnel) => Asked::Tunnel(Arc::clone(tunnel)),
            None => Asked::Read(memory.forgotten),
        }
    }

    /// The file's count of changes, just read.
    pub(super) fn compare(&self, config: i64) {
        let mut memory = self.memory();
        if memory.config != config {
            memory.config = config;
            memory.forget_all();
        }
    }

    /// A tunnel, as it was read after [`Asked::Read`].
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

    /// These were changed by this process, whose commit is done.
    pub(super) fn forget(&self, changed: &[String]) {
        if changed.is_empty() {
            return;
        }
        let mut memory = self.memory();
        memory.forgotten += 1;
        for name in changed {
            memory.tunnels.remove(name);
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn forget_all(&mut self) {
        self.tunnels.clear();
        self.forgotten += 1;
    }
}
