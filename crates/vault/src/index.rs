//! The list of secrets and where their values are, but never the values.

use std::path::{Path, PathBuf};

use hookmitt_event::{Slug, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{VaultError, private};

/// Where a secret's value is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// In the OS keychain.
    Keychain,
    /// In `secrets.json` in the data directory.
    File,
    /// In the environment variable with this name, which is read at each start.
    Env(String),
}

/// A secret without its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The source to which the secret belongs.
    pub source: Slug,
    /// The label that distinguishes the secret from others of its source.
    pub label: String,
    /// Where the value is.
    pub place: Location,
    /// When the secret was last set.
    pub created_at: Timestamp,
}

impl Entry {
    /// Returns whether the entry has this source and label.
    pub(crate) fn is(&self, source: &Slug, label: &str) -> bool {
        self.source == *source && self.label == label
    }
}

/// The version of the index's format.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Content {
    format: u32,
    /// Distinguishes the secrets of this data directory from others in the same keychain.
    instance: Uuid,
    secrets: Vec<Entry>,
}

/// The file `secrets.index.json`, or that of the API keys.
pub(crate) struct Index {
    directory: PathBuf,
    path: PathBuf,
}

impl Index {
    pub(crate) fn new(directory: &Path, name: &str) -> Self {
        Self { directory: directory.to_owned(), path: directory.join(format!("{name}.index.json")) }
    }

    /// Returns every secret, in the order in which they were first set.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, VaultError> {
        Ok(self.read()?.map(|content| content.secrets).unwrap_or_default())
    }

    /// Returns the id under which the keychain holds this data directory's secrets. It is made once.
    pub(crate) fn instance(&self) -> Result<Uuid, VaultError> {
        if let Some(content) = self.read()? {
            return Ok(content.instance);
        }
        let _lock = private::lock(&self.directory)?;
        let content = self.read_or_fresh()?;
        private::write(&self.path, &content)?;
        Ok(content.instance)
    }

    /// Adds an entry, or replaces the entry with the same source and label. Returns the replaced entry.
    pub(crate) fn put(&self, entry: Entry) -> Result<Option<Entry>, VaultError> {
        let _lock = private::lock(&self.directory)?;
        let mut content = self.read_or_fresh()?;
        let place = content.secrets.iter_mut().find(|old| old.is(&entry.source, &entry.label));
        let old = match place {
            Some(old) => Some(std::mem::replace(old, entry)),
            None => {
                content.secrets.push(entry);
                None
            }
        };
        private::write(&self.path, &content)?;
        Ok(old)
    }

    /// Removes an entry.
    pub(crate) fn remove(&self, source: &Slug, label: &str) -> Result<(), VaultError> {
        let _lock = private::lock(&self.directory)?;
        let mut content = self.read_or_fresh()?;
        content.secrets.retain(|entry| !entry.is(source, label));
        private::write(&self.path, &content)
    }

    fn read(&self) -> Result<Option<Content>, VaultError> {
        match private::read::<Content>(&self.path)? {
            Some(Content { format, .. }) if format != FORMAT => {
                let reason = format!("its format {format} belongs to another version");
                Err(VaultError::Damaged { path: self.path.clone(), reason })
            }
            content => Ok(content),
        }
    }

    fn read_or_fresh(&self) -> Result<Content, VaultError> {
        let fresh = || Content { format: FORMAT, instance: Uuid::now_v7(), secrets: Vec::new() };
        Ok(self.read()?.unwrap_or_else(fresh))
    }
}
