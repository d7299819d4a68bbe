//! The bytes of a secret, kept out of logs and wiped from memory after use.

use std::fmt;

use zeroize::Zeroizing;

use crate::mac::constant_time_eq;

/// A secret's bytes as configured. They are never printed, and are overwritten when dropped.
#[derive(Clone)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl PartialEq for SecretBytes {
    /// Compares in constant time: a near miss takes as long as any other mismatch.
    fn eq(&self, other: &Self) -> bool {
        constant_time_eq(&self.0, &other.0)
    }
}

impl Eq for SecretBytes {}

impl SecretBytes {
    /// Returns the bytes, for computing with them.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl<T: Into<Vec<u8>>> From<T> for SecretBytes {
    fn from(bytes: T) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretBytes(…)")
    }
}
