//! Mailboxes in one SQLite file: the default store of `hookmitt relay`.
//!
//! One thread writes, and jobs that wait together share one sync to the disk (`writer.rs`). The writer knows where each
//! mailbox begins and ends (`boxes.rs`), so nothing is counted by query. Other connections read at the same time.

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
