//! The place of the index, which is opened again by each process that begins to deliver.

use std::{
    path::Path,
    sync::{PoisonError, RwLock},
};

use hookmitt_index::{Index, IndexError};

/// The index. As long as it can't be read, searches look through all events.
pub(crate) struct IndexSlot(RwLock<Index>);

impl IndexSlot {
    /// Looks into the index of an inbox, which another process may write.
    pub(crate) fn look(data_dir: &Path, inbox: &str) -> Self {
        Self(RwLock::new(Index::look(data_dir, inbox)))
    }

    /// Opens the index again, as its only writer, and returns it.
    pub(crate) fn reopen(&self, data_dir: &Path, inbox: &str) -> Result<Index, IndexError> {
        let index = Index::open(data_dir, inbox)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = index.clone();
        Ok(index)
    }

    /// Returns the index.
    pub(crate) fn get(&self) -> Index {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for IndexSlot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("IndexSlot").finish_non_exhaustive()
    }
}
