//! The token that protects the API: from the environment, from a file, or newly made.

use std::{fs, io::ErrorKind, path::Path};

use zeroize::Zeroizing;

use crate::{StartError, private_file};

/// The name of the token's file in the data directory.
const USUAL: &str = "token";

/// Returns 256 random bits in hex.
pub(crate) fn fresh() -> String {
    hex::encode(rand::random::<[u8; 32]>())
}

/// Returns the token: from `HOOKMITT_TOKEN`, else from the named file, else from the file in the data directory. A file
/// that does not exist is created with a new token, with mode 0600.
pub(crate) fn load(named: Option<&Path>, data_dir: &Path) -> Result<Zeroizing<String>, StartError> {
    if let Ok(token) = std::env::var("HOOKMITT_TOKEN")
        && !token.is_empty()
    {
        return Ok(Zeroizing::new(token));
    }
    match named {
        Some(file) => read_or_make(file, false),
        None => read_or_make(&data_dir.join(USUAL), true),
    }
}

fn read_or_make(file: &Path, is_private: bool) -> Result<Zeroizing<String>, StartError> {
    let failed =
        |why: &dyn std::fmt::Display| StartError::TokenFile { path: file.to_owned(), why: why.to_string() };
    match fs::read_to_string(file).map(Zeroizing::new) {
        Ok(_) if is_private && is_open_to_others(file) => {
            Err(failed(&"others can read it: remove it, and a new token is created"))
        }
        Ok(text) if !text.trim().is_empty() => Ok(Zeroizing::new(text.trim().to_owned())),
        Ok(_) => Err(failed(&"it is empty")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = Zeroizing::new(fresh());
            match private_file::create(file, token.as_bytes()) {
                // Another process was faster, so its token is used.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => read_or_make(file, is_private),
                Err(error) => Err(failed(&error)),
                Ok(()) => Ok(token),
            }
        }
        Err(error) => Err(failed(&error)),
    }
}

#[cfg(unix)]
fn is_open_to_others(file: &Path) -> bool {
    let mode = fs::metadata(file).map(|file| std::os::unix::fs::PermissionsExt::mode(&file.permissions()));
    mode.is_ok_and(|mode| mode & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn threat_8_a_token_that_others_may_read_is_refused_in_the_data_directory() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(USUAL);
        let made = read_or_make(&file, true).unwrap();
        assert_eq!(*read_or_make(&file, true).unwrap(), *made);
        for mode in [0o640, 0o604, 0o644] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let refused = read_or_make(&file, true).unwrap_err().to_string();
            assert!(refused.contains("others can read it") && !refused.contains(&*made), "{refused}");
        }
        assert!(read_or_make(&file, false).is_ok(), "where else it lies is the person's own choice");
    }
}
