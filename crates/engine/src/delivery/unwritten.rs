//! Outcomes of attempts that the inbox could not store yet.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Counts the outcomes of a courier's attempts that are not stored yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unwritten(Arc<AtomicUsize>);

/// One such outcome; dropping this counts it as stored.
#[derive(Debug)]
pub(crate) struct Mark(Arc<AtomicUsize>);

impl Unwritten {
    /// Counts one more outcome.
    pub(crate) fn one(&self) -> Mark {
        self.0.fetch_add(1, Ordering::AcqRel);
        Mark(Arc::clone(&self.0))
    }

    /// Whether any outcome is not stored yet.
    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
