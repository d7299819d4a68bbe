//! Outcomes of attempts that the inbox could not take yet.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// How many outcomes of a courier's attempts wait to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unwritten(Arc<AtomicUsize>);

/// One of them, until this is dropped.
#[derive(Debug)]
pub(crate) struct Mark(Arc<AtomicUsize>);

impl Unwritten {
    /// One more.
    pub(crate) fn one(&self) -> Mark {
        self.0.fetch_add(1, Ordering::AcqRel);
        Mark(Arc::clone(&self.0))
    }

    /// Whether there is any.
    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
