//! What the attempts of one courier share.

use hookmitt_event::Target;
use tokio_util::sync::CancellationToken;

use super::{sending::Sending, unwritten::Unwritten};

/// What the attempts of one courier share. Clones share the same state.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    /// Outcomes that are not stored yet.
    pub(crate) unwritten: Unwritten,
    /// Cancelled when the courier is to stop.
    pub(crate) stop: CancellationToken,
    /// Whether the attempt is made beside the queue, so that none takes its place.
    pub(crate) beside: bool,
}

impl Round {
    /// Whether an attempt that ends may claim the delivery that takes its place. Once the target's settings have
    /// changed, only the courier claims, because it knows how many attempts there may be.
    pub(crate) fn goes_on(&self, sending: &Sending, target: &Target) -> bool {
        let is_as_before =
            || sending.settings.now().targets.get(&target.id).is_some_and(|now| **now == *target);
        !self.beside && !self.stop.is_cancelled() && !self.unwritten.any() && is_as_before()
    }
}
