//! Public keys in the writings that people and providers have them in, alone or as a set with key ids.
//!
//! RSA and P-256 are checked with ring, which TLS brings anyway: it is constant-time where that counts. Ed25519
//! stays with ed25519-dalek for its strict rules on weak keys and signatures.

mod der;
mod error;
mod jwk;
mod key;
mod key_set;
mod pem;
mod text;
mod written;

#[cfg(test)]
mod tests;

pub use der::CertificateFacts;
pub use error::PublicKeyError;
pub use key::Signing;
pub use key_set::PublicKey;
pub use text::parse_public_key;
pub use written::PublicForm;
