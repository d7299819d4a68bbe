//! Where a relay keeps its mailboxes.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use hookmitt_event::Plain;
use hookmitt_mailbox::{NatsMailbox, NatsOptions, SqliteMailbox};

use crate::failure::CliError;

/// A store as it is typed.
#[derive(Clone, Debug)]
pub(crate) enum StoreName {
    /// One SQLite file: `sqlite:PATH`.
    Sqlite(PathBuf),
    /// A NATS cluster: `nats://…`.
    Nats(String),
}

/// An open store.
pub(crate) enum Opened {
    /// One SQLite file.
    Sqlite(SqliteMailbox),
    /// A NATS cluster.
    Nats(NatsMailbox),
}

/// The file in the data directory, where no store was named.
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
    /// As [`open`](Self::open), where a relay made that store before: one made by a typo would know of nothing.
    pub(crate) async fn open_made(named: Option<&Self>, data_dir: &Path) -> Result<Opened, CliError> {
        let file = match named {
            Some(Self::Sqlite(path)) => Some(path.clone()),
            None => Some(data_dir.join(USUAL)),
            Some(Self::Nats(_)) => None,
        };
        match file {
            Some(file) if !file.try_exists().unwrap_or(true) => Err(none_at(&file)),
            _ => Self::open(named, data_dir).await,
        }
    }

    /// Opens the named store, made where it is new, else the usual one.
    pub(crate) async fn open(named: Option<&Self>, data_dir: &Path) -> Result<Opened, CliError> {
        let opened = match named {
            Some(Self::Sqlite(path)) => SqliteMailbox::open(path).map(Opened::Sqlite),
            None => SqliteMailbox::open(&data_dir.join(USUAL)).map(Opened::Sqlite),
            Some(Self::Nats(url)) => match NatsOptions::from_url(url) {
                Ok(options) => NatsMailbox::open(&options).await.map(Opened::Nats),
                Err(error) => return Err(CliError::explained(&error)),
            },
        };
        opened.map_err(|error| CliError::unreached(&error))
    }
}

fn none_at(file: &Path) -> CliError {
    let hint = "name the relay's own with --store sqlite:PATH, or its folder with --data-dir; `hookmitt relay token create` makes a new one";
    CliError::Unreached {
        code: "no-store",
        message: format!("no store is at {}", Plain(&file.to_string_lossy())),
        hint: Some(hint.to_owned()),
    }
}
