//! The keys of a tunnel: made by the app, the secret one never leaves it.

use std::fmt;

use hpke::{Deserializable as _, Kem as _, Serializable as _};
use zeroize::Zeroizing;

use crate::{SealError, epoch::Kem};

/// An X25519 key pair.
#[derive(Clone)]
pub struct KeyPair {
    /// Opens letters.
    pub secret: Zeroizing<[u8; 32]>,
    /// Seals letters; the relay is given it.
    pub public: [u8; 32],
}

impl KeyPair {
    /// A new one, of the system's randomness.
    ///
    /// # Panics
    /// Where the system has no randomness to give.
    pub fn fresh() -> Self {
        let (secret, public) = Kem::gen_keypair();
        Self { secret: Zeroizing::new(secret.to_bytes().into()), public: public.to_bytes().into() }
    }

    /// The pair of a secret key.
    ///
    /// # Errors
    /// [`SealError::Key`].
    pub fn from_secret(secret: &[u8; 32]) -> Result<Self, SealError> {
        let key = <Kem as hpke::Kem>::PrivateKey::from_bytes(secret).map_err(|_| SealError::Key)?;
        Ok(Self { secret: Zeroizing::new(*secret), public: Kem::sk_to_pk(&key).to_bytes().into() })
    }
}

impl fmt::Debug for KeyPair {
    /// Without the secret.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("KeyPair").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_made_again_from_its_secret_and_no_two_are_alike() {
        let pair = KeyPair::fresh();
        assert_eq!(KeyPair::from_secret(&pair.secret).unwrap().public, pair.public);
        assert_ne!(KeyPair::fresh().public, pair.public);
    }

    #[test]
    fn a_pair_does_not_print_its_secret() {
        assert_eq!(format!("{:?}", KeyPair::fresh()), "KeyPair { .. }");
    }
}
