//! Finds the data directory.

use std::{ffi::OsString, path::PathBuf};

use directories::ProjectDirs;

use crate::failure::CliError;

/// The environment variable that names the data directory.
pub(crate) const VARIABLE: &str = "HOOKMITT_DATA_DIR";

/// Returns the absolute path of the given directory, else of the one that the environment variable names, else of the
/// platform's data directory. An empty variable counts as not set.
pub(crate) fn locate(given: Option<PathBuf>, environment: Option<OsString>) -> Result<PathBuf, CliError> {
    let named = given.or_else(|| environment.filter(|value| !value.is_empty()).map(PathBuf::from));
    let platforms = || ProjectDirs::from("", "", "hookmitt").map(|dirs| dirs.data_dir().to_owned());
    let found = named.or_else(platforms).ok_or_else(|| {
        let hint = format!("set one with --data-dir DIR or {VARIABLE}");
        CliError::bad_input_with(
            "no-data-dir",
            "no home directory found, so there is no default data directory",
            hint,
        )
    })?;
    std::path::absolute(&found).map_err(|source| CliError::file(found, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_goes_before_the_environment() {
        let located = |flag: Option<&str>, variable: Option<&str>| {
            locate(flag.map(PathBuf::from), variable.map(OsString::from)).unwrap()
        };
        assert_eq!(located(Some("/a"), Some("/b")), PathBuf::from("/a"));
        assert_eq!(located(None, Some("/b")), PathBuf::from("/b"));
        assert!(located(Some("a"), None).is_absolute());
    }
}
