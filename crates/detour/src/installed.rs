//! Where a program is installed.

use std::path::PathBuf;

use crate::{DetourError, Quick};

/// Where Homebrew puts programs, and people do.
const USUAL: &str = "/opt/homebrew/bin:/usr/local/bin";

impl Quick {
    /// Where it is installed.
    ///
    /// # Errors
    /// [`DetourError::Missing`].
    pub fn find(self) -> Result<PathBuf, DetourError> {
        let mut found = which::which(self.program());
        if cfg!(target_os = "macos") {
            // What a window is started with there knows nothing of the shell's PATH.
            found = found.or_else(|_| which::which_in(self.program(), Some(USUAL), "/"));
        }
        found.map_err(|_| DetourError::Missing(self))
    }
}
