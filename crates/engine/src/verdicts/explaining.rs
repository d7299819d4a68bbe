//! The queue of events that wait to be explained.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use hookmitt_event::EventId;
use tokio::sync::Notify;

/// The events that wait to be explained. An event that is dropped from here is explained when somebody looks at it.
#[derive(Debug, Default)]
pub(crate) struct Explaining {
    waiting: Mutex<VecDeque<EventId>>,
    bell: Notify,
}

/// How many events may wait; the oldest are dropped, because a flood of forgeries is not worth the work.
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

    /// Takes the newest event, because somebody most likely looks at that one.
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
