//! The SQLite inbox: stores events durably, lists them, and claims deliveries.
//!
//! One thread writes, in groups of jobs that share one commit and so one sync to the disk; readers run beside it. A
//! call that changes something returns only after the commit that holds its change.

mod acting;
mod aside;
mod audit;
#[cfg(test)]
mod audit_tests;
mod away;
mod backup;
mod batch;
mod bin;
#[cfg(test)]
mod bin_tests;
mod block;
mod claims;
mod clock;
mod content;
mod copied;
mod cut_off;
mod damage;
mod damaged_log;
#[cfg(test)]
mod damaged_log_tests;
mod deliveries;
mod dictionary;
mod emptier;
#[cfg(test)]
mod emptiness_tests;
mod error;
mod events;
mod failures;
mod filter;
mod finish;
mod first_key;
mod fold;
mod forget;
#[cfg(test)]
mod forget_tests;
mod form;
mod found_provider;
mod gaps;
mod give_up;
mod given;
mod glance;
mod hours;
mod indexing;
mod job_rows;
mod job_steps;
#[cfg(test)]
mod job_tests;
mod jobs;
mod lag;
mod letters;
mod list;
#[cfg(test)]
mod list_tests;
mod log_frames;
mod make_room;
mod marks;
mod matching;
mod nearby;
mod new_event;
mod now;
mod of_this_machine;
mod order_key;
mod others;
mod owner;
mod packing;
#[cfg(test)]
mod packing_gone_tests;
#[cfg(test)]
mod packing_story;
#[cfg(test)]
mod packing_tests;
#[cfg(test)]
mod packing_when_tests;
mod pages;
mod press;
mod prunable;
mod pruner;
#[cfg(test)]
mod pruner_tests;
mod purge;
#[cfg(test)]
mod purge_tests;
#[cfg(test)]
mod queue_story;
#[cfg(test)]
mod queue_tests;
#[cfg(test)]
mod random_story;
mod readable;
mod reasons;
mod reconciled;
#[cfg(test)]
mod recount;
mod recovered;
mod recovered_rows;
mod recovery;
#[cfg(test)]
mod recovery_rest_tests;
#[cfg(test)]
mod recovery_tests;
mod refusals;
mod rejudge;
mod release;
#[cfg(test)]
mod release_tests;
mod resolve;
mod restoring;
#[cfg(test)]
mod restoring_tests;
mod retention;
mod retry;
mod room;
mod routes;
mod routing;
mod row;
mod row_forms;
mod rows;
mod same_schema;
#[cfg(test)]
mod samples;
mod saved_searches;
mod schema;
mod settling;
mod sources;
mod stats;
mod stop;
mod store;
mod sweep;
mod sync_reports;
mod sync_store;
#[cfg(test)]
mod sync_tests;
mod tally;
mod target_states;
mod targets;
mod trash;
mod tunnels;
mod unproved_keys;
mod untouched;
mod usage;
mod view;
mod withheld;
mod writer;
#[cfg(test)]
mod writer_tests;
mod yielding;

pub use acting::acting;
pub use audit::{AuditFilter, AuditPage, Entry, Subject};
pub use backup::{BackupNote, Checked, Unwanted, finish_backup};
pub use claims::{Claimed, Claiming, Next};
pub use dictionary::Dictionary;
pub use emptier::{BinPart, Emptied, Emptier};
pub use error::InboxError;
pub use events::Shown;
pub use failures::Failure;
pub use filter::Filter;
pub use finish::{Finish, Finished};
pub use first_key::{KeyTerms, SingleUse};
pub use gaps::{Gap, GapPage};
pub use glance::{EventRef, Listed};
pub use hours::{By, Captured, Group, History, Leaving, Meter, Period, Quantiles, Sums, Times};
pub use indexing::{ChangeNote, Indexable, NOTES, Unindexed};
pub use job_rows::{Job, JobFailure, JobPage, NewJob};
pub use job_steps::{Act, Step, Stepped, WhyNot};
pub use lag::{Lag, Waiting};
pub use letters::Sequence;
pub use list::Page;
pub use marks::{Marks, TagCount};
pub use matching::Part;
pub use new_event::{NewEvent, PlannedAnswer, Route, Stored};
pub use owner::FormerOwner;
pub use packing::{Packer, Packing};
pub use prunable::{Prunable, WouldGo};
pub use pruner::{Pruned, Pruner};
pub use reasons::{AWAITS, REJECTED, STOPPED};
pub use reconciled::{Day, DayPart, ListedLine, ListedPage, ListedPlace};
pub use recovered::Recovered;
pub use refusals::{RefusalPage, Refused};
pub use rejudge::Rejudged;
pub use release::HeldBack;
pub use restoring::{Paused, Restoring};
pub use retention::RetentionChange;
pub use room::NoRoom;
pub use room::Why as WhyGoes;
pub use saved_searches::SavedSearch;
pub use schema::SCHEMA;
pub use sources::{AUTO_SOURCES, SourceSettings};
pub use stats::{CHECKED_FOR, SourceCount, Stats, ViewCounts};
pub use stop::Stopped;
pub use sync_reports::{KEPT_BY_SYNC, NewReport, ReportPage, SyncReport, Synced};
pub use sync_store::{Copied, Known, ListedItem, Outcome, object_hash};
pub use targets::TargetSettings;
pub use trash::{TrashPage, TrashPlace, Trashed};
pub use tunnels::{KeptTunnel, NewTunnel, Told};
pub use unproved_keys::Unsettled;
pub use view::View;
pub use writer::Inbox;
