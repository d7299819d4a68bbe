//! Keeps the search index up with the inbox.
//!
//! What the index has not stored yet is either newer than what it says is done, or noted in the inbox as changed. So a
//! process that is killed between two steps leaves nothing behind that the next one doesn't see. An index that the inbox
//! doesn't know is made anew.

use std::{sync::Arc, time::Duration};

use hookmitt_inbox::{ChangeNote, Inbox, Indexable, NOTES, Unindexed};
use hookmitt_index::{Index, IndexError, Step};
use hookmitt_sqlite::{Background, pause};
use tokio::time::{Instant, sleep_until, timeout};

use super::progress::Progress;
use crate::{
    EngineError,
    base::Base,
    search::{IndexSlot, entry},
};

/// How many events are read at once.
const EVENTS: i64 = 2_048;

/// How long it waits for more events, so that each step has several: a little, or longer while so many come that captures
/// would pay for many steps. Searches look through what isn't indexed yet.
const GATHER: Duration = Duration::from_millis(300);
const GATHER_MANY: Duration = Duration::from_secs(2);
const MANY: i64 = 128;

/// How soon it looks without being told.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// When the next step is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// There is more.
    AtOnce,
    /// All that was there is done. Under load more has come meanwhile; but a step syncs, and captures pay for each sync.
    Rested,
    /// Once something is stored.
    Told,
}

/// Indexes until it is dropped.
pub(super) async fn index(base: Arc<Base>, slot: Arc<IndexSlot>) {
    let mut progress = Progress::of("indexing events");
    loop {
        let begun = progress.after(Indexing::begin(&base, &slot).await).await;
        if let Some(mut indexing) = begun {
            indexing.work(&mut progress).await;
        }
    }
}

pub(super) struct Indexing {
    inbox: Inbox,
    pub(super) index: Index,
    background: Background,
    /// The notes whose changes the index has stored since.
    stored: Vec<ChangeNote>,
}

impl Indexing {
    pub(super) async fn begin(base: &Base, slot: &IndexSlot) -> Result<Self, EngineError> {
        let inbox = base.inbox.clone();
        let index = slot.reopen(&base.data_dir, &inbox.instance().await?)?;
        let background = Background::start("indexing").map_err(|why| {
            let path = base.data_dir.join("search.db");
            IndexError::Open { path, why: why.to_string() }
        })?;
        Ok(Self { inbox, index, background, stored: Vec::new() })
    }

    /// Indexes what comes, until the index itself fails or its file is removed: then it has to be opened anew.
    pub(super) async fn work(&mut self, progress: &mut Progress) {
        let mut commits = self.inbox.commits();
        while self.index.is_in_place() {
            commits.borrow_and_update();
            let (begun, done) = (Instant::now(), self.index.done());
            let step = self.step().await;
            let are_many = self.index.done() - done >= MANY;
            let rested = begun + if are_many { GATHER_MANY } else { GATHER };
            if let Err(EngineError::Index(IndexError::Damaged(why))) = &step {
                tracing::warn!(why, "the search index is damaged and is made anew");
                let _anew = progress.after(self.index.rebuild().await).await;
                sleep_until(rested).await; // so that damage that comes again doesn't keep a core busy
                continue;
            }
            match progress.after(step).await {
                Some(Next::AtOnce) => {}
                Some(Next::Rested) => sleep_until(rested).await,
                Some(Next::Told) => {
                    let _changed = timeout(LOOK_EVERY, commits.changed()).await;
                    sleep_until(rested).await;
                }
                None => return,
            }
        }
    }

    /// Indexes the next few events and changes. Returns when the next step is due.
    pub(super) async fn step(&mut self) -> Result<Next, EngineError> {
        self.ensure_room().await?;
        let last = self.index.step();
        if !self.inbox.knows_index(last).await? {
            return Err(
                IndexError::Damaged("it isn't this inbox's, or a search found damage".to_owned()).into()
            );
        }
        let done = self.index.done();
        let newest = self.inbox.last_given().await?;
        let up_to = newest.min(done + EVENTS);
        let is_behind = up_to > done || !self.inbox.changed_below(i64::MAX, 1).await?.is_empty();
        if !is_behind && self.stored.is_empty() {
            let index = self.index.clone();
            let is_untidy = self.on_background(move || index.tidy()).await?;
            return Ok(if is_untidy { Next::AtOnce } else { Next::Told });
        }
        let name = self.inbox.begin_indexing(last, up_to, std::mem::take(&mut self.stored)).await?;
        // What is noted is read first: a change that comes in between is then in the event, too, or noted again.
        let (changed, notes) = self.inbox.changed(&self.background).await?;
        let unindexed = self.inbox.unindexed(done, up_to, &self.background).await?;
        let is_all = unindexed.through == newest && notes.len() < NOTES;
        if done < unindexed.through || !notes.is_empty() {
            self.store(name, done, unindexed, changed, &notes).await?;
            self.stored = notes;
        }
        Ok(if is_all { Next::Rested } else { Next::AtOnce })
    }

    /// Fails if the index would take what the disk keeps free for the inbox. If that is being used up, the index is thrown
    /// away: searches do without it, but deleting doesn't do without room.
    async fn ensure_room(&self) -> Result<(), EngineError> {
        let Some(disk) = self.inbox.disk().filter(|disk| disk.is_tight()) else { return Ok(()) };
        if disk.is_short() && self.index.done() > 0 {
            tracing::warn!("the disk is full: the search index makes room for the inbox");
            self.index.rebuild().await?;
        }
        Err(IndexError::Full.into())
    }

    /// Stores events and changes in the index, on the thread that can wait.
    async fn store(
        &self,
        name: i64,
        done: i64,
        Unindexed { events, through }: Unindexed,
        changed: Vec<Indexable>,
        notes: &[ChangeNote],
    ) -> Result<(), EngineError> {
        let (index, notes) = (self.index.clone(), notes.to_vec());
        let work = move || {
            let there: Vec<_> = changed.iter().map(|changed| changed.event.seq).collect();
            let gone = notes.iter().map(|note| note.seq).filter(|seq| !there.contains(seq));
            let text_changed = |seq| notes.iter().any(|note| note.seq == seq && note.text);
            let new = events.iter().inspect(|_| pause()).map(|event| entry(event, true));
            let again = changed.iter().filter(|changed| changed.event.seq <= done);
            let again = again.map(|changed| entry(changed, text_changed(changed.event.seq)));
            let whole = Some(done + 1..through + 1);
            index.write(Step { name, removed: gone.collect(), entries: again.chain(new).collect(), whole })
        };
        self.on_background(work).await
    }

    async fn on_background<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, EngineError> {
        Ok(self.background.run(work).await.map_err(|_| IndexError::Closed)??)
    }
}
