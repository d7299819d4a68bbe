//! The secrets of one data directory.

use std::{env, ffi::OsString, fmt, path::Path, str::FromStr, time::Duration};

use hookmitt_event::{Slug, Timestamp};
use zeroize::Zeroizing;

use crate::{
    Entry, Location, Problem, VaultError,
    file::FileStore,
    index::Index,
    keychain::Keychain,
    private::{at, create_dir},
};

/// How long reading all secrets waits for the keychain.
const START: Duration = Duration::from_secs(5);

/// How long a change waits for the keychain, because a person may be typing its password.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where new secrets may be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreChoice {
    /// In the keychain, or in the private file if there is no keychain at all.
    #[default]
    Auto,
    /// In the private file. The keychain is never used.
    File,
    /// Only in the keychain.
    Keychain,
}

impl StoreChoice {
    /// Reads the choice from `HOOKMITT_KEYRING`: `off` or `file` for the file, `required` for the keychain, `auto` or
    /// nothing for [`Auto`](Self::Auto).
    ///
    /// # Errors
    /// Fails with [`VaultError::Choice`] for any other value.
    pub fn from_env() -> Result<Self, VaultError> {
        env::var_os("HOOKMITT_KEYRING").unwrap_or_default().to_string_lossy().parse()
    }
}

impl FromStr for StoreChoice {
    type Err = VaultError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "" | "auto" => Ok(Self::Auto),
            "off" | "file" => Ok(Self::File),
            "required" => Ok(Self::Keychain),
            other => Err(VaultError::Choice(other.to_owned())),
        }
    }
}

/// A secret with its value. The value is never printed, and is overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// The source to which the secret belongs.
    pub source: Slug,
    /// The label that distinguishes the secret from others of its source.
    pub label: String,
    /// The value's bytes.
    pub value: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Secret({}/{:?}, {} bytes)", self.source, self.label, self.value.len())
    }
}

/// The secrets of one data directory. Every method blocks; several processes may use the directory at once.
pub struct Vault {
    choice: StoreChoice,
    index: Index,
    file: FileStore,
    keychain: Keychain,
}

impl fmt::Debug for Vault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Vault({:?}, {})", self.choice, self.file.path.display())
    }
}

impl Vault {
    /// Opens the secrets of a data directory, and makes the directory (0700) if it does not exist. This is quick,
    /// because the keychain is not used before it is needed.
    ///
    /// # Errors
    /// Fails with [`VaultError::File`] if the directory cannot be made or read.
    pub fn open(directory: &Path, choice: StoreChoice) -> Result<Self, VaultError> {
        Self::named("secrets", directory, choice)
    }

    /// Opens the API keys of a data directory, which are kept apart from the signing secrets: in files and under names of
    /// their own.
    ///
    /// # Errors
    /// Fails like [`open`](Self::open).
    pub fn open_api_keys(directory: &Path, choice: StoreChoice) -> Result<Self, VaultError> {
        Self::named("api-keys", directory, choice)
    }

    fn named(name: &str, directory: &Path, choice: StoreChoice) -> Result<Self, VaultError> {
        create_dir(directory)?;
        directory.read_dir().map_err(at(directory))?;
        let (index, file) = (Index::new(directory, name), FileStore::new(directory, name));
        Ok(Self { choice, index, file, keychain: Keychain::default() })
    }

    /// Returns how many secrets are stored unencrypted, and in which file. `None` if there are none.
    pub fn unencrypted(&self) -> Option<(usize, &Path)> {
        let entries = self.index.entries().ok()?;
        let kept = entries.iter().filter(|entry| entry.place == Location::File).count();
        (kept > 0).then_some((kept, &self.file.path))
    }

