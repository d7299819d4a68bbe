//! What jobs work with.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

use crate::{base::Base, keeping::Trash, replay::Retries, search::Search, sync::Syncing};

/// The parts of the engine that jobs use, and what they share.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) base: Arc<Base>,
    pub(super) search: Search,
    pub(super) trash: Trash,
    pub(super) retries: Retries,
    pub(super) syncing: Arc<Syncing>,
    /// Whether this process is the one that delivers, and so runs jobs.
    pub(super) owner: watch::Receiver<bool>,
    /// Notified when a job may wait.
    pub(super) news: Notify,
}
