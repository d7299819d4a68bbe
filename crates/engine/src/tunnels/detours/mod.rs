//! Ways in for people without a relay: a channel that is listened to, a program that opens a public URL. Neither keeps
//! anything: what is sent while nobody is connected is lost, and nobody knows what it was.

mod channel;
mod door;
mod lines;
mod order;
mod program;

pub(super) use channel::listen;
pub(super) use order::{add_channel, add_program};
pub(super) use program::lead;
