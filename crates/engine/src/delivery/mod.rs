//! Sends what waits: one process at a time, one courier for each target.

mod attempt;
mod courier;
mod couriers;
mod ownership;

pub(crate) use couriers::Couriers;
pub(crate) use ownership::Ownership;
