//! The SQLite store keeps the contract, and is what it says when it is killed.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

mod contract;

use hookmitt_mailbox::SqliteMailbox;
use tempfile::TempDir;

use self::contract::Maker;

/// A file in a folder of its own.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl Maker for Files {
    type Store = SqliteMailbox;

    async fn open(&self) -> SqliteMailbox {
        SqliteMailbox::open(&self.0.path().join("relay.db")).unwrap()
    }
}

contract!(Files::new());
