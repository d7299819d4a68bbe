//! Sends events again: stored events as they were or edited, deliveries that failed, and samples that are signed here.

mod edit;
mod replays;
mod resign;
mod retry;
mod sample;
mod withheld;

pub use edit::Edit;
pub use replays::{AttemptLine, Replay, Replayed, Replays, StoppedCount};
pub use retry::{NotRetried, Retried, Retries};
pub use sample::{SampleRequest, Samples, Sent};
pub use withheld::{WithheldHost, WithheldHosts};
