//! What every part of an engine stands on.

use std::{path::PathBuf, sync::Arc};

use hookmitt_clock::Clock;
use hookmitt_event::Timestamp;
use hookmitt_inbox::Inbox;

use crate::{Change, live::Live, tasks::Tasks};

/// The inbox of a data directory, the clock, and what runs beside the calls.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) data_dir: PathBuf,
    pub(crate) inbox: Inbox,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) live: Live,
    pub(crate) tasks: Tasks,
}

impl Base {
    /// The time by the clock that the engine was given.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Tells those who watch that something changed.
    pub(crate) fn announce(&self, change: Change) {
        self.live.announce(change);
    }
}
