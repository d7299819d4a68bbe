//! The relay's side: seals what arrives.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{SealError, epoch::Epoch};

/// The maximum duration of an epoch. Several letters share one, because making a context costs 25 times as much as
/// sealing a letter.
const LONGEST: Duration = Duration::from_secs(60);

/// The maximum number of letters in an epoch.
const MOST: u32 = 10_000;

/// Seals the letters of one tunnel in one relay process. It can be shared between tasks.
pub struct Sealer {
    public: [u8; 32],
    tunnel: String,
    current: Mutex<Current>,
}

/// The epoch in which letters are sealed at present.
struct Current {
    epoch: Arc<Epoch>,
    began: Instant,
    next: u32,
}

/// A sealed letter and its name. No two letters have the same epoch and number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The encapsulated key of the epoch.
    pub epoch: [u8; 32],
    /// The letter's number in the epoch, from 0.
    pub number: u32,
    /// The sealed bytes: 16 more than the plain ones.
    pub data: Vec<u8>,
}

impl Sealer {
    /// Creates a sealer for the tunnel of this name and public key.
    ///
    /// # Errors
    /// Returns [`SealError::Key`] if the key isn't valid.
    pub fn new(public: [u8; 32], tunnel: &str) -> Result<Self, SealError> {
        let epoch = Arc::new(Epoch::begin(&public, tunnel)?);
        let current = Mutex::new(Current { epoch, began: Instant::now(), next: 0 });
        Ok(Self { public, tunnel: tunnel.to_owned(), current })
    }

    /// Whether it seals for that public key.
    pub fn is_for(&self, public: &[u8; 32]) -> bool {
        self.public == *public
    }

    /// Seals a letter.
    ///
    /// # Errors
    /// Returns a [`SealError`], which is not expected after [`new`](Self::new) accepted the key.
    pub fn seal(&self, plain: &[u8]) -> Result<Sealed, SealError> {
        self.seal_at(plain, Instant::now())
    }

    fn seal_at(&self, plain: &[u8], now: Instant) -> Result<Sealed, SealError> {
        let (epoch, number) = self.next(now)?;
        let data = epoch.seal(&self.tunnel, number, plain)?;
        Ok(Sealed { epoch: epoch.name, number, data })
    }

    /// Returns an unused number and its epoch.
    fn next(&self, now: Instant) -> Result<(Arc<Epoch>, u32), SealError> {
        // A panic while this lock is held at worst leaves a number unused.
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.next >= MOST || now.saturating_duration_since(current.began) >= LONGEST {
            let epoch = Arc::new(Epoch::begin(&self.public, &self.tunnel)?);
            *current = Current { epoch, began: now, next: 0 };
        }
        let number = current.next;
        current.next += 1;
        Ok((Arc::clone(&current.epoch), number))
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Sealer").field("tunnel", &self.tunnel).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::KeyPair;

    #[test]
    fn an_epoch_ends_after_a_minute() {
        let sealer = Sealer::new(KeyPair::fresh().public, "acme").unwrap();
        let start = Instant::now();
        let first = sealer.seal_at(b"one", start).unwrap();
        let second = sealer.seal_at(b"two", start + LONGEST / 2).unwrap();
        let third = sealer.seal_at(b"three", start + LONGEST * 2).unwrap();
        assert_eq!((second.epoch, second.number), (first.epoch, 1));
        assert_ne!(third.epoch, first.epoch);
        assert_eq!(third.number, 0);
    }

    #[test]
    fn an_epoch_ends_after_10_000_letters() {
        let sealer = Sealer::new(KeyPair::fresh().public, "acme").unwrap();
        let now = Instant::now();
        let epochs: Vec<_> = (0..=MOST).map(|_| sealer.seal_at(b"", now).unwrap().epoch).collect();
        assert_eq!(epochs[0], epochs[9_999]);
        assert_ne!(epochs[0], epochs[10_000]);
    }

    #[test]
    fn threads_never_share_a_number() {
        let sealer = Sealer::new(KeyPair::fresh().public, "acme").unwrap();
        let names = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..2_000).map(|_| sealer.seal(b"x").unwrap()).collect::<Vec<_>>()))
                .collect();
            all.into_iter().flat_map(|one| one.join().unwrap()).collect::<Vec<_>>()
        });
        let distinct: HashSet<_> = names.iter().map(|sealed| (sealed.epoch, sealed.number)).collect();
        assert_eq!(distinct.len(), 16_000);
    }
}
