//! Goes through the events that a job is about, each of them once.
//!
//! A search goes from the newest event that there was when the job was asked for to the oldest. So events that come
//! later are left alone, and it doesn't matter that the job changes what the search finds.

use std::sync::Arc;

use hookmitt_event::{EventId, Timestamp};
use hookmitt_inbox::{Act, Filter, Stepped};
use hookmitt_search::{Mark, Test};

use super::{
    asked::{Which, cleared, found_by},
    run::Run,
};
use crate::EngineError;

/// How many events are read at a time.
const PAGE: usize = 200;

/// How many events are read at a time while they are counted.
const COUNTED: usize = 1_000;

/// A walk through the events of a job.
pub(super) struct Walk<'w> {
    over: Over<'w>,
    /// Events that were read and are not yet done, each with the job's position after it.
    ahead: Arc<[(i64, EventId)]>,
    counted: bool,
}

enum Over<'w> {
    Named(&'w [EventId]),
    Found(Filter),
    /// What this job put into the bin.
    BinnedBy(i64),
    KeptBy(i64),
}

impl<'w> Walk<'w> {
    /// Begins a walk. Times in a search are as of `asked`, when the job was asked for.
    pub(super) fn over(which: &'w Which, asked: Timestamp) -> Result<Self, EngineError> {
        let over = match which {
            Which::Events(ids) => Over::Named(ids),
            Which::Search(typed) => Over::Found(found_by(typed, asked)?),
            Which::Clear { source, until } => Over::Found(cleared(source.as_ref(), *until)),
            Which::DeletedBy { job } => Over::BinnedBy(*job),
            Which::Synced { report } => Over::KeptBy(*report),
        };
        Ok(Self { over, ahead: Arc::default(), counted: false })
    }

    /// Finds only what is in the bin.
    pub(super) fn in_bin(mut self) -> Self {
        if let Over::Found(filter) = &mut self.over {
            filter.query.and(Test::Is(Mark::Deleted));
        }
        self
    }

    /// Does something to the next few events. Returns `None` once all are done.
    ///
    /// # Errors
    /// Fails if the job was ended from outside, or if the inbox fails.
    pub(super) async fn step(&mut self, run: &mut Run, act: Act) -> Result<Option<Stepped>, EngineError> {
        if !self.counted {
            self.count(run).await?;
            self.counted = true;
        }
        if self.ahead.is_empty() {
            self.ahead = self.page(run).await?;
        }
        if self.ahead.is_empty() {
            return Ok(None);
        }
        let stepped = run.step(act, Arc::clone(&self.ahead)).await?;
        run.job.position = Some(self.ahead[stepped.done - 1].0);
        self.ahead = Arc::from(&self.ahead[stepped.done..]);
        Ok(Some(stepped))
    }

    /// Counts the events, unless that is known from an earlier run.
    async fn count(&self, run: &mut Run) -> Result<(), EngineError> {
        if run.job.total.is_some() {
            return Ok(());
        }
        let total = match &self.over {
            Over::Named(ids) => ids.len() as u64,
            Over::Found(filter) => count(filter, run).await?,
            Over::BinnedBy(job) => run.parts.base.inbox.count_binned_by(*job).await?,
            Over::KeptBy(report) => run.parts.base.inbox.report(*report).await?.kept,
        };
        run.set_total(total).await
    }

    async fn page(&self, run: &Run) -> Result<Arc<[(i64, EventId)]>, EngineError> {
        let position = run.job.position;
        match &self.over {
            Over::Named(ids) => {
                let begun = position.and_then(|done| usize::try_from(done).ok()).unwrap_or(0);
                let rest = (1..).zip(*ids).skip(begun).take(PAGE);
                Ok(rest.map(|(after, id)| (after, *id)).collect())
            }
            Over::BinnedBy(job) => {
                let below = position.unwrap_or(i64::MAX);
                Ok(run.parts.base.inbox.binned_by(*job, below, PAGE).await?.into())
            }
            Over::KeptBy(report) => {
                let after = position.unwrap_or(0);
                Ok(run.parts.base.inbox.kept_by_sync(*report, after, PAGE).await?.into())
            }
            Over::Found(filter) => {
                let mut below = Some(position.unwrap_or(run.job.top.saturating_add(1)));
                let mut items = Vec::new();
                while items.is_empty() && below.is_some() {
                    // A page of a long search may be empty although more is found further down.
                    let page = run.unless_ended(run.parts.search.page(filter.clone(), below, PAGE)).await?;
                    (items, below) = (page.items, page.next);
                }
                Ok(items.iter().map(|listed| (listed.event.seq, listed.event.id)).collect())
            }
        }
    }
}

async fn count(filter: &Filter, run: &Run) -> Result<u64, EngineError> {
    let (mut total, mut below) = (0, Some(run.job.top.saturating_add(1)));
    while below.is_some() {
        let page = run.unless_ended(run.parts.search.page(filter.clone(), below, COUNTED)).await?;
        total += page.items.len() as u64;
        below = page.next;
    }
    Ok(total)
}
