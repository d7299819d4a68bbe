//! The private files `secrets.json` and `api-keys.json`, for machines without a keychain.

use std::path::{Path, PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::Slug;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use crate::{VaultError, private};

#[derive(Serialize, Deserialize)]
struct Kept {
    source: Slug,
    label: String,
    value_base64: String,
}

impl Kept {
    fn is(&self, source: &Slug, label: &str) -> bool {
        self.source == *source && self.label == label
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.value_base64.zeroize();
    }
}

/// The file that holds the values unencrypted (in base64, because they may be any bytes).
pub(crate) struct FileStore {
    directory: PathBuf,
    pub(crate) path: PathBuf,
}

impl FileStore {
    pub(crate) fn new(directory: &Path, name: &str) -> Self {
        Self { directory: directory.to_owned(), path: directory.join(format!("{name}.json")) }
    }

    pub(crate) fn get(&self, source: &Slug, label: &str) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let kept = self.read()?.into_iter().find(|kept| kept.is(source, label));
        let kept = kept.ok_or(VaultError::Missing("file"))?;
        STANDARD.decode(&kept.value_base64).map(Zeroizing::new).map_err(|_| VaultError::Damaged {
            path: self.path.clone(),
            reason: format!("the value for {source} isn't base64"),
        })
    }

    pub(crate) fn set(&self, source: &Slug, label: &str, value: &[u8]) -> Result<(), VaultError> {
        let kept =
            Kept { source: source.clone(), label: label.to_owned(), value_base64: STANDARD.encode(value) };
        self.change(source, label, Some(kept))
    }

    pub(crate) fn remove(&self, source: &Slug, label: &str) -> Result<(), VaultError> {
        self.change(source, label, None)
    }

    fn change(&self, source: &Slug, label: &str, new: Option<Kept>) -> Result<(), VaultError> {
        let _lock = private::lock(&self.directory)?;
        let mut all = self.read()?;
        all.retain(|kept| !kept.is(source, label));
        all.extend(new);
        private::write(&self.path, &all)
    }

    fn read(&self) -> Result<Vec<Kept>, VaultError> {
        Ok(private::read(&self.path)?.unwrap_or_default())
    }
}
