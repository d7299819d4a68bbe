//! Files that only their owner may read. They are replaced either completely or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Serialize, de::DeserializeOwned};
use zeroize::Zeroizing;

use crate::VaultError;

/// Makes an error that names the file.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> VaultError {
    move |error| VaultError::File { path: path.to_owned(), source: Arc::new(error) }
}

/// Makes the directory if it does not exist. Only its owner may read a directory that is made here.
pub(crate) fn create_dir(path: &Path) -> Result<(), VaultError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(at(path))
}

/// Locks the secrets of the data directory. Waits while another process holds the lock. Dropping the returned file
/// releases it.
///
/// The lock needs its own file, because the files that it protects are replaced, and a lock would stay with the old
/// file.
pub(crate) fn lock(directory: &Path) -> Result<File, VaultError> {
    let path = directory.join("secrets.lock");
    let file = open(&path).map_err(at(&path))?;
    file.lock().map_err(at(&path))?;
    Ok(file)
}

/// Returns the JSON in a file, or `None` if there is no file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, VaultError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => Zeroizing::new(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(path)(error)),
    };
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|error| {
        // serde_json may quote what it read, which may be a secret. So the error says only where it is.
        let reason = format!("unexpected content at line {} column {}", error.line(), error.column());
        VaultError::Damaged { path: path.to_owned(), reason }
    })
}

/// Replaces a file. After a crash at any moment it has either the old content or the new, never a part.
///
/// The caller must hold the [`lock`], because the temporary file always has the same name.
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
        File::open(directory)?.sync_all()?; // otherwise the new name might not survive a power cut
    }
    Ok(())
}

/// Opens or makes a file that only its owner may read. If others had access to it, they lose it.
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
