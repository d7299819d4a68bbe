//! Which devices are connected: one connection each, the newest.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use hookmitt_mailbox::DeviceKey;
use tokio_util::sync::CancellationToken;

type Who = (String, DeviceKey);

/// The connected devices.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    next: AtomicU64,
    open: Mutex<HashMap<Who, (u64, CancellationToken)>>,
}

/// A device's seat while it is connected.
#[derive(Debug)]
pub(crate) struct Seat<'s> {
    sessions: &'s Sessions,
    who: Who,
    number: u64,
    /// A newer connection of the same device has taken its place.
    pub(crate) replaced: CancellationToken,
}

impl Sessions {
    /// A device is connected. Its connection before, which may be half dead, ends.
    pub(crate) fn seat(&self, tunnel: &str, device: DeviceKey) -> Seat<'_> {
        let (number, who) = (self.next.fetch_add(1, Ordering::Relaxed), (tunnel.to_owned(), device));
        let replaced = CancellationToken::new();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, before)) = open.insert(who.clone(), (number, replaced.clone())) {
            before.cancel();
        }
        Seat { sessions: self, who, number, replaced }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut open = self.sessions.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.get(&self.who).is_some_and(|(number, _)| *number == self.number) {
            open.remove(&self.who);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_one_seat_and_the_newest_connection_takes_it() {
        let sessions = Sessions::default();
        let first = sessions.seat("acme", [1; 32]);
        let other = sessions.seat("acme", [2; 32]);
        let second = sessions.seat("acme", [1; 32]);
        assert!(
            first.replaced.is_cancelled()
                && !second.replaced.is_cancelled()
                && !other.replaced.is_cancelled()
        );
        drop(first);
        assert_eq!(sessions.count(), 2);
        drop((second, other));
        assert_eq!(sessions.count(), 0);
    }
}
