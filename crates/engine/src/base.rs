//! What all parts of an engine share.

use std::{path::PathBuf, sync::Arc};

use hookmitt_clock::Clock;
use hookmitt_event::Timestamp;
use hookmitt_inbox::Inbox;

use crate::{Change, live::Live, tasks::Tasks};

/// The inbox of a data directory, the clock, the announcements and the background tasks.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) data_dir: PathBuf,
    pub(crate) inbox: Inbox,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) live: Live,
    pub(crate) tasks: Tasks,
}

impl Base {
    /// Returns the time of the engine's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Tells watchers that something changed.
    pub(crate) fn announce(&self, change: Change) {
        self.live.announce(change);
    }
}
