//! The token that guards the API: from the environment, a file, or made afresh.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    path::Path,
};

use crate::StartError;

/// 256 random bits in hex.
pub(crate) fn fresh() -> String {
    hex::encode(rand::random::<[u8; 32]>())
}

/// `HOOKMITT_TOKEN`, else what the file holds, else a fresh one that is put there, 0600.
pub(crate) fn load(file: &Path) -> Result<String, StartError> {
    if let Ok(token) = std::env::var("HOOKMITT_TOKEN")
        && !token.is_empty()
    {
        return Ok(token);
    }
    let failed =
        |why: &dyn std::fmt::Display| StartError::TokenFile { path: file.to_owned(), why: why.to_string() };
    match fs::read_to_string(file) {
        Ok(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Ok(_) => Err(failed(&"it is empty")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = fresh();
            match create(file, &token) {
                // Another process was quicker: its token counts.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => load(file),
                Err(error) => Err(failed(&error)),
                Ok(()) => Ok(token),
            }
        }
        Err(error) => Err(failed(&error)),
    }
}

fn create(file: &Path, token: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(token.as_bytes())
}
