//! Tunnels without a relay: a channel that is listened to, or a program that opens a public URL. Neither stores
//! anything: requests that are sent while nobody is connected are lost, and nobody knows which they were.

mod channel;
mod door;
mod lines;
mod order;
mod program;

pub(super) use channel::listen;
pub(super) use order::{add_channel, add_program};
pub(super) use program::lead;
