//! Backup sync: lists what a provider has sent with the provider's own API, and adds what never came.
//!
//! [`Sync`] is what people ask; it asks for jobs, which run [`Syncing::run`]. That lists (`lister`), compares and adds
//! (`taking_in`), and writes a report. `schedule` asks by itself: every hour, and after a gap.

mod api_keys;
mod asked;
mod away;
mod begun;
mod error;
mod hurried;
mod lister;
mod patience;
mod people;
mod progress;
mod running;
mod schedule;
mod set_up;
mod syncing;
mod taking_in;
mod view;

pub(crate) use api_keys::ApiKeys;
pub use asked::{AskedBy as SyncAskedBy, SyncAsked};
pub use away::AwayView;
pub use error::SyncError;
pub use people::{Sync, SyncChange, SyncRequest};
pub(crate) use progress::Progress;
pub(crate) use syncing::Syncing;
pub use view::{ConnectorParam, ConnectorView, SyncView};
