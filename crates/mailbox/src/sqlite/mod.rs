//! Mailboxes in one SQLite file: what `hookmitt relay` uses unless it is told otherwise.
//!
//! One thread writes, and what waits together shares one sync to the disk (`writer.rs`). It knows of each mailbox where
//! it begins and ends (`boxes.rs`), so that nothing is counted by query. Readers read beside it.

mod boxes;
mod clear;
mod clock;
mod devices;
mod feed;
mod held;
mod letters;
mod offers;
mod put_times;
mod refusals;
mod schema;
mod store;
mod sweep;
mod tokens;
mod trouble;
mod tunnel_cache;
mod tunnels;
mod usage;
mod writer;

pub use feed::SqliteFeed;
pub use held::SqliteHeld;
pub use store::{Alone, SqliteMailbox};
