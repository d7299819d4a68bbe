//! A clock for tests.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hookmitt_event::Timestamp;

use crate::Clock;

/// A clock for tests. It stands still until the test moves it. Clones share it.
#[derive(Clone, Debug)]
pub struct HandClock(Arc<Mutex<Hands>>);

#[derive(Clone, Copy, Debug)]
struct Hands {
    wall: Timestamp,
    uptime: Duration,
}

impl HandClock {
    /// Makes a clock whose wall clock shows `wall`, on a machine that has just started.
    pub fn at(wall: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(Hands { wall, uptime: Duration::ZERO })))
    }

    /// Lets time pass: moves the wall clock and the uptime forward by `span`.
    pub fn pass(&self, span: Duration) {
        let mut hands = self.hands();
        hands.wall = hands.wall.after(span);
        hands.uptime = hands.uptime.saturating_add(span);
    }

    /// Steps only the wall clock by this many microseconds, forward or back. No time passes.
    pub fn step(&self, micros: i64) {
        let mut hands = self.hands();
        hands.wall = Timestamp::from_micros(hands.wall.as_micros().saturating_add(micros));
    }

    /// Sets only the wall clock. No time passes.
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
