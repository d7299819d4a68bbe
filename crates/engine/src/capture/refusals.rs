//! The last requests that were refused.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use hookmitt_catch::Refusal;
use hookmitt_event::Plain;

/// The log target of refusals. A command that shows them itself leaves them out of its log by this name.
const REFUSED: &str = "hookmitt::refused";

/// How many refusals are kept.
const REMEMBERED: usize = 200;

/// The last requests that were refused, newest first.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<VecDeque<Refusal>>);

impl Refusals {
    pub(crate) fn note(&self, refusal: Refusal) {
        let target = refusal.target.as_deref().unwrap_or("-");
        tracing::warn!(
            target: REFUSED,
            remote = %refusal.remote,
            target = %Plain(target),
            status = refusal.status,
            code = refusal.code,
            "refused: {}", Plain(&refusal.message)
        );
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.truncate(REMEMBERED - 1);
        last.push_front(refusal);
    }

    pub(crate) fn all(&self) -> Vec<Refusal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
