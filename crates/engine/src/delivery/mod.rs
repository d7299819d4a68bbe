//! Sends what waits: in one process at a time, with one courier for each target.

mod attempt;
mod bells;
mod courier;
mod couriers;
mod owner_lock;
mod ownership;
mod patience;
mod round;
mod sending;
mod unwritten;

pub(crate) use bells::Bells;
pub(crate) use owner_lock::OwnerLock;
pub(crate) use owner_lock::is_alive;
pub use owner_lock::owner;
pub(crate) use ownership::Delivery;
pub(crate) use sending::Sending;
