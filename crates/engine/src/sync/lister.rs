//! Lists what a provider has sent in a time, page by page. What may pass is tried again; what leads nowhere is an error.

use std::{sync::Arc, time::Duration};

use hookmitt_clock::Clock;
use hookmitt_event::Timestamp;
use hookmitt_sync::{Answer, Asked, CallError, Item, Place, Reply, Values, Walk, Window};

use super::{SyncError, patience::Patience, set_up::SetUp};

/// The most items of one list.
const MOST: usize = 1_000_000;

/// How often a list is begun anew whose cursor isn't good any more.
const ANEW: u32 = 2;

/// How far the clocks of a provider and this machine may differ before that counts.
const SKEW: i64 = 60_000_000;

/// Lists items, newest or oldest first, as the provider does. An item may come more than once.
pub(super) struct Lister<'a> {
    set_up: &'a SetUp,
    /// By the provider's clock.
    window: Window,
    walk: Walk,
    patience: &'a Patience,
    anew: u32,
    listed: usize,
    is_over: bool,
    /// How much later it is there than here, once an answer has told.
    skew: Option<i64>,
    clock: Arc<dyn Clock>,
}

impl<'a> Lister<'a> {
    /// Begins a list of what was sent in a time by this machine's clock.
    pub(super) fn begin(
        set_up: &'a SetUp,
        window: Window,
        patience: &'a Patience,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let walk = Walk::begin(set_up.connector.list.next.clone());
        Self { set_up, window, walk, patience, anew: 0, listed: 0, is_over: false, skew: None, clock }
    }

    /// Returns the items of the next page that belong to the time; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Item>>, SyncError> {
        while !self.is_over {
            let reply = match self.page().await {
                Err(SyncError::Call(error)) if self.begins_anew(&error) => continue,
                reply => reply?,
            };
            if self.shifts(&reply) {
                continue;
            }
            return self.read(&reply).map(Some);
        }
        Ok(None)
    }

    async fn page(&self) -> Result<Reply, SyncError> {
        let values = Values {
            params: Some(&self.set_up.params),
            window: Some(self.window),
            place: Some(self.walk.place()),
            item: None,
        };
        call(self.set_up, self.patience, &self.set_up.connector.page(&values)?).await
    }

    /// Begins the list anew if the answer means that the cursor isn't good any more.
    fn begins_anew(&mut self, error: &CallError) -> bool {
        let is_of_cursor = matches!(error, CallError::Rejected { status: 400 | 404 | 410 | 422, .. });
        if !is_of_cursor || *self.walk.place() == self.first() || self.anew == ANEW {
            return false;
        }
        self.anew += 1;
        self.walk = Walk::begin(self.set_up.connector.list.next.clone());
        true
    }

    fn first(&self) -> Place {
        Walk::begin(self.set_up.connector.list.next.clone()).place().clone()
    }

    /// Moves the window if the provider's clock differs from ours. Returns whether the page has to be asked for again.
    fn shifts(&mut self, reply: &Reply) -> bool {
        if self.skew.is_some() {
            return false;
        }
        let skew =
            reply.date.map_or(0, |there| there.as_micros().saturating_sub(self.clock.now().as_micros()));
        self.skew = Some(skew);
        if skew.abs() < SKEW {
            return false;
        }
        let moved = |at: Timestamp| Timestamp::from_micros(at.as_micros().saturating_add(skew));
        self.window = Window { since: moved(self.window.since), until: moved(self.window.until) };
        true
    }

    fn read(&mut self, reply: &Reply) -> Result<Vec<Item>, SyncError> {
        let connector = &self.set_up.connector;
        let items = connector.items(&reply.body);
        let items =
            items.map_err(|error| SyncError::Items { error, said: self.set_up.api.said(&reply.body) })?;
        self.listed += items.len();
        if self.listed > MOST {
            return Err(SyncError::TooMany(MOST));
        }
        let is_old = |item: &Item| item.time.is_some_and(|time| time < self.window.since);
        let only_old = !items.is_empty() && items.iter().all(is_old);
        let answer = Answer {
            whole: &reply.body,
            link: reply.link.as_deref(),
            items: items.len(),
            last_id: items.last().map(|item| item.id.as_str()),
        };
        let goes_on = !(connector.list.newest_first && only_old);
        self.is_over = !(goes_on && self.walk.next(&answer)?);
        let window = self.window;
        let fits = |item: &Item| item.time.is_none_or(|time| time >= window.since && time < window.until);
        // By this machine's clock, so that what happened just now isn't in the future.
        let skew = self.skew.filter(|skew| skew.abs() >= SKEW).unwrap_or(0);
        let ours = |mut item: Item| {
            item.time = item.time.map(|time| Timestamp::from_micros(time.as_micros().saturating_sub(skew)));
            item
        };
        Ok(items.into_iter().filter(fits).map(ours).collect())
    }
}

/// Makes a call, and tries again what may pass: as often and as long as there is patience for.
pub(super) async fn call(set_up: &SetUp, patience: &Patience, asked: &Asked) -> Result<Reply, SyncError> {
    let mut tries = 0;
    loop {
        let error = match set_up.api.call(asked.clone()).await {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        let wait = patience.wait(&error, tries);
        let Some(wait) = wait else { return Err(error.into()) };
        tracing::debug!(%error, ?wait, "a call to a provider's API is tried again");
        tries += 1;
        tokio::time::sleep(wait.max(Duration::from_millis(1))).await;
    }
}
