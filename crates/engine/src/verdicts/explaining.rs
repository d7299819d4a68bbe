//! The queue of events that wait to be explained.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use hookmitt_event::EventId;
use tokio::sync::Notify;

/// What waits to be explained. What waits too long is explained when somebody looks.
#[derive(Debug, Default)]
pub(crate) struct Explaining {
    waiting: Mutex<VecDeque<EventId>>,
    bell: Notify,
}

/// How many may wait: a flood of forgeries is not worth the work.
const MOST: usize = 256;

impl Explaining {
    pub(crate) fn add(&self, id: EventId) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() == MOST {
            waiting.pop_front();
        }
        waiting.push_back(id);
        self.bell.notify_one();
    }

    /// The newest first: that is the one that somebody looks at.
    fn take(&self) -> Option<EventId> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_back()
    }

    pub(super) async fn next(&self) -> EventId {
        loop {
            let rung = self.bell.notified();
            if let Some(id) = self.take() {
                return id;
            }
            rung.await;
        }
    }
}
