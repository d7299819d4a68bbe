//! What time it is, and how much time has passed: two questions, because wall clocks are set, stepped and sometimes absent.
//!
//! Whoever needs the time is handed a [`Clock`]: the [`MachineClock`] in the product, a [`HandClock`] in tests. A store
//! ages what it keeps by a [`StoreClock`], which no step of the wall clock moves.

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
    /// The time of day, by the wall clock. It may be wrong, and may be set forward or back at any moment.
    fn now(&self) -> Timestamp;

    /// The time that has passed since some fixed moment, such as the machine's start. It goes on while the machine is
    /// suspended, and never goes back.
    fn uptime(&self) -> Duration;
}
