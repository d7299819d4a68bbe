//! Tests of secrets in a private file, in the environment, and in a real keychain.

mod file;
#[cfg(target_os = "linux")]
mod keychain;
