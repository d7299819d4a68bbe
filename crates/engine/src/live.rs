//! Announces what just changed to those who watch.

use hookmitt_event::{DeliveryId, EventId};
use hookmitt_inbox::Refused;
use tokio::sync::broadcast;

use crate::GapView;

/// Something that changed.
#[derive(Clone, Debug)]
pub enum Change {
    /// Events were stored, up to this sequence number.
    Stored(i64),
    /// A delivery changed: it is being sent, or an attempt has ended.
    Delivery(DeliveryId),
    /// An event changed: for example, it was deleted or restored, judged again, explained, confirmed or replayed.
    Event(EventId),
    /// So many events changed at once that whoever shows events should read them again.
    Many(u64),
    /// Sources, secrets or targets changed.
    Config,
    /// A request was refused.
    Refused(Box<Refused>),
    /// The state of a tunnel changed.
    Tunnel(i64),
    /// A job changed: how far it is, or its state.
    Job(i64),
    /// A gap of a tunnel is over.
    Gap(Box<GapView>),
}

/// How many changes a watcher may fall behind before it is told that it missed some.
const BEHIND: usize = 1_024;

/// The channel on which changes are announced. Nobody has to listen.
#[derive(Clone, Debug)]
pub(crate) struct Live(broadcast::Sender<Change>);

impl Live {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }

    pub(crate) fn announce(&self, change: Change) {
        // Having no watcher is not an error.
        let _watchers = self.0.send(change);
    }

    pub(crate) fn watch(&self) -> broadcast::Receiver<Change> {
        self.0.subscribe()
    }
}
