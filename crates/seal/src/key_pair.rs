//! The key pair of a tunnel. The app makes it and keeps the secret key.

use std::fmt;

use hpke::{Deserializable as _, Kem as _, Serializable as _};
use zeroize::Zeroizing;

use crate::{SealError, epoch::Kem};

/// An X25519 key pair.
#[derive(Clone)]
pub struct KeyPair {
    /// The secret key, which opens letters.
    pub secret: Zeroizing<[u8; 32]>,
    /// The public key, which seals letters. The relay receives it.
    pub public: [u8; 32],
}

impl KeyPair {
    /// Generates a pair with the system's randomness.
    ///
    /// # Panics
    /// Panics if the system provides no randomness.
    pub fn fresh() -> Self {
        let (secret, public) = Kem::gen_keypair();
        Self { secret: Zeroizing::new(secret.to_bytes().into()), public: public.to_bytes().into() }
    }

    /// Returns the pair that belongs to a secret key.
    ///
    /// # Errors
    /// Returns [`SealError::Key`] if the key isn't valid.
    pub fn from_secret(secret: &[u8; 32]) -> Result<Self, SealError> {
        let key = <Kem as hpke::Kem>::PrivateKey::from_bytes(secret).map_err(|_| SealError::Key)?;
        Ok(Self { secret: Zeroizing::new(*secret), public: Kem::sk_to_pk(&key).to_bytes().into() })
    }
}

impl fmt::Debug for KeyPair {
    /// Leaves the secret out.
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
