//! Deletes what has been kept for long enough, and watches how much room is left on the disk.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hookmitt_event::Actor;
use hookmitt_inbox::{Pruner, acting};

use super::progress::Progress;
use crate::{Change, base::Base};

/// How often it looks, once nothing more is to be deleted.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How often at most it is announced that events went.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// How often at most the space of what was deleted is given back to the disk. While as much comes as goes, the next
/// events need it.
const GIVE_BACK_EVERY: Duration = Duration::from_secs(10 * 60);

/// How many times as long as a step it rests after it: so it takes a quarter of the writer's time at most.
const RESTS: u32 = 3;

/// Prunes until it is dropped.
pub(super) async fn prune(base: Arc<Base>) {
    let (mut progress, mut pruner) = (Progress::of("pruning events"), Pruner::new(base.inbox.clone(), None));
    let mut after = After::new(base);
    loop {
        let begun = Instant::now();
        let step = acting(Actor::Retention, pruner.step()).await;
        match progress.after(step).await {
            Some(pruned) if pruned.more => {
                after.gone(pruned.gone);
                tokio::time::sleep(begun.elapsed() * RESTS).await;
            }
            Some(_) => {
                let tidied = after.tidy_up().await;
                let _later = progress.after(tidied).await;
                tokio::time::sleep(LOOK_EVERY).await;
            }
            None => {}
        }
    }
}

/// What is left to do after events went.
struct After {
    base: Arc<Base>,
    /// How many went of which nobody was told.
    untold: u64,
    told: Instant,
    /// Since when the file holds space that can be given back, and when some was given back last.
    is_untidy: bool,
    tidied: Option<Instant>,
    is_nearly_full: bool,
}

impl After {
    fn new(base: Arc<Base>) -> Self {
        Self { base, untold: 0, told: Instant::now(), is_untidy: false, tidied: None, is_nearly_full: false }
    }

    fn gone(&mut self, events: u64) {
        self.untold += events;
        self.is_untidy |= events > 0;
        if self.told.elapsed() >= TELL_EVERY {
            self.tell();
        }
    }

    fn tell(&mut self) {
        self.told = Instant::now();
        let untold = std::mem::take(&mut self.untold);
        if untold > 0 {
            self.base.announce(Change::Many(untold));
        }
    }

    /// Announces what went, and gives its space back if it is time.
    async fn tidy_up(&mut self) -> Result<(), hookmitt_inbox::InboxError> {
        self.tell();
        self.watch_disk();
        let is_time = self.tidied.is_none_or(|tidied| tidied.elapsed() >= GIVE_BACK_EVERY);
        let inbox = &self.base.inbox;
        if self.is_untidy && (is_time || self.is_nearly_full) || inbox.is_wasteful().await? {
            self.is_untidy = !self.base.inbox.give_back().await?;
            self.tidied = Some(Instant::now());
        }
        Ok(())
    }

    /// Says once when the disk becomes nearly full, and when it no longer is.
    fn watch_disk(&mut self) {
        let Some(disk) = self.base.inbox.disk() else { return };
        if disk.is_nearly_full() == self.is_nearly_full {
            return;
        }
        self.is_nearly_full = disk.is_nearly_full();
        if self.is_nearly_full {
            tracing::warn!(free = disk.free, "the disk is nearly full: once it is, new events get a 503");
        } else {
            tracing::info!(free = disk.free, "the disk has room again");
        }
    }
}
