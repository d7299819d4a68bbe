//! Public keys in all the forms that people and providers use, single or as a set with key ids.
//!
//! ring verifies RSA and P-256, because TLS brings it anyway and it is constant-time where that matters. ed25519-dalek
//! verifies Ed25519, because it has strict rules against weak keys and signatures.

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
