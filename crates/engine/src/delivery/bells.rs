//! How couriers are woken.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use hookmitt_event::TargetId;
use tokio::sync::Notify;

/// Rings where there is something new for a target, and louder where somebody wants it to be looked at now.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    news: Notify,
    urgent: Notify,
}

impl Bell {
    /// Something came in.
    pub(crate) fn ring(&self) {
        self.news.notify_one();
    }

    /// Somebody asks for it, or the target was changed: it is looked at now, even if it is down.
    pub(crate) fn urge(&self) {
        self.urgent.notify_one();
        self.news.notify_one();
    }

    pub(crate) async fn rung(&self) {
        self.news.notified().await;
    }

    pub(crate) async fn urged(&self) {
        self.urgent.notified().await;
    }
}

/// A bell for each target that ever had something to be sent.
#[derive(Debug, Default)]
pub(crate) struct Bells {
    bells: Mutex<HashMap<TargetId, Arc<Bell>>>,
    /// A bell was rung for the first time, or all were.
    pub(super) news: Notify,
}

impl Bells {
    /// Something waits for this target.
    pub(crate) fn wake(&self, target: TargetId) {
        self.bell(target).ring();
    }

    /// Somebody wants what waits for this target to go out now, even if nobody answered there the last time.
    pub(crate) fn urge(&self, target: TargetId) {
        self.bell(target).urge();
    }

    fn bell(&self, target: TargetId) -> Arc<Bell> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        let bell = bells.entry(target).or_insert_with(|| {
            self.news.notify_one();
            Arc::default()
        });
        Arc::clone(bell)
    }

    /// Settings changed: every courier looks again, now.
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
