//! Wakes couriers.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use hookmitt_event::{EventId, TargetId};
use tokio::sync::Notify;

/// How many events may wait to be sent beside a target's queue. Beyond that the oldest stays in the queue.
const MOST_HURRIED: usize = 1_024;

/// Wakes the courier of one target: for something new, or urgently, because the target has to be looked at now.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    news: Notify,
    urgent: Notify,
    /// The events whose senders wait for the target's answer.
    hurried: Mutex<VecDeque<EventId>>,
}

impl Bell {
    /// Wakes the courier because something came in. While the target is down, this doesn't cut its pause short.
    pub(crate) fn ring(&self) {
        self.news.notify_one();
    }

    /// Wakes the courier at once, even if the target is down: somebody asks for it, or settings changed.
    pub(crate) fn urge(&self) {
        self.urgent.notify_one();
        self.news.notify_one();
    }

    /// Wakes the courier to send an event beside the queue, because its sender waits.
    fn hurry(&self, event: EventId) {
        let mut hurried = self.hurried.lock().unwrap_or_else(PoisonError::into_inner);
        if hurried.len() >= MOST_HURRIED {
            hurried.pop_front();
        }
        hurried.push_back(event);
        drop(hurried);
        self.ring();
    }

    /// Returns the next event that is to be sent beside the queue.
    pub(crate) fn hurried(&self) -> Option<EventId> {
        self.hurried.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    pub(crate) async fn rung(&self) {
        self.news.notified().await;
    }

    pub(crate) async fn urged(&self) {
        self.urgent.notified().await;
    }
}

/// A bell for each target to which something was to be sent.
#[derive(Debug, Default)]
pub(crate) struct Bells {
    bells: Mutex<HashMap<TargetId, Arc<Bell>>>,
    /// Notified when a bell is rung for the first time, and when all are rung.
    pub(super) news: Notify,
}

impl Bells {
    /// Wakes a target's courier because something waits for the target.
    pub(crate) fn wake(&self, target: TargetId) {
        self.bell(target).ring();
    }

    /// Wakes a target's courier at once, even if nobody answered at the target the last time.
    pub(crate) fn urge(&self, target: TargetId) {
        self.bell(target).urge();
    }

    /// Wakes a target's courier to send an event beside the queue, because its sender waits for the target's answer.
    pub(crate) fn hurry(&self, target: TargetId, event: EventId) {
        self.bell(target).hurry(event);
    }

    fn bell(&self, target: TargetId) -> Arc<Bell> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        let bell = bells.entry(target).or_insert_with(|| {
            self.news.notify_one();
            Arc::default()
        });
        Arc::clone(bell)
    }

    /// Wakes every courier at once, because settings changed.
    pub(super) fn urge_all(&self) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.values().for_each(|bell| bell.urge());
        self.news.notify_one();
    }

    pub(super) fn forget(&self, target: TargetId) {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner).remove(&target);
    }

    pub(super) fn all(&self) -> Vec<(TargetId, Arc<Bell>)> {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.iter().map(|(target, bell)| (*target, Arc::clone(bell))).collect()
    }
}
