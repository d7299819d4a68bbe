//! The app's side: opens what a relay sealed.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use zeroize::Zeroizing;

use crate::{KeyPair, SealError, epoch::Epoch};

/// The number of epochs that are kept in memory. This is more than the relays that share a tunnel's letters use at one
/// time.
const KEPT: usize = 64;

/// The number of secrets that are kept. Every letter that still waits was sealed for one of the last few.
pub const SECRETS: usize = 16;

/// Opens the letters of one tunnel. It can be shared between tasks.
pub struct Opener {
    /// The newest first. Older secrets open what was sealed before the key was rotated.
    secrets: Mutex<Vec<Zeroizing<[u8; 32]>>>,
    tunnel: String,
    /// The most recently used first.
    epochs: Mutex<VecDeque<Arc<Epoch>>>,
}

impl Opener {
    /// Creates an opener for the tunnel of this name with its secret key.
    ///
    /// # Errors
    /// Returns [`SealError::Key`] if the key isn't valid.
    pub fn new(secret: &[u8; 32], tunnel: &str) -> Result<Self, SealError> {
        let secret = KeyPair::from_secret(secret)?.secret;
        Ok(Self { secrets: Mutex::new(vec![secret]), tunnel: tunnel.to_owned(), epochs: Mutex::default() })
    }

    /// Adds secrets, given with the newest first. Returns whether one of them is new.
    pub fn add(&self, secrets: &[Zeroizing<[u8; 32]>]) -> bool {
        let mut known = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        for secret in secrets.iter().rev() {
            if known.iter().all(|known| known != secret) {
                known.insert(0, secret.clone());
            }
        }
        let is_new = known.len() > before;
        known.truncate(SECRETS);
        is_new
    }

    /// Returns the secrets, the newest first.
    pub fn secrets(&self) -> Vec<Zeroizing<[u8; 32]>> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens a letter, identified by its epoch and its number in that epoch.
    ///
    /// # Errors
    /// Returns [`SealError::Foreign`] if the data is not exactly what was sealed for this tunnel, key, epoch and
    /// number.
    pub fn open(&self, epoch: &[u8; 32], number: u32, data: &[u8]) -> Result<Vec<u8>, SealError> {
        if let Some(known) = self.known(epoch) {
            return known.open(&self.tunnel, number, data);
        }
        for secret in self.secrets() {
            let resumed = Epoch::resume(&secret, &self.tunnel, epoch)?;
            if let Ok(plain) = resumed.open(&self.tunnel, number, data) {
                // The epoch is kept only after its letter opened, so that forged letters can't push out epochs in use.
                self.keep(resumed);
                return Ok(plain);
            }
        }
        Err(SealError::Foreign)
    }

    fn known(&self, name: &[u8; 32]) -> Option<Arc<Epoch>> {
        let mut epochs = self.epochs.lock().unwrap_or_else(PoisonError::into_inner);
        let at = epochs.iter().position(|epoch| epoch.name == *name)?;
        let found = epochs.remove(at)?;
        epochs.push_front(Arc::clone(&found));
        Some(found)
    }

    fn keep(&self, epoch: Epoch) {
        let mut epochs = self.epochs.lock().unwrap_or_else(PoisonError::into_inner);
        epochs.push_front(Arc::new(epoch));
        epochs.truncate(KEPT);
    }
}

impl fmt::Debug for Opener {
    /// Leaves the secrets out.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Opener").field("tunnel", &self.tunnel).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sealed, Sealer};

    #[test]
    fn the_epochs_kept_are_those_used_last_and_strangers_add_none() {
        let pair = KeyPair::fresh();
        let opener = Opener::new(&pair.secret, "acme").unwrap();
        let open = |sealed: &Sealed| opener.open(&sealed.epoch, sealed.number, &sealed.data);
        let letters: Vec<_> = (0..=KEPT)
            .map(|_| Sealer::new(pair.public, "acme").unwrap().seal(b"of another relay").unwrap())
            .collect();
        for letter in &letters[..KEPT] {
            open(letter).unwrap();
        }
        open(&letters[0]).unwrap();
        let stranger = Sealer::new(pair.public, "other").unwrap().seal(b"x").unwrap();
        open(&stranger).unwrap_err();
        open(&letters[KEPT]).unwrap();

        let kept = opener.epochs.lock().unwrap();
        let holds = |letter: &Sealed| kept.iter().any(|epoch| epoch.name == letter.epoch);
        assert_eq!(kept.len(), KEPT);
        assert!(holds(&letters[0]), "used again, so kept");
        assert!(!holds(&letters[1]), "the oldest went");
        assert!(!holds(&stranger));
    }
}
