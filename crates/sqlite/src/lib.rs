//! What the inbox and the relay's store have in common: one private SQLite file, one writer whose groups of jobs share a
//! synced commit, a few readers beside it, and a write-ahead log that stays small. What is in the file is theirs.

mod file;
mod job;
mod log;
mod readers;
mod refusal;
mod room;
mod writer;

pub use file::{PrepareError, durable, prepare, reader, take};
pub use job::{Job, Jobs, Unwritten, task};
pub use log::LOG_LIMIT;
pub use readers::{Closed, Readers};
pub use refusal::{Refusal, refusal};
pub use writer::{State, Upkeep, Writer};
