//! The keys of tunnels, in a vault of their own: no list of secrets shows them, no verification tries them.

use std::path::{Path, PathBuf};

use hookmitt_event::Slug;
use hookmitt_vault::{StoreChoice, Vault, VaultError};
use zeroize::Zeroizing;

use crate::EngineError;

/// What they are called beneath the tunnel's name.
const LABEL: &str = "keys";

/// The two keys of a device in a tunnel.
#[derive(Clone)]
pub(crate) struct DeviceKeys {
    /// The seed of its Ed25519 key.
    pub(crate) device: Zeroizing<[u8; 32]>,
    /// The tunnel's X25519 secret.
    pub(crate) sealing: Zeroizing<[u8; 32]>,
}

/// Where they are kept. Nothing is made before the first of them.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    directory: PathBuf,
    choice: StoreChoice,
}

impl Keys {
    pub(crate) fn new(data_dir: &Path, choice: StoreChoice) -> Self {
        Self { directory: data_dir.join("tunnels"), choice }
    }

    /// What a new tunnel's keys go by.
    pub(crate) fn fresh_name() -> String {
        format!("tunnel-{}", hex::encode(rand::random::<[u8; 8]>()))
    }

    /// Keeps the keys of a tunnel.
    pub(crate) async fn keep(&self, name: &str, keys: &DeviceKeys) -> Result<(), EngineError> {
        let both = Zeroizing::new([*keys.device, *keys.sealing].concat());
        let name: Slug = name.parse()?;
        self.blocking(move |vault| vault.set(&name, LABEL, &both).map(drop)).await
    }

    /// The keys of a tunnel.
    pub(crate) async fn read(&self, name: &str) -> Result<DeviceKeys, EngineError> {
        let name: Slug = name.parse()?;
        self.blocking(move |vault| {
            let (secrets, problems) = vault.read_all();
            let found = secrets.into_iter().find(|secret| secret.source == name);
            let parts = found.as_ref().and_then(|secret| secret.value.split_first_chunk::<32>());
            if let Some((device, sealing)) = parts
                && let Ok(sealing) = sealing.try_into()
            {
                return Ok(DeviceKeys { device: Zeroizing::new(*device), sealing: Zeroizing::new(sealing) });
            }
            let about = |of: &Option<(Slug, String)>| of.as_ref().is_none_or(|(of, _)| *of == name);
            let problem = problems.into_iter().find(|problem| about(&problem.secret));
            Err(problem.map_or(VaultError::Missing("vault"), |problem| problem.error))
        })
        .await
    }

    /// Forgets the keys of a tunnel.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), EngineError> {
        let name: Slug = name.parse()?;
        self.blocking(move |vault| vault.remove(&name, LABEL)).await
    }

    /// What a person should know about how they are kept.
    pub(crate) fn warning(&self) -> Option<String> {
        if !self.directory.is_dir() {
            return None;
        }
        Vault::open(&self.directory, self.choice).ok()?.warning()
    }

    /// The keychain may let us wait.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Vault) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let Self { directory, choice } = self.clone();
        let task = tokio::task::spawn_blocking(move || work(&Vault::open(&directory, choice)?));
        Ok(task.await.map_err(|_| EngineError::Stopping)??)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keys_come_back_as_they_were_and_are_gone_when_removed() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::new(folder.path(), StoreChoice::File);
        assert!(!folder.path().join("tunnels").exists(), "nothing is made before it is needed");
        let name = Keys::fresh_name();
        let both = DeviceKeys { device: Zeroizing::new([1; 32]), sealing: Zeroizing::new([2; 32]) };
        keys.keep(&name, &both).await.unwrap();
        let read = keys.read(&name).await.unwrap();
        assert_eq!((*read.device, *read.sealing), ([1; 32], [2; 32]));
        assert!(keys.read(&Keys::fresh_name()).await.is_err());
        assert!(keys.warning().unwrap().contains("unencrypted"), "a file is no keychain, and that is said");
        keys.remove(&name).await.unwrap();
        assert!(keys.read(&name).await.is_err());
    }
}
