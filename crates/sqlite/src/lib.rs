//! What the inbox and the relay's store have in common: a private SQLite file, one writer that commits jobs in groups
//! with one sync each, a few readers beside it, and a write-ahead log that stays small. The schema is up to the two
//! stores.

mod background;
mod closed;
mod copying;
mod file;
mod gate;
mod job;
mod log;
#[cfg(test)]
mod plain;
mod readers;
mod refusal;
mod room;
mod state;
mod writer;

pub use background::{Background, give_way, pause};
pub use closed::Closed;
pub use copying::{CopyError, Copying, Progress};
pub use file::{
    FileId, LOG_LIMIT, PrepareError, beside, durable, make_private_folder, open_unlinked, prepare,
    private_file, reader, take, update,
};
pub use gate::{Gate, is_called_out};
pub use job::{Job, Jobs, task};
pub use readers::Readers;
pub use refusal::{Refusal, refusal};
pub use room::{Disk, Space, free_beside, space};
pub use state::{State, Unwritten, Upkeep};
pub use writer::Writer;
