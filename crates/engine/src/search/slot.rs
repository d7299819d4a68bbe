//! The place of the index, which is opened again by each process that begins to deliver.

use std::{
    path::Path,
    sync::{PoisonError, RwLock},
};

use hookmitt_index::{Index, IndexError};

/// The index, if it could be opened. Without one, searches look through all events.
pub(crate) struct IndexSlot(RwLock<Option<Index>>);

impl IndexSlot {
    /// Opens the index of an inbox. A failure is logged.
    pub(crate) fn open(data_dir: &Path, inbox: &str) -> Self {
        let opened = Index::open(data_dir, inbox).inspect_err(|error| {
            tracing::warn!(%error, "searches look through all events, because the index can't be opened");
        });
        Self(RwLock::new(opened.ok()))
    }

    /// Opens the index again, as its only writer, and returns it.
    pub(crate) fn reopen(&self, data_dir: &Path, inbox: &str) -> Result<Index, IndexError> {
        let index = Index::open(data_dir, inbox)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(index.clone());
        Ok(index)
    }

    /// Returns the index.
    pub(crate) fn get(&self) -> Option<Index> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for IndexSlot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("IndexSlot").finish_non_exhaustive()
    }
}
