//! Stores the keys of tunnels, in a vault of their own: no list of secrets shows them, and no verification tries them.

use std::path::{Path, PathBuf};

use hookmitt_event::Slug;
use hookmitt_vault::{StoreChoice, Vault, VaultError};
use zeroize::Zeroizing;

use crate::EngineError;

/// The label of the keys in the vault.
const LABEL: &str = "keys";

/// The keys of a device in a tunnel.
#[derive(Clone)]
pub(crate) struct DeviceKeys {
    /// The seed of the device's Ed25519 key.
    pub(crate) device: Zeroizing<[u8; 32]>,
    /// The tunnel's X25519 secrets, newest first; at least one.
    pub(crate) sealing: Vec<Zeroizing<[u8; 32]>>,
    /// The device that opened the tunnel, if that is known.
    pub(crate) owner: Option<[u8; 32]>,
    /// Devices that were invited, as far as the owner knows.
    pub(crate) members: Vec<[u8; 32]>,
}

/// The version of the stored form. The form before it had no version byte: the device's key and one sealing key, 64
/// bytes.
const VERSION: u8 = 2;

impl DeviceKeys {
    fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![VERSION]);
        bytes.extend_from_slice(&*self.device);
        for keys in
            [&self.sealing.iter().map(|key| **key).collect(), &Vec::from_iter(self.owner), &self.members]
        {
            bytes.push(u8::try_from(keys.len()).unwrap_or(u8::MAX));
            keys.iter().take(usize::from(u8::MAX)).for_each(|key| bytes.extend_from_slice(key));
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if let Some((device, sealing)) = bytes.split_first_chunk::<32>()
            && let Ok(sealing) = <[u8; 32]>::try_from(sealing)
        {
            let (device, sealing) = (Zeroizing::new(*device), vec![Zeroizing::new(sealing)]);
            return Some(Self { device, sealing, owner: None, members: Vec::new() });
        }
        let (device, rest) = bytes.strip_prefix(&[VERSION])?.split_first_chunk::<32>()?;
        let (sealing, rest) = keys(rest)?;
        let (owner, rest) = keys(rest)?;
        let (members, []) = keys(rest)? else { return None };
        let sealing: Vec<_> = sealing.iter().copied().map(Zeroizing::new).collect();
        let owner = owner.first().copied();
        (!sealing.is_empty()).then(|| Self {
            device: Zeroizing::new(*device),
            sealing,
            owner,
            members: members.to_vec(),
        })
    }
}

/// Parses a count and that many keys. Returns them, and the bytes after them.
fn keys(bytes: &[u8]) -> Option<(&[[u8; 32]], &[u8])> {
    let (&count, rest) = bytes.split_first()?;
    let (keys, rest) = rest.split_at_checked(usize::from(count) * 32)?;
    Some((keys.as_chunks().0, rest))
}

/// The vault of the tunnels' keys. It is created with the first keys.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    directory: PathBuf,
    choice: StoreChoice,
}

impl Keys {
    pub(crate) fn new(data_dir: &Path, choice: StoreChoice) -> Self {
        Self { directory: data_dir.join("tunnels"), choice }
    }

    /// Returns a new name under which a tunnel's keys are stored.
    pub(crate) fn fresh_name() -> String {
        format!("tunnel-{}", hex::encode(rand::random::<[u8; 8]>()))
    }

    /// Stores the keys of a tunnel.
    pub(crate) async fn keep(&self, name: &str, keys: &DeviceKeys) -> Result<(), EngineError> {
        let bytes = keys.to_bytes();
        let name: Slug = name.parse()?;
        self.blocking(move |vault| vault.set(&name, LABEL, &bytes).map(drop)).await
    }

    /// Reads the keys of a tunnel.
    pub(crate) async fn read(&self, name: &str) -> Result<DeviceKeys, EngineError> {
        let name: Slug = name.parse()?;
        self.blocking(move |vault| {
            let (secrets, problems) = vault.read_all();
            let found = secrets.into_iter().find(|secret| secret.source == name);
            if let Some(keys) = found.as_ref().and_then(|secret| DeviceKeys::from_bytes(&secret.value)) {
                return Ok(keys);
            }
            let about = |of: &Option<(Slug, String)>| of.as_ref().is_none_or(|(of, _)| *of == name);
            let problem = problems.into_iter().find(|problem| about(&problem.secret));
            Err(problem.map_or(VaultError::Missing("vault"), |problem| problem.error))
        })
        .await
    }

    /// Deletes the keys of a tunnel.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), EngineError> {
        let name: Slug = name.parse()?;
        self.blocking(move |vault| vault.remove(&name, LABEL)).await
    }

    /// Returns how many tunnels have their keys in the private file, and where that is.
    pub(crate) fn unencrypted(&self) -> Option<(usize, PathBuf)> {
        if !self.directory.is_dir() {
            return None;
        }
        let vault = Vault::open(&self.directory, self.choice).ok()?;
        vault.unencrypted().map(|(count, path)| (count, path.to_owned()))
    }

    /// Runs something that may wait for the keychain on a thread that may block.
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

    #[test]
    fn keys_of_an_earlier_version_are_read_and_damaged_ones_are_not() {
        let old = [[1; 32], [2; 32]].concat();
        let read = DeviceKeys::from_bytes(&old).unwrap();
        assert_eq!((*read.device, *read.sealing[0], read.owner), ([1; 32], [2; 32], None));
        let new = read.to_bytes();
        assert!(DeviceKeys::from_bytes(&new).is_some());
        assert!(
            (0..new.len()).filter(|cut| *cut != 64).all(|cut| DeviceKeys::from_bytes(&new[..cut]).is_none())
        );
        assert!(DeviceKeys::from_bytes(&[&new[..], &[0]].concat()).is_none());
    }

    #[tokio::test]
    async fn keys_come_back_as_they_were_and_are_gone_when_removed() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::new(folder.path(), StoreChoice::File);
        assert!(!folder.path().join("tunnels").exists(), "nothing is made before it is needed");
        let name = Keys::fresh_name();
        for (owner, members) in [(None, vec![]), (Some([4; 32]), vec![[5; 32], [6; 32]])] {
            let sealing = vec![Zeroizing::new([2; 32]), Zeroizing::new([3; 32])];
            let all = DeviceKeys { device: Zeroizing::new([1; 32]), sealing, owner, members };
            keys.keep(&name, &all).await.unwrap();
            let read = keys.read(&name).await.unwrap();
            assert_eq!((read.device, read.sealing), (all.device, all.sealing));
            assert_eq!((read.owner, read.members), (all.owner, all.members));
        }
        assert!(keys.read(&Keys::fresh_name()).await.is_err());
        assert_eq!(keys.unencrypted().unwrap().0, 1, "a file is no keychain, and that is said");
        keys.remove(&name).await.unwrap();
        assert!(keys.read(&name).await.is_err());
    }
}
