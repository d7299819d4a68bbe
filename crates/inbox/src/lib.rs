//! The SQLite inbox: stores events durably, lists them, and claims deliveries.
//!
//! One thread writes, in groups of jobs that share one commit and so one sync to the disk; readers run beside it. A
//! call that changes something returns only after the commit that holds its change.

mod batch;
mod bin;
#[cfg(test)]
mod bin_tests;
mod claims;
mod clock;
mod cut_off;
mod deliveries;
#[cfg(test)]
mod emptiness_tests;
mod error;
mod events;
mod filter;
mod finish;
mod first_key;
mod fold;
mod found_provider;
mod gaps;
mod give_up;
mod glance;
mod indexing;
mod letters;
mod list;
#[cfg(test)]
mod list_tests;
mod matching;
mod nearby;
mod new_event;
mod now;
mod order_key;
mod others;
mod owner;
#[cfg(test)]
mod queue_story;
#[cfg(test)]
mod queue_tests;
mod reasons;
#[cfg(test)]
mod recount;
mod rejudge;
mod release;
#[cfg(test)]
mod release_tests;
mod resolve;
mod retry;
mod routes;
mod routing;
mod row;
mod rows;
#[cfg(test)]
mod samples;
mod schema;
mod sources;
mod stats;
mod stop;
mod store;
mod tally;
mod target_states;
mod targets;
mod tunnels;
mod unproved_keys;
mod view;
mod withheld;
mod writer;
#[cfg(test)]
mod writer_tests;

pub use claims::{Claimed, Claiming, Next};
pub use error::InboxError;
pub use events::Shown;
pub use filter::Filter;
pub use finish::{Finish, Finished};
pub use first_key::{KeyTerms, SingleUse};
pub use gaps::{Gap, GapPage};
pub use glance::{EventRef, Listed};
pub use indexing::{ChangeNote, Indexable, Unindexed};
pub use letters::Sequence;
pub use list::Page;
pub use matching::Part;
pub use new_event::{NewEvent, PlannedAnswer, Route, Stored};
pub use owner::FormerOwner;
pub use reasons::{AWAITS, REJECTED, STOPPED};
pub use rejudge::Rejudged;
pub use release::HeldBack;
pub use sources::{AUTO_SOURCES, SourceSettings};
pub use stats::{SourceCount, Stats, ViewCounts};
pub use stop::Stopped;
pub use targets::TargetSettings;
pub use tunnels::{KeptTunnel, NewTunnel, Told};
pub use unproved_keys::Unsettled;
pub use view::View;
pub use writer::Inbox;
