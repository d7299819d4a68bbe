//! Tunnels: what comes in through a relay, a channel or a program is judged and stored like what is caught here.
//!
//! One process per data directory runs them, the one that delivers. What a tunnel is doing is known there; what has
//! to outlive it (gaps, until when it was connected) is in the inbox, its keys are in a vault of their own.

mod addressee;
mod detours;
mod devices;
mod keys;
mod kind;
mod letter;
mod listed;
mod live_state;
mod mail;
mod minder;

mod offers;
mod order;
mod register;
mod run;
mod running;
mod view;

pub use addressee::UNASSIGNED;
pub use devices::{DeviceView, RevokedDevice};
pub use listed::Tunnels;
pub use order::{Invitation, Removed, TunnelChange, TunnelRequest};
pub(crate) use register::Register;
pub(crate) use run::Runner;
pub use view::{Backlog, GapView, RefusedCount, Trouble, TunnelState, TunnelView};
