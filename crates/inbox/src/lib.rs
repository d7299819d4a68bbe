//! The SQLite inbox: stores durably, lists, claims.
//!
//! One thread writes, in groups that share one commit and so one sync to the disk; readers stand beside it. A call
//! that changes something answers only after the commit that holds its change.

mod arrival;
mod claims;
mod clock;
mod cut_off;
mod deliveries;
mod error;
mod events;
mod finish;
mod first_key;
mod found_provider;
mod gaps;
mod give_up;
mod glance;
mod letters;
mod list;
#[cfg(test)]
mod list_tests;
mod nearby;
mod order_key;
mod others;
mod owner;
#[cfg(test)]
mod queue_tests;
#[cfg(test)]
mod recount;
mod rejudge;
mod release;
#[cfg(test)]
mod release_tests;
mod resolve;
mod retry;
mod routing;
mod rows;
#[cfg(test)]
mod samples;
mod schema;
mod single_use;
mod sources;
mod stats;
mod tally;
mod targets;
mod tunnels;
mod unproved_keys;
mod view;
mod withheld;
mod writer;
#[cfg(test)]
mod writer_tests;

pub use arrival::{Arrival, Stored};
pub use claims::{Claimed, Next};
pub use error::InboxError;
pub use events::Shown;
pub use finish::Finish;
pub use first_key::KeyClaim;
pub use gaps::{Gap, GapPage};
pub use glance::Place;
pub use letters::Order;
pub use list::{Filter, Listed, Page};
pub use owner::FormerOwner;
pub use rejudge::Rejudged;
pub use release::{AWAITS, HeldBack};
pub use retry::REJECTED;
pub use routing::Route;
pub use single_use::SingleUse;
pub use sources::{AUTO_SOURCES, SourceSettings};
pub use stats::{SourceCount, Stats, ViewCounts};
pub use targets::TargetSettings;
pub use tunnels::{KeptTunnel, NewTunnel, Told};
pub use unproved_keys::Unsettled;
pub use view::View;
pub use writer::Inbox;
