//! Jobs: what takes long and was asked for.
//!
//! A job is stored before it begins ([`Jobs`]), runs in the process that delivers (`runner`), and goes in steps, each of
//! which is stored together with how far the job is. So it can be cancelled from any process, and goes on after a
//! restart, once somebody resumes it, without repeating or skipping anything.

mod asked;
mod backup;
mod delete;
mod empty;
mod gone;
mod kind;
mod list;
mod parts;
mod prune;
mod restore;
mod retry;
mod run;
mod runner;
mod sync;
#[cfg(test)]
mod tests;
mod walk;

pub use asked::{BackupAsked, Which};
pub use kind::JobKind;
pub use list::Jobs;
