//! What syncs work with, and that a source is never synced twice at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use hookmitt_event::Slug;
use hookmitt_keys::Network;

use super::api_keys::ApiKeys;
use crate::{EngineError, base::Base, capture::Capture, settings::Settings};

/// What syncs work with.
#[derive(Debug)]
pub(crate) struct Syncing {
    pub(super) settings: Arc<Settings>,
    pub(super) capture: Arc<Capture>,
    pub(super) keys: ApiKeys,
    pub(super) network: Network,
    /// A lock for each source that is or was synced, so that it is never synced twice at once.
    alone: Mutex<HashMap<i64, Arc<tokio::sync::Mutex<()>>>>,
}

impl Syncing {
    pub(crate) fn new(
        settings: Arc<Settings>,
        capture: Arc<Capture>,
        keys: ApiKeys,
        network: Network,
    ) -> Self {
        Self { settings, capture, keys, network, alone: Mutex::default() }
    }

    /// Waits until no other sync of the source runs, and returns what keeps others waiting.
    pub(crate) async fn alone(&self, slug: &Slug) -> Result<tokio::sync::OwnedMutexGuard<()>, EngineError> {
        let row = self.settings.source(slug)?.source.row;
        let lock = {
            let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(alone.entry(row).or_default())
        };
        Ok(lock.lock_owned().await)
    }

    pub(super) fn base(&self) -> &Arc<Base> {
        &self.settings.base
    }
}
