//! The clocks of the machine on which hookmitt runs.

use std::time::Duration;

use hookmitt_event::Timestamp;

use crate::Clock;

/// The machine's own clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineClock;

impl Clock for MachineClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn uptime(&self) -> Duration {
        uptime()
    }
}

/// Returns the uptime from the system's clock, because std's `Instant` stands still while Linux or macOS sleeps.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn uptime() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    #[cfg(target_os = "linux")]
    let id = ClockId::Boottime;
    #[cfg(target_os = "macos")]
    let id = ClockId::Monotonic;
    Duration::try_from(clock_gettime(id)).unwrap_or_default() // fails only for a negative time
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn uptime() -> Duration {
    use std::{sync::LazyLock, time::Instant};
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_grows_while_we_wait_for_it() {
        let begun = MachineClock.uptime();
        while MachineClock.uptime() < begun + Duration::from_millis(2) {
            std::thread::yield_now();
        }
    }
}
