//! The connected devices. Each has one connection, the newest.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use hookmitt_mailbox::DeviceKey;
use tokio_util::sync::CancellationToken;

type Who = (String, DeviceKey);

#[derive(Debug, Default)]
struct Book {
    devices: HashMap<Who, (u64, CancellationToken)>,
    /// How many devices of each tunnel are connected; the token is cancelled when the last one disconnects.
    tunnels: HashMap<String, (usize, CancellationToken)>,
}

/// The connected devices.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    next: AtomicU64,
    open: Mutex<Book>,
}

/// A device's registration while it is connected.
#[derive(Debug)]
pub(crate) struct Seat<'s> {
    sessions: &'s Sessions,
    who: Who,
    number: u64,
    /// Cancelled when a newer connection of the same device takes over, or when the device is revoked.
    pub(crate) replaced: CancellationToken,
}

impl Sessions {
    /// Registers a connected device. Its earlier connection, which may be half dead, ends.
    pub(crate) fn seat(&self, tunnel: &str, device: DeviceKey) -> Seat<'_> {
        let (number, who) = (self.next.fetch_add(1, Ordering::Relaxed), (tunnel.to_owned(), device));
        let replaced = CancellationToken::new();
        let mut open = self.book();
        match open.devices.insert(who.clone(), (number, replaced.clone())) {
            Some((_, before)) => before.cancel(),
            None => open.tunnels.entry(tunnel.to_owned()).or_default().0 += 1,
        }
        drop(open);
        Seat { sessions: self, who, number, replaced }
    }

    /// Ends the connection of a device that no longer takes part.
    pub(crate) fn turn_out(&self, tunnel: &str, device: &DeviceKey) {
        if let Some((_, seat)) = self.book().devices.get(&(tunnel.to_owned(), *device)) {
            seat.cancel();
        }
    }

    /// Returns whether this device of the tunnel is connected here.
    pub(crate) fn has(&self, tunnel: &str, device: &DeviceKey) -> bool {
        self.book().devices.contains_key(&(tunnel.to_owned(), *device))
    }

    /// Returns how many devices are connected.
    pub(crate) fn count(&self) -> usize {
        self.book().devices.len()
    }

    /// Returns how many devices of a tunnel are connected.
    pub(crate) fn count_of(&self, tunnel: &str) -> usize {
        self.book().tunnels.get(tunnel).map_or(0, |(count, _)| *count)
    }

    /// Returns a token if a device of the tunnel is connected. The token is cancelled when the last one disconnects.
    pub(crate) fn of(&self, tunnel: &str) -> Option<CancellationToken> {
        self.book().tunnels.get(tunnel).map(|(_, left)| left.clone())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut open = self.sessions.book();
        if open.devices.get(&self.who).is_none_or(|(number, _)| *number != self.number) {
            return;
        }
        open.devices.remove(&self.who);
        let Some((count, left)) = open.tunnels.get_mut(&self.who.0) else { return };
        *count -= 1;
        if *count == 0 {
            left.cancel();
            open.tunnels.remove(&self.who.0);
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
        assert_eq!((sessions.count(), sessions.count_of("acme"), sessions.count_of("other")), (2, 2, 0));
        let there = sessions.of("acme").expect("two devices");
        drop(second);
        assert!(!there.is_cancelled(), "one is still there");
        drop(other);
        assert_eq!(sessions.count(), 0);
        assert!(there.is_cancelled() && sessions.of("acme").is_none());
    }
}
