//! The queue of events to judge again right after their commit: while they were being stored, their published key may
//! have come, or their source's settings may have changed.

use hookmitt_event::EventId;
use tokio::sync::mpsc;

/// How many events may be queued. If there is no room, the caller relies on a later pass over the stored events.
const ROOM: usize = 1_024;

/// Queues committed events whose verdict may be outdated already.
#[derive(Debug)]
pub(super) struct Pending(mpsc::Sender<EventId>);

impl Pending {
    pub(super) fn new() -> (Self, mpsc::Receiver<EventId>) {
        let (sender, waiting) = mpsc::channel(ROOM);
        (Self(sender), waiting)
    }

    /// Queues an event that is now committed. A key or a setting that changed just before the commit was applied to the
    /// stored events without this one. Returns whether there was room.
    pub(super) fn add(&self, id: EventId) -> bool {
        self.0.try_send(id).is_ok()
    }

    /// Like [`add`](Self::add), but waits for room.
    pub(super) async fn add_in_turn(&self, id: EventId) {
        let _closed_at_the_stop = self.0.send(id).await;
    }
}
