//! What senders are answered, as it is stored with their events: in the same commit where it is known before, else
//! afterwards, and never in the way of the answer.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hookmitt_event::EventId;
use hookmitt_inbox::PlannedAnswer;
use tokio::sync::{Mutex, Semaphore};

use crate::{Change, base::Base};

/// How much later than stored a planned answer may go out before that is worth a write. The commit takes this long only
/// where something is wrong.
const LATE: Duration = Duration::from_millis(50);

/// How many answers may wait to be stored. Further ones are left out, because capture needs the writer more.
const MOST: usize = 1_000;

/// Who asked, and so who answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AskedBy {
    /// A sender at one of our ports, whose whole request was there at this moment.
    Port(Instant),
    /// A sender whom a relay holds for our answer.
    HeldAtRelay,
    /// A sender whom a channel has answered.
    Channel,
    /// Nobody who waits for an answer of ours.
    Nobody,
}

impl AskedBy {
    /// Whether the local server may answer.
    pub(super) const fn is_held(self) -> bool {
        matches!(self, Self::Port(_) | Self::HeldAtRelay)
    }

    /// Returns the answer to store with the event. `status` is that of an answer that goes out at once.
    pub(super) fn planned(self, status: Option<u16>, delay: Duration) -> Option<PlannedAnswer> {
        match self {
            Self::Port(since) => Some(PlannedAnswer::Ours { status: status?, since, delay }),
            Self::Channel => Some(PlannedAnswer::Channels),
            Self::HeldAtRelay | Self::Nobody => None,
        }
    }
}

/// Stores answers after their events.
#[derive(Debug)]
pub(crate) struct Answers {
    base: Arc<Base>,
    room: Arc<Semaphore>,
    /// One answer at a time stands in the writer's queue.
    turn: Arc<Mutex<()>>,
}

impl Answers {
    pub(super) fn new(base: Arc<Base>) -> Self {
        Self { base, room: Arc::new(Semaphore::new(MOST)), turn: Arc::default() }
    }

    /// Takes note that a sender at a port of ours gets this answer, so long after its request. `planned` is what was
    /// stored of it with the event.
    pub(super) fn given(&self, id: EventId, planned: Option<(u16, Duration)>, status: u16, after: Duration) {
        let as_planned = |(planned, at): (u16, Duration)| planned == status && after <= at + LATE;
        if !planned.is_some_and(as_planned) {
            self.keep(id, status, after);
        }
    }

    /// Stores an answer in the background.
    pub(crate) fn keep(&self, id: EventId, status: u16, after: Duration) {
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else { return };
        let (base, turn) = (Arc::clone(&self.base), Arc::clone(&self.turn));
        self.base.tasks.spawn(async move {
            let turn = turn.lock().await;
            match base.inbox.set_answered(id, status, after).await {
                Ok(()) => base.announce(Change::Event(id)),
                Err(error) => tracing::debug!(%error, "what a sender was answered is not stored"),
            }
            drop((turn, room));
        });
    }
}
