//! Sends what waits: one process at a time, one courier for each target.

mod attempt;
mod bell;
mod courier;
mod couriers;
mod ownership;
mod patience;
mod unwritten;

pub(crate) use couriers::Couriers;
pub(crate) use ownership::Ownership;
pub use ownership::owner;
