//! Tunnels: requests that come in through a relay, a channel or a program are judged and stored like those that are
//! captured here.
//!
//! One process per data directory runs them, the one that delivers. It alone knows their live state. What has to
//! outlive the process (gaps, until when a tunnel was connected) is in the inbox, and keys are in a vault of their own.

mod addressee;
mod announce;
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
mod public;
mod register;
mod run;
mod running;
mod view;

pub use addressee::UNASSIGNED;
pub use announce::Announced;
pub use devices::{DeviceView, RevokedDevice};
pub(crate) use letter::keep_doubts;
pub use listed::Tunnels;
pub use order::{Invitation, Removed, TunnelChange, TunnelRequest};
pub use public::PublicRequest;
pub(crate) use register::Register;
pub(crate) use run::Runner;
pub use view::{Backlog, GapView, RefusedCount, Trouble, TunnelState, TunnelView};
