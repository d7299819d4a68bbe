//! The queue of events that were committed while they waited for a published key.

use hookmitt_event::EventId;
use tokio::sync::mpsc;

/// So many events may wait to be looked at right after their commit; any more wait for the next look at all.
const ROOM: usize = 1_024;

/// Where events are handed over that were judged before their key came, and committed after.
#[derive(Debug)]
pub(super) struct Pending(mpsc::Sender<EventId>);

impl Pending {
    pub(super) fn new() -> (Self, mpsc::Receiver<EventId>) {
        let (sender, waiting) = mpsc::channel(ROOM);
        (Self(sender), waiting)
    }

    /// An event that waits for a key is committed. The key may have come just before: then nothing else tells of it.
    /// Answers whether there was room.
    pub(super) fn add(&self, id: EventId) -> bool {
        self.0.try_send(id).is_ok()
    }
}
