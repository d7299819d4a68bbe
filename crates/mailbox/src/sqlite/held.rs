//! Senders that are held until the app has answered. Sender and app are both connected to this process.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::oneshot;

use crate::{Held, Reply};

/// The waiting senders, by the event whose answer they wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldSenders(Arc<Mutex<HashMap<[u8; 16], oneshot::Sender<Reply>>>>);

impl HeldSenders {
    /// Starts to wait for an answer.
    pub(super) fn hold(&self, event: [u8; 16]) -> SqliteHeld {
        let (reply, answer) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(event, reply);
        SqliteHeld { event, answer, senders: self.clone() }
    }

    /// Passes on an answer if somebody waits for it.
    pub(super) fn answer(&self, event: [u8; 16], answer: Reply) {
        if let Some(reply) = self.remove(event) {
            drop(reply.send(answer)); // fails if the sender has just stopped waiting
        }
    }

    fn remove(&self, event: [u8; 16]) -> Option<oneshot::Sender<Reply>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&event)
    }
}

/// A sender that is held.
#[derive(Debug)]
pub struct SqliteHeld {
    event: [u8; 16],
    answer: oneshot::Receiver<Reply>,
    senders: HeldSenders,
}

impl Held for SqliteHeld {
    async fn answer(mut self, limit: Duration) -> Option<Reply> {
        tokio::time::timeout(limit, &mut self.answer).await.ok()?.ok()
    }
}

impl Drop for SqliteHeld {
    fn drop(&mut self) {
        self.senders.remove(self.event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn nothing_is_kept_of_those_who_gave_up() {
        let senders = HeldSenders::default();
        assert_eq!(senders.hold([1; 16]).answer(Duration::from_secs(3)).await, None);
        drop(senders.hold([2; 16]));
        assert!(senders.0.lock().unwrap().is_empty());
    }
}
