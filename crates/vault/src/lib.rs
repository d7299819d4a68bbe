//! Secrets at rest: the OS keychain, a private file, or an environment variable.
//!
//! Which secrets there are is kept in `secrets.index.json` in the data directory, without their values, so that a
//! list needs no keychain. Everything here blocks: call it on a blocking thread, never on the capture path.

mod error;
mod file;
mod index;
mod keychain;
mod private;
mod vault;

pub use error::{Problem, VaultError};
pub use index::{Entry, Location};
pub use vault::{Secret, StoreChoice, Vault, looks_like_variable};
