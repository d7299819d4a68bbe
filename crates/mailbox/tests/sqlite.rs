//! The SQLite store keeps the contract. It also behaves as promised when it is killed, when its disk is full, when a
//! letter can't be stored, and when other processes use its file.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

mod contract;
mod sqlite {
    mod beside;
    mod child;
    mod earlier;
    mod full_disk;
    mod killed;
    mod log;
    mod neighbours;
}

use std::{path::PathBuf, sync::Arc};

use hookmitt_clock::HandClock;
use hookmitt_mailbox::SqliteMailbox;
use tempfile::TempDir;

use self::contract::Maker;

/// A file in a folder of its own, and a clock.
struct Files(TempDir, HandClock);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap(), contract::clock())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("relay.db")
    }
}

impl Maker for Files {
    type Store = SqliteMailbox;

    fn clock(&self) -> &HandClock {
        &self.1
    }

    async fn open(&self) -> SqliteMailbox {
        SqliteMailbox::open(&self.path(), Arc::new(self.1.clone())).unwrap()
    }
}

contract!(Some(Files::new()));
