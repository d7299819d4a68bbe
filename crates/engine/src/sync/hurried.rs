//! Which sources are to be synced soon, and how often all are.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use hookmitt_event::Slug;

/// How many seconds pass between two syncs of a source that isn't set otherwise.
pub(super) const USUAL: u32 = 60 * 60;

/// The sources that may have missed something.
#[derive(Debug, Default)]
pub(super) struct Hurried(Mutex<HashSet<Slug>>);

impl Hurried {
    pub(super) fn add(&self, slug: Slug) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(slug);
    }

    pub(super) fn has(&self, slug: &Slug) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(slug)
    }

    pub(super) fn remove(&self, slug: &Slug) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(slug);
    }
}