    /// Returns every secret without its value, in the order in which they were first set. Needs no keychain.
    ///
    /// # Errors
    /// Fails with [`VaultError::File`] or [`VaultError::Damaged`] if the index cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, VaultError> {
        self.index.entries()
    }

    /// Stores a secret, in place of any with the same source and label, and returns where it was stored. Waits up to a
    /// minute for a keychain that asks for its password.
    ///
    /// # Errors
    /// Fails with [`VaultError::Locked`] or [`VaultError::Slow`] if the keychain does not give access; the secret is
    /// not stored in the file instead. The other errors mean what their names say.
    pub fn set(&self, source: &Slug, label: &str, value: &[u8]) -> Result<Location, VaultError> {
        check_label(label)?;
        if value.is_empty() {
            return Err(VaultError::Empty);
        }
        let place = self.keep(source, label, value)?;
        self.enter(source, label, place.clone())?;
        Ok(place)
    }

    /// Registers a secret that is read from an environment variable at each start. Only the variable's name is stored.
    ///
    /// # Errors
    /// Fails with [`VaultError::Variable`] if the name cannot be a variable's or may be the secret itself, with
    /// [`VaultError::Label`] if the label is not valid, and with [`VaultError::File`] if the index cannot be written.
    pub fn set_env(&self, source: &Slug, label: &str, name: &str) -> Result<(), VaultError> {
        check_label(label)?;
        // If no variable has this name and it does not look like a name, it may be the secret itself and must not be
        // stored.
        let is_there = can_be_variable(name) && env::var_os(name).is_some();
        if !is_there && !looks_like_variable(name) {
            return Err(VaultError::Variable);
        }
        self.enter(source, label, Location::Env(name.to_owned()))
    }

    /// Removes a secret with its value.
    ///
    /// # Errors
    /// Fails with [`VaultError::Unknown`] if there is no such secret. Fails with [`VaultError::Locked`],
    /// [`VaultError::Slow`] or [`VaultError::Forbidden`] if its value cannot be removed from the keychain; the secret
    /// stays listed then.
    pub fn remove(&self, source: &Slug, label: &str) -> Result<(), VaultError> {
        let entry = self.index.entries()?.into_iter().find(|entry| entry.is(source, label));
        let unknown = || VaultError::Unknown { source_name: source.clone(), label: label.to_owned() };
        let place = entry.ok_or_else(unknown)?.place;
        match self.drop_value(source, label, &place) {
            // If the keychain is gone, the value is gone with it.
            Ok(()) | Err(VaultError::NoKeychain(_)) => self.index.remove(source, label),
            Err(error) => Err(error),
        }
    }

    /// Returns every secret that can be read, and why the others cannot be read. Waits at most five seconds for the
    /// keychain. Call it again when the keychain may have been unlocked.
    pub fn read_all(&self) -> (Vec<Secret>, Vec<Problem>) {
        let (mut secrets, mut problems) = (Vec::new(), Vec::new());
        let entries = match self.index.entries() {
            Ok(entries) => entries,
            Err(error) => return (secrets, vec![Problem { secret: None, error }]),
        };
        let mut from_keychain = self.read_keychain(&entries).into_iter();
        for entry in entries {
            let value = self.value_of(&entry, &mut from_keychain);
            let Entry { source, label, .. } = entry;
            match value {
                Ok(value) => secrets.push(Secret { source, label, value }),
                Err(error) => problems.push(Problem { secret: Some((source, label)), error }),
            }
        }
        (secrets, problems)
    }

    /// Returns one secret. Waits at most five seconds for the keychain.
    ///
    /// # Errors
    /// Fails with [`VaultError::Unknown`] if there is no such secret, and if it can't be read.
    pub fn get(&self, source: &Slug, label: &str) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let entry = self.index.entries()?.into_iter().find(|entry| entry.is(source, label));
        let unknown = || VaultError::Unknown { source_name: source.clone(), label: label.to_owned() };
        let entry = entry.ok_or_else(unknown)?;
        self.value_of(&entry, &mut self.read_keychain(std::slice::from_ref(&entry)).into_iter())
    }

    /// Returns the value of a secret; `from_keychain` holds the values from there, in order.
    fn value_of(
        &self,
        entry: &Entry,
        from_keychain: &mut impl Iterator<Item = Result<Zeroizing<Vec<u8>>, VaultError>>,
    ) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        match &entry.place {
            Location::Keychain => from_keychain.next().unwrap_or(Err(VaultError::Missing("keychain"))),
            Location::File if self.choice == StoreChoice::Keychain => Err(VaultError::Forbidden("file")),
            Location::File => self.file.get(&entry.source, &entry.label),
            Location::Env(name) => variable(name),
        }
    }

    fn read_keychain(&self, entries: &[Entry]) -> Vec<Result<Zeroizing<Vec<u8>>, VaultError>> {
        let kept: Vec<_> = entries.iter().filter(|entry| entry.place == Location::Keychain).collect();
        if kept.is_empty() {
            return Vec::new();
        }
        if self.choice == StoreChoice::File {
            return kept.iter().map(|_| Err(VaultError::Forbidden("keychain"))).collect();
        }
        let names: Result<Vec<_>, _> =
            kept.iter().map(|entry| self.name(&entry.source, &entry.label)).collect();
        match names {
            Ok(names) => self.keychain.read(names, START),
            Err(error) => kept.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    fn keep(&self, source: &Slug, label: &str, value: &[u8]) -> Result<Location, VaultError> {
        if self.choice != StoreChoice::File {
            match self.keychain.set(self.name(source, label)?, Zeroizing::new(value.to_owned()), PATIENCE) {
                Ok(()) => return Ok(Location::Keychain),
                Err(VaultError::NoKeychain(reason)) if self.choice == StoreChoice::Auto => {
                    // Not a warning: `unencrypted` tells of it, for as long as it is so.
                    tracing::info!(%reason, "there is no keychain: the secret is stored in a private file");
                }
                Err(error) => return Err(error),
            }
        }
        self.file.set(source, label, value)?;
        Ok(Location::File)
    }

    /// Writes to the index where the value is. If this replaces a value in another place, removes that value.
    fn enter(&self, source: &Slug, label: &str, place: Location) -> Result<(), VaultError> {
        let created_at = Timestamp::now();
        let new = Entry { source: source.clone(), label: label.to_owned(), place: place.clone(), created_at };
        let old = self.index.put(new)?.map(|entry| entry.place);
        if let Some(old) = old.filter(|old| *old != place)
            && let Err(error) = self.drop_value(source, label, &old)
        {
            tracing::warn!(%error, %source, label, "the secret's old value could not be removed");
        }
        Ok(())
    }

    fn drop_value(&self, source: &Slug, label: &str, place: &Location) -> Result<(), VaultError> {
        match place {
            Location::Keychain if self.choice == StoreChoice::File => Err(VaultError::Forbidden("keychain")),
            Location::Keychain => self.keychain.remove(self.name(source, label)?, PATIENCE),
            Location::File => self.file.remove(source, label),
            Location::Env(_) => Ok(()),
        }
    }

    /// Returns the name of a secret in the keychain. The names are unique, because no slug contains a slash.
    fn name(&self, source: &Slug, label: &str) -> Result<String, VaultError> {
        Ok(format!("{}/{source}/{label}", self.index.instance()?))
    }
}

fn can_be_variable(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(fits) && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// Returns whether a name is written in the way of environment variables, in capitals.
///
/// A name that is not, or has many digits, may be a secret that somebody gave instead of the variable's name. Such a
/// name is neither stored nor repeated.
pub fn looks_like_variable(name: &str) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    can_be_variable(name)
        && !name.bytes().any(|byte| byte.is_ascii_lowercase())
        && name.len() <= 64
        && digits <= 4
}

fn check_label(label: &str) -> Result<(), VaultError> {
    let fits = (1..=100).contains(&label.chars().count()) && !label.chars().any(char::is_control);
    if fits { Ok(()) } else { Err(VaultError::Label(label.to_owned())) }
}

/// Returns the bytes of an environment variable unchanged. On Windows, where variables are UTF-16, returns them as
/// UTF-8.
fn variable(name: &str) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    let value = env::var_os(name).and_then(bytes).map(Zeroizing::new).filter(|value| !value.is_empty());
    value.ok_or_else(|| VaultError::NoVariable(name.to_owned()))
}

#[cfg(unix)]
fn bytes(value: OsString) -> Option<Vec<u8>> {
    Some(std::os::unix::ffi::OsStringExt::into_vec(value))
}

#[cfg(not(unix))]
fn bytes(value: OsString) -> Option<Vec<u8>> {
    value.into_string().ok().map(String::into_bytes)
}
