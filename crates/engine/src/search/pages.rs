//! Pages of a list, and how many events it has.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use hookmitt_inbox::{Filter, Page, Part};

use super::Search;
use crate::EngineError;

/// How long a page may take before it is handed out as it is. Whoever asked goes on with the next one, so that a long
/// search shows what it finds, tells how far it is, and ends when nobody asks any more.
const PATIENCE: Duration = Duration::from_millis(150);

/// How long events are counted.
const COUNTING: Duration = Duration::from_millis(200);

impl Search {
    /// Returns a page of at most `limit` events, newest first, whose sequence numbers are below `cursor`. If the search
    /// takes long, the page ends before it is full and says how far it came.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn page(&self, filter: Filter, cursor: Option<i64>, limit: usize) -> Result<Page, EngineError> {
        if filter.query.is_empty() {
            return Ok(self.base.inbox.list(filter, cursor, limit).await?);
        }
        let end = self.base.inbox.last_seq().await?.saturating_add(1);
        let below = cursor.unwrap_or(end).min(end);
        let lowest = filter.after.unwrap_or(0).max(0).saturating_add(1);
        let patience = Instant::now() + PATIENCE;
        let Part { mut items, reached } =
            self.look(&filter, lowest..below, limit + 1, Some(patience)).await?;
        if items.len() > limit {
            items.truncate(limit);
            let next = items.last().map(|listed| listed.event.seq);
            return Ok(Page { items, next, searched_to: None });
        }
        let further = (reached > lowest).then_some(reached);
        Ok(Page { items, next: further, searched_to: further })
    }

    /// Counts the events of a list for a short time. Returns the number, and whether all were counted.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn count(&self, filter: Filter) -> Result<(u64, bool), EngineError> {
        let filter = Filter { glance: false, ..filter };
        let below = self.base.inbox.last_seq().await?.saturating_add(1);
        let lowest = filter.after.unwrap_or(0).max(0).saturating_add(1);
        let patience = Instant::now() + COUNTING;
        let Part { items, reached } = self.look(&filter, lowest..below, usize::MAX, Some(patience)).await?;
        Ok((items.len() as u64, reached <= lowest))
    }

    /// Looks for events with these numbers, newest first, until `wanted` are found or the time has come.
    async fn look(
        &self,
        filter: &Filter,
        range: Range<i64>,
        wanted: usize,
        end: Option<Instant>,
    ) -> Result<Part, EngineError> {
        Ok(self.base.inbox.scan(filter.clone(), range, wanted, end).await?)
    }
}
