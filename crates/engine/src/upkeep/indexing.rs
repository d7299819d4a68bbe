//! Keeps the search index up with the inbox.
//!
//! What the index has not stored yet is either newer than what it says is done, or noted in the inbox as changed. So a
//! process that is killed between two steps leaves nothing behind that the next one doesn't see.

use std::{sync::Arc, time::Duration};

use hookmitt_inbox::{ChangeNote, Inbox, Indexable, Unindexed};
use hookmitt_index::{Entry, Index, IndexError};
use hookmitt_sqlite::Background;
use tokio::time::{Instant, sleep_until, timeout};

use super::progress::Progress;
use crate::{
    EngineError,
    base::Base,
    search::{IndexSlot, entry},
};

/// How many events are read at once.
const EVENTS: i64 = 256;

/// How long it waits for more events, so that each step has several; and how soon it looks without being told.
const GATHER: Duration = Duration::from_millis(300);
const LOOK_EVERY: Duration = Duration::from_secs(5);

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

struct Indexing {
    inbox: Inbox,
    index: Index,
    background: Background,
    /// Changes to events up to this number are noted in the inbox.
    noted: i64,
    /// The notes whose changes the index has stored since.
    stored: Vec<ChangeNote>,
}

impl Indexing {
    async fn begin(base: &Base, slot: &IndexSlot) -> Result<Self, EngineError> {
        let inbox = base.inbox.clone();
        let index = slot.reopen(&base.data_dir, &inbox.instance().await?)?;
        let background = Background::start("indexing").map_err(|why| {
            let path = base.data_dir.join("search.db");
            IndexError::Open { path, why: why.to_string() }
        })?;
        Ok(Self { inbox, index, background, noted: 0, stored: Vec::new() })
    }

    /// Indexes what comes, until the index itself fails: then it has to be opened anew.
    async fn work(&mut self, progress: &mut Progress) {
        let mut commits = self.inbox.commits();
        loop {
            commits.borrow_and_update();
            let rested = Instant::now() + GATHER;
            let step = self.step().await;
            if let Err(EngineError::Index(IndexError::Damaged(why))) = &step {
                tracing::warn!(why, "the search index is damaged and is made anew");
                let _anew = progress.after(self.index.rebuild().await).await;
                sleep_until(rested).await; // so that damage that comes again doesn't keep a core busy
                continue;
            }
            match progress.after(step).await {
                Some(true) => {}
                Some(false) => {
                    let _changed = timeout(LOOK_EVERY, commits.changed()).await;
                    sleep_until(rested).await;
                }
                None => return,
            }
        }
    }

    /// Indexes the next few events and changes. Returns whether there may be more.
    async fn step(&mut self) -> Result<bool, EngineError> {
        let (done, last) = (self.index.done(), self.inbox.last_given().await?);
        if done > last {
            self.index.rebuild().await?; // an older copy of the inbox was restored
            return Ok(true);
        }
        let up_to = last.min(done + EVENTS);
        self.note(up_to).await?;
        // What is noted is read first: a change that comes in between is then in the event, too, or noted again.
        let (changed, notes) = self.inbox.changed().await?;
        let Unindexed { events, through } = self.inbox.unindexed(done, up_to).await?;
        if done == through && notes.is_empty() {
            let index = self.index.clone();
            return self.on_background(move || index.tidy()).await;
        }
        self.store(done, through, events, changed, &notes).await?;
        self.stored = notes;
        Ok(true)
    }

    /// Stores events and changes in the index, on the thread that can wait.
    async fn store(
        &self,
        done: i64,
        through: i64,
        events: Vec<Indexable>,
        changed: Vec<Indexable>,
        notes: &[ChangeNote],
    ) -> Result<(), EngineError> {
        let (index, notes) = (self.index.clone(), notes.to_vec());
        let work = move || {
            let there: Vec<_> = changed.iter().map(|changed| changed.event.seq).collect();
            let gone = notes.iter().map(|note| note.seq).filter(|seq| !there.contains(seq));
            index.remove(&gone.collect::<Vec<_>>())?;
            let text_changed = |seq| notes.iter().any(|note| note.seq == seq && note.text);
            let new = events.iter().map(|event| entry(event, true));
            let again = changed.iter().filter(|changed| changed.event.seq <= done);
            let again = again.map(|changed| entry(changed, text_changed(changed.event.seq)));
            let entries: Vec<Entry> = again.chain(new).collect();
            index.write(entries, Some(done + 1..through + 1)).map(drop)
        };
        self.on_background(work).await
    }

    /// Has changes up to a number noted, and forgets those that the last step has stored: one commit a step.
    async fn note(&mut self, up_to: i64) -> Result<(), EngineError> {
        if up_to > self.noted || !self.stored.is_empty() {
            self.inbox.note_changes(up_to, std::mem::take(&mut self.stored)).await?;
            self.noted = up_to;
        }
        Ok(())
    }

    async fn on_background<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, EngineError> {
        Ok(self.background.run(work).await.map_err(|_| IndexError::Closed)??)
    }
}
