//! The inbox's history in numbers, by the hour, which outlives the events.
//!
//! Every event is counted in the row of its hour, source, via, verdict and status. The row changes in the transaction
//! that changes the event, so the numbers never drift, and a reader never has to look at the events.

mod adding;
mod changes;
mod counted;
mod earlier;
mod history;
mod latencies;
mod leaving;
mod meter;
mod metered;
#[cfg(test)]
mod tests;
mod timed;

pub(crate) use changes::{Changes, prune, recount};
pub(crate) use counted::{Cell, Counted, hour_of};
pub use history::{By, Group, History, Period, Quantiles, Sums};
pub(crate) use latencies::Latencies;
pub use leaving::Leaving;
pub(crate) use meter::Happened;
pub use meter::{Meter, Times};
pub use metered::Captured;
pub(crate) use timed::Took;
