//! Finds out where a program is installed.

use std::path::PathBuf;

use crate::{DetourError, Quick};

/// The folders in which Homebrew installs programs, and people do by hand.
const USUAL: &str = "/opt/homebrew/bin:/usr/local/bin";

impl Quick {
    /// Returns the path of the program.
    ///
    /// # Errors
    /// Fails with [`DetourError::Missing`] if the program is not installed.
    pub fn find(self) -> Result<PathBuf, DetourError> {
        let mut found = which::which(self.program());
        if cfg!(target_os = "macos") {
            // On macOS, an app that is started from the desktop doesn't get the shell's PATH.
            found = found.or_else(|_| which::which_in(self.program(), Some(USUAL), "/"));
        }
        found.map_err(|_| DetourError::Missing(self))
    }
}
