//! Where a relay keeps its mailboxes.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use hookmitt_clock::MachineClock;
use hookmitt_event::Plain;
use hookmitt_mailbox::{NatsMailbox, NatsOptions, SqliteMailbox};

use crate::failure::CliError;

/// The name of a store, as a flag or the environment variable gives it.
#[derive(Clone, Debug)]
pub(crate) enum StoreName {
    /// One SQLite file: `sqlite:PATH`.
    Sqlite(PathBuf),
    /// A NATS cluster: `nats://…` or `tls://…`.
    Nats(String),
}

/// An open store.
pub(crate) enum Opened {
    /// An SQLite file.
    Sqlite(SqliteMailbox),
    /// A NATS cluster.
    Nats(NatsMailbox),
}

/// The environment variable that names the store if no flag does. Other users can't read it, so it may hold a password.
const VARIABLE: &str = "HOOKMITT_RELAY_STORE";

/// The name of the file in the data directory that is used if no store was named.
const USUAL: &str = "relay.db";

impl FromStr for StoreName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with("nats://") || text.starts_with("tls://") {
            return Ok(Self::Nats(text.to_owned()));
        }
        match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            _ => Err("not a store: write sqlite:PATH or nats://HOST:PORT".to_owned()),
        }
    }
}

impl StoreName {
    /// Like [`open`](Self::open), but fails if a SQLite file doesn't exist: a new store, made because of a typing
    /// error, would be empty. A NATS store is made if it is new.
    pub(crate) async fn open_made(given: Option<&Self>, data_dir: &Path) -> Result<Opened, CliError> {
        match Self::named(given, data_dir)? {
            Self::Sqlite(file) if !file.try_exists().unwrap_or(true) => Err(none_at(&file)),
            named => named.connect().await,
        }
    }

    /// Opens the named store, and makes it if it is new. Without a name, opens the usual store.
    pub(crate) async fn open(given: Option<&Self>, data_dir: &Path) -> Result<Opened, CliError> {
        Self::named(given, data_dir)?.connect().await
    }

    /// Returns the store that the flag names, else the environment variable, else the one in the data directory.
    fn named(given: Option<&Self>, data_dir: &Path) -> Result<Self, CliError> {
        if let Some(given) = given {
            return given.clone().without_password();
        }
        match std::env::var(VARIABLE).ok().filter(|named| !named.is_empty()) {
            Some(named) => named.parse().map_err(|why: String| {
                let hint = format!("correct the environment variable {VARIABLE}");
                CliError::bad_input_with("bad-store", format!("{VARIABLE} is {why}"), hint)
            }),
            None => Ok(Self::Sqlite(data_dir.join(USUAL))),
        }
    }

    /// Returns the name, or fails if it contains a password: in an argument, a password would be visible in the process
    /// list.
    fn without_password(self) -> Result<Self, CliError> {
        match &self {
            Self::Nats(url) if url.split('?').next().unwrap_or_default().contains('@') => {
                let message = "everyone on this machine can read a password in --store, in the process list";
                let hint = format!(
                    "put the whole URL into the environment variable {VARIABLE} instead, or use ?credentials=FILE"
                );
                Err(CliError::bad_input_with("password-in-argument", message, hint))
            }
            _ => Ok(self),
        }
    }

    async fn connect(&self) -> Result<Opened, CliError> {
        let opened = match self {
            Self::Sqlite(path) => SqliteMailbox::open(path, Arc::new(MachineClock)).map(Opened::Sqlite),
            Self::Nats(url) => match NatsOptions::from_url(url) {
                Ok(options) => NatsMailbox::open(&options, Arc::new(MachineClock)).await.map(Opened::Nats),
                Err(error) => return Err(CliError::explained(&error)),
            },
        };
        opened.map_err(|error| CliError::unreached(&error))
    }
}

fn none_at(file: &Path) -> CliError {
    let hint = "name the relay's store with --store sqlite:PATH, or its folder with --data-dir; `hookmitt relay \
                token create` creates a new one";
    CliError::Unreached {
        code: "no-store",
        message: format!("there is no store at {}", Plain(&file.to_string_lossy())),
        hint: Some(hint.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promise_7_a_password_is_no_argument() {
        for url in ["nats://me:planted@a:4222", "nats://planted@a", "nats://a,nats://me:planted@b?replicas=1"]
        {
            let refused = StoreName::named(Some(&url.parse().unwrap()), Path::new("d")).unwrap_err();
            assert_eq!(refused.code(), "password-in-argument");
            let said = format!("{refused} {:?}", refused.hint());
            assert!(said.contains(VARIABLE) && !said.contains("planted"), "{said}");
        }
        for url in ["nats://a:4222,b?credentials=/home/me@work/file", "sqlite:/srv/me@work/relay.db"] {
            assert!(StoreName::named(Some(&url.parse().unwrap()), Path::new("d")).is_ok(), "{url}");
        }
    }
}
