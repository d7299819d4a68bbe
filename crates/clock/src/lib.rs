//! Tells what time it is and how much time has passed. These are two questions, because a wall clock can be set,
//! stepped or absent.
//!
//! Code that needs the time is given a [`Clock`]: the [`MachineClock`] in the product, a [`HandClock`] in tests. A
//! store measures the age of its data with a [`StoreClock`], on which steps of the wall clock have no effect.

mod hand;
mod machine;
mod store;

use std::{fmt, time::Duration};

use hookmitt_event::Timestamp;

pub use hand::HandClock;
pub use machine::MachineClock;
pub use store::{Reading, StoreClock};

/// Tells the time of day, and how much time has passed.
pub trait Clock: Send + Sync + fmt::Debug + 'static {
    /// Returns the time of day by the wall clock. It may be wrong, and may be set forward or back at any moment.
    fn now(&self) -> Timestamp;

    /// Returns the time since some fixed moment, such as the machine's start. It includes the time while the machine is
    /// suspended, and never goes back.
    fn uptime(&self) -> Duration;
}
