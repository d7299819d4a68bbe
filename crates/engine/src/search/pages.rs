//! Pages of a list, and how many events it has.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use hookmitt_inbox::{Filter, Page, Part, View};
use hookmitt_index::{Candidates, Index};
use hookmitt_search::Query;

use super::{Search, asked::asked};
use crate::EngineError;

/// How long a page may take before it is handed out as it is. Whoever asked goes on with the next one, so that a long
/// search shows what it finds, tells how far it is, and ends when nobody asks any more.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long events are looked at in any case.
const LEAST: Duration = Duration::from_millis(50);

/// How long events are counted.
const COUNTING: Duration = Duration::from_millis(200);

/// How many changed events are looked at beside the candidates of the index, at once.
const CHANGES: u32 = 4_096;

/// How many candidates the index is asked for at once.
const FEW: usize = 256;
const MANY: usize = 4_096;

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
        let Part { mut items, reached } = self.look(&filter, lowest..below, limit + 1, patience).await?;
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
        if let Some(count) = self.counted(&filter, below, patience).await? {
            return Ok((count, true));
        }
        let Part { items, reached } = self.look(&filter, lowest..below, usize::MAX, patience).await?;
        Ok((items.len() as u64, reached <= lowest))
    }

    /// Counts by the index and the few events that are newer. `None` if that would not be exact.
    async fn counted(&self, filter: &Filter, below: i64, end: Instant) -> Result<Option<u64>, EngineError> {
        let inbox = &self.base.inbox;
        let is_said_by_a_query = !filter.fold && filter.after.is_none() && filter.view != Some(View::Waiting);
        if !is_said_by_a_query || !inbox.changed_below(below, 1).await?.is_empty() {
            return Ok(None);
        }
        let query = asked(inbox, filter).await?;
        let found = self.index.get().count(&query).await;
        let Some(found) = self.trusted(found, |found| found.step).await?.filter(|found| found.exact) else {
            return Ok(None);
        };
        let newest = found.done.saturating_add(1)..below;
        let Part { items, reached } = inbox.scan(filter.clone(), newest, usize::MAX, Some(end)).await?;
        Ok((reached <= found.done.saturating_add(1)).then_some(found.at_least + items.len() as u64))
    }

    /// Looks for events with these numbers, newest first, until `wanted` are found or the time has come.
    async fn look(
        &self,
        filter: &Filter,
        range: Range<i64>,
        wanted: usize,
        end: Instant,
    ) -> Result<Part, EngineError> {
        let inbox = &self.base.inbox;
        // The events of this view are few, and whether their targets answer is not in the index.
        let index = (filter.view != Some(View::Waiting)).then(|| self.index.get());
        let Some(index) = index else {
            return Ok(inbox.scan(filter.clone(), range, wanted, Some(end)).await?);
        };
        let query = asked(inbox, filter).await?;
        let mut all = Part { items: Vec::new(), reached: range.end };
        while all.reached > range.start && all.items.len() < wanted {
            let (left, rest) = (wanted - all.items.len(), range.start..all.reached);
            let part = match self.candidates(&index, &query, rest.clone(), left).await? {
                Some(found) if found.done + 1 >= rest.end => {
                    // Reading the index may have taken all the time; then some candidates are looked at all the same.
                    let end = end.max(Instant::now() + LEAST);
                    let Part { items, reached } = inbox.among(filter, &found.seqs, left, Some(end)).await?;
                    let all_seen = found.seqs.last().is_none_or(|last| *last == reached);
                    Part { items, reached: if all_seen { found.reached } else { reached } }
                }
                found => {
                    // The newest events may not be in the index yet.
                    let done = found.map_or(0, |found| found.done);
                    let newest = rest.start.max(done.saturating_add(1))..rest.end;
                    let end = end.max(Instant::now() + LEAST);
                    inbox.scan(filter.clone(), newest, left, Some(end)).await?
                }
            };
            all.items.extend(part.items);
            all.reached = part.reached;
            if Instant::now() >= end {
                break;
            }
        }
        Ok(all)
    }

    /// Returns the numbers of events that may be found, newest first. `None` if the index can't be read.
    async fn candidates(
        &self,
        index: &Index,
        query: &Query,
        range: Range<i64>,
        wanted: usize,
    ) -> Result<Option<Candidates>, EngineError> {
        // These are read before the index is: a note is removed only once the index has stored the change.
        let changed = self.base.inbox.changed_below(range.end, CHANGES).await?;
        let is_all = changed.len() < CHANGES as usize;
        let floor = changed.last().filter(|_| !is_all).map_or(range.start, |last| range.start.max(*last));
        let limit = wanted.saturating_mul(2).clamp(FEW, MANY);
        let found = index.candidates(query, floor..range.end, limit).await;
        let Some(mut found) = self.trusted(found, |found| found.step).await? else { return Ok(None) };
        found.seqs.extend(changed.into_iter().filter(|seq| *seq >= found.reached));
        found.seqs.sort_unstable_by(|one, other| other.cmp(one));
        found.seqs.dedup();
        Ok(Some(found))
    }
}
