//! The queue of events that were committed while they waited for a published key.

use hookmitt_event::EventId;
use tokio::sync::mpsc;

/// How many events may be queued right after their commit; any more wait until all pending events are judged again.
const ROOM: usize = 1_024;

/// Queues events that were judged before their key came, and committed after.
#[derive(Debug)]
pub(super) struct Pending(mpsc::Sender<EventId>);

impl Pending {
    pub(super) fn new() -> (Self, mpsc::Receiver<EventId>) {
        let (sender, waiting) = mpsc::channel(ROOM);
        (Self(sender), waiting)
    }

    /// Queues an event that waits for a key and is now committed: the key may have come just before the commit, and
    /// nothing else would say so. Returns whether there was room.
    pub(super) fn add(&self, id: EventId) -> bool {
        self.0.try_send(id).is_ok()
    }
}
