//! A clock for tests.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hookmitt_event::Timestamp;

use crate::Clock;

/// A clock for tests: it stands still until it is set by hand. Clones share it.
#[derive(Clone, Debug)]
pub struct HandClock(Arc<Mutex<Hands>>);

#[derive(Clone, Copy, Debug)]
struct Hands {
    wall: Timestamp,
    uptime: Duration,
}

impl HandClock {
    /// A clock whose wall clock shows `wall`, on a machine that has just started.
    pub fn at(wall: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(Hands { wall, uptime: Duration::ZERO })))
    }

    /// Time passes: both clocks go on.
    pub fn pass(&self, span: Duration) {
        let mut hands = self.hands();
        hands.wall = hands.wall.after(span);
        hands.uptime = hands.uptime.saturating_add(span);
    }

    /// The wall clock alone is stepped by so many microseconds, forward or back: no time passes.
    pub fn step(&self, micros: i64) {
        let mut hands = self.hands();
        hands.wall = Timestamp::from_micros(hands.wall.as_micros().saturating_add(micros));
    }

    /// The wall clock alone is set: no time passes.
    pub fn set(&self, wall: Timestamp) {
        self.hands().wall = wall;
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        self.hands().wall
    }

    fn uptime(&self) -> Duration {
        self.hands().uptime
    }
}
