//! Stores secrets: in the OS keychain, in a private file, or as a reference to an environment variable.
//!
//! The list of secrets, without their values, is in `secrets.index.json` in the data directory, so that listing them
//! needs no keychain. Everything here blocks: call it on a blocking thread, never on the capture path.

mod error;
mod file;
mod index;
mod keychain;
mod private;
mod vault;

pub use error::{Problem, VaultError};
pub use index::{Entry, Location};
pub use vault::{Secret, StoreChoice, Vault, looks_like_variable};
