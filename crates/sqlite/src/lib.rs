//! What the inbox and the relay's store have in common: one private SQLite file, a writer whose commits are synced,
//! a few readers beside it, and a write-ahead log that stays small. What is in the file is theirs.

mod file;
mod log;
mod readers;

pub use file::{PrepareError, prepare, reader, take, writer};
pub use log::{LOG_LIMIT, Pressure};
pub use readers::{Closed, Readers};
