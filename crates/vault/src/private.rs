//! Files that only their owner may read, replaced whole or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Serialize, de::DeserializeOwned};
use zeroize::Zeroizing;

use crate::VaultError;

/// Names the file in an error.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> VaultError {
    move |error| VaultError::File { path: path.to_owned(), source: Arc::new(error) }
}

/// Makes the directory, readable by its owner alone, where it isn't there yet.
pub(crate) fn create_dir(path: &Path) -> Result<(), VaultError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(at(path))
}

/// Takes the lock of the data directory's secrets; waits for other processes. It ends with the handle.
///
/// A file of its own: the files that it guards are replaced, and a lock would stay with the old one.
pub(crate) fn lock(directory: &Path) -> Result<File, VaultError> {
    let path = directory.join("secrets.lock");
    let file = open(&path).map_err(at(&path))?;
    file.lock().map_err(at(&path))?;
    Ok(file)
}

/// The JSON in a file; `None` where there is no file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, VaultError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => Zeroizing::new(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(path)(error)),
    };
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|error| {
        // serde_json may quote what it read: only the place is told, for it may be a secret's.
        let reason = format!("unexpected content at line {} column {}", error.line(), error.column());
        VaultError::Damaged { path: path.to_owned(), reason }
    })
}

/// Replaces a file: after a crash at any moment it holds the old content or the new, never a part.
///
/// The caller holds the [`lock`]: one name serves for the copy in the making.
pub(crate) fn write(path: &Path, content: &impl Serialize) -> Result<(), VaultError> {
    let text = serde_json::to_vec_pretty(content).map(Zeroizing::new);
    let mut text =
        text.map_err(|error| VaultError::Damaged { path: path.to_owned(), reason: error.to_string() })?;
    text.push(b'\n');
    let made = PathBuf::from(format!("{}.new", path.display()));
    replace(path, &made, &text).map_err(at(path))
}

fn replace(path: &Path, made: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = open(made)?;
    file.set_len(0)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(made, path)?;
    #[cfg(unix)]
    if let Some(directory) = path.parent() {
        File::open(directory)?.sync_all()?; // or the new name might not survive a power cut
    }
    Ok(())
}

/// Opens or makes a file that its owner alone may read, also where it was open to others before.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}
