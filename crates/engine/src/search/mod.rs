//! Finds events.

mod asked;
mod entry;
mod pages;
mod saved;
mod slot;
mod words;

use std::{collections::HashSet, sync::Arc};

use hookmitt_inbox::Filter;
use hookmitt_index::{IndexError, State};

use crate::{EngineError, base::Base};

pub(crate) use entry::entry;
pub(crate) use slot::IndexSlot;

/// Searches the inbox.
#[derive(Clone, Debug)]
pub struct Search {
    base: Arc<Base>,
    index: Arc<IndexSlot>,
}

impl Search {
    pub(crate) const fn new(base: Arc<Base>, index: Arc<IndexSlot>) -> Self {
        Self { base, index }
    }

    /// Returns how much the index holds; `None` if it can't be read.
    pub(crate) async fn index_state(&self) -> Option<State> {
        self.index.get().state().await.ok()
    }

    /// Returns what is damaged in the index; `None` if it is whole, or is not there yet.
    pub(crate) async fn index_damage(&self) -> Option<IndexError> {
        self.index.get().state().await.err().filter(|error| matches!(error, IndexError::Damaged(_)))
    }

    /// Returns those of these numbers whose events are in a list now.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn listed(&self, filter: &Filter, mut seqs: Vec<i64>) -> Result<HashSet<i64>, EngineError> {
        seqs.sort_unstable_by(|one, other| other.cmp(one));
        let filter = Filter { glance: false, ..filter.clone() };
        let part = self.base.inbox.among(&filter, &seqs, usize::MAX, None).await?;
        Ok(part.items.iter().map(|listed| listed.event.seq).collect())
    }

    /// Returns an answer of the index's, if it is the index of what is in the inbox now. Who writes the index is told of
    /// damage.
    async fn trusted<T>(
        &self,
        answer: Result<T, IndexError>,
        step: impl Fn(&T) -> Option<i64>,
    ) -> Result<Option<T>, EngineError> {
        let inbox = &self.base.inbox;
        match answer {
            Ok(answer) => Ok(inbox.knows_index(step(&answer)).await?.then_some(answer)),
            Err(error) => {
                tracing::warn!(%error, "the search index can't be read");
                if let IndexError::Damaged(_) = error
                    && let Err(error) = inbox.forget_index().await
                {
                    tracing::warn!(%error, "the search index can't be made anew yet");
                }
                Ok(None)
            }
        }
    }
}
