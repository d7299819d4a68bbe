//! The names of the files beside the index.

use std::path::{Path, PathBuf};

/// Returns the path of a file that SQLite keeps beside another one.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
