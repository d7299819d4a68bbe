//! Finds events.

use std::sync::Arc;

use hookmitt_inbox::{Filter, Page};

use crate::{EngineError, base::Base};

/// Searches the inbox.
#[derive(Clone, Debug)]
pub struct Search {
    base: Arc<Base>,
}

impl Search {
    pub(crate) const fn new(base: Arc<Base>) -> Self {
        Self { base }
    }

    /// Returns a page of at most `limit` events, newest first, whose sequence numbers are below `cursor`.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn page(&self, filter: Filter, cursor: Option<i64>, limit: usize) -> Result<Page, EngineError> {
        Ok(self.base.inbox.list(filter, cursor, limit).await?)
    }
}
