//! What just changed, for those who watch.

use hookmitt_catch::Refusal;
use hookmitt_event::{DeliveryId, EventId};
use tokio::sync::broadcast;

use crate::GapView;

/// Something that changed.
#[derive(Clone, Debug)]
pub enum Change {
    /// Events were stored, up to this sequence number.
    Stored(i64),
    /// A delivery moved on: it is being sent, or an attempt is over.
    Delivery(DeliveryId),
    /// An event was put in the bin, brought back or judged anew.
    Event(EventId),
    /// Sources, secrets or targets changed.
    Config,
    /// A request was not taken.
    Refused(Refusal),
    /// A tunnel is otherwise than it was.
    Tunnel(i64),
    /// A gap of a tunnel is over.
    Gap(Box<GapView>),
}

/// How far a watcher may fall behind before it is told to look for itself.
const BEHIND: usize = 1_024;

/// Where changes are announced. Nobody has to listen.
#[derive(Clone, Debug)]
pub(crate) struct Live(broadcast::Sender<Change>);

impl Live {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }

    pub(crate) fn announce(&self, change: Change) {
        // No watcher is no error.
        let _watchers = self.0.send(change);
    }

    pub(crate) fn watch(&self) -> broadcast::Receiver<Change> {
        self.0.subscribe()
    }
}
