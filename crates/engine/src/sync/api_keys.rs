//! The API keys of sources, in the vault, apart from signing secrets. They are read when they are used.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use hookmitt_event::Slug;
use hookmitt_vault::{Location, StoreChoice, Vault, VaultError};
use zeroize::Zeroizing;

use crate::EngineError;

/// The label of an API key in the vault. A source has one.
const LABEL: &str = "api";

/// The API keys of sources.
#[derive(Clone, Debug)]
pub(crate) struct ApiKeys(Arc<Vault>);

impl ApiKeys {
    pub(crate) fn open(data_dir: &Path, choice: StoreChoice) -> Result<Self, EngineError> {
        Ok(Self(Arc::new(Vault::open_api_keys(data_dir, choice)?)))
    }

    pub(super) async fn set(&self, slug: Slug, value: Zeroizing<Vec<u8>>) -> Result<(), EngineError> {
        self.blocking(move |vault| vault.set(&slug, LABEL, &value).map(drop)).await
    }

    pub(super) async fn set_env(&self, slug: Slug, name: String) -> Result<(), EngineError> {
        self.blocking(move |vault| vault.set_env(&slug, LABEL, &name)).await
    }

    /// Removes the key of a source. Returns whether it had one.
    pub(crate) async fn remove(&self, slug: Slug) -> Result<bool, EngineError> {
        self.blocking(move |vault| match vault.remove(&slug, LABEL) {
            Ok(()) => Ok(true),
            Err(VaultError::Unknown { .. }) => Ok(false),
            Err(error) => Err(error),
        })
        .await
    }

    /// Returns the key of a source; `None` if it has none.
    pub(super) async fn get(&self, slug: Slug) -> Result<Option<Zeroizing<Vec<u8>>>, EngineError> {
        self.blocking(move |vault| match vault.get(&slug, LABEL) {
            Ok(value) => Ok(Some(value)),
            Err(VaultError::Unknown { .. }) => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    /// Returns the sources that have a key, each with the place where it is.
    pub(super) async fn places(&self) -> Result<BTreeMap<Slug, Location>, EngineError> {
        let entries = self.blocking(Vault::list).await?;
        Ok(entries.into_iter().map(|entry| (entry.source, entry.place)).collect())
    }

    /// Returns how many keys are kept in the private file, and where that is.
    pub(super) fn unencrypted(&self) -> Option<(usize, PathBuf)> {
        self.0.unencrypted().map(|(count, path)| (count, path.to_owned()))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Vault) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let vault = Arc::clone(&self.0);
        let task = tokio::task::spawn_blocking(move || work(&vault));
        Ok(task.await.map_err(|_| EngineError::Stopping)??)
    }
}
