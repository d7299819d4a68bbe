//! The search index of an inbox: a SQLite file beside it that can be thrown away and made anew at any time.
//!
//! Events are kept in chunks of 8,192 consecutive sequence numbers. For each chunk there is one small blob for each of
//! an event's facts, and for each three bytes of its texts a list of the events that have them, so a query is answered
//! chunk by chunk with a few operations on bit sets. A long text has a finer sieve, too. The index knows nothing of the
//! inbox: it is given [entries](Entry), and its answers are candidates that the caller verifies.

#[cfg(test)]
mod agrees_tests;
mod bits;
mod chunk;
mod column;
mod entry;
mod error;
mod evaluate;
mod grams;
mod index;
#[cfg(test)]
mod life_tests;
mod lookup;
#[cfg(test)]
mod place_tests;
mod plan;
mod postings;
mod rows;
mod runs;
mod schema;
mod search;
mod sieve;
mod state;
mod syncs;
mod tidy;
mod words;
mod write;

pub use entry::{Entry, Marks, Step};
pub use error::IndexError;
pub use index::Index;
pub use search::{Candidates, Count};
pub use state::State;
