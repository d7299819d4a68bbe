//! What a job deletes for good: it is announced, and leaves nothing in the file.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{parts::Parts, run::Run};
use crate::{Change, EngineError};

/// How often at most it is announced that events went.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// How often, and how long after another, a job tries to cut a log that somebody reads, before it leaves that to the
/// background.
const TRIES: usize = 5;
const AGAIN: Duration = Duration::from_millis(200);

/// Counts what is gone. However the job ends, all of it is announced, and its space is given back.
pub(super) struct Gone {
    parts: Arc<Parts>,
    untold: u64,
    told: Instant,
    is_untidy: bool,
}

impl Gone {
    pub(super) fn of(run: &Run) -> Self {
        Self { parts: Arc::clone(&run.parts), untold: 0, told: Instant::now(), is_untidy: true }
    }

    /// Adds events, and announces them if it is time.
    pub(super) fn add(&mut self, events: u64) {
        self.untold += events;
        if self.told.elapsed() >= TELL_EVERY {
            self.tell();
        }
    }

    fn tell(&mut self) {
        self.told = Instant::now();
        let untold = std::mem::take(&mut self.untold);
        if untold > 0 {
            self.parts.base.announce(Change::Many(untold));
        }
    }

    /// Removes what is left in the file and in its log, so that a job that is done has left nothing, even if its process
    /// ends with it.
    pub(super) async fn leaves_nothing(mut self, run: &Run) -> Result<(), EngineError> {
        self.tell();
        for _ in 0..TRIES {
            let inbox = &self.parts.base.inbox;
            if run.unless_ended(async { Ok(inbox.give_back().await?) }).await? {
                self.is_untidy = false;
                break;
            }
            tokio::time::sleep(AGAIN).await;
        }
        Ok(())
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        self.tell();
        if self.is_untidy {
            self.parts.trash.tidy_up();
        }
    }
}
