//! A key store under test, with its clock, folder and task.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use hookmitt_event::Timestamp;
use hookmitt_keys::{KeyStore, Network};
use hookmitt_verify::{Published, PublishedKeys as _};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::server::HOST;

pub(crate) const KEY_URL: &str = "https://keys.example.test/key";

pub(crate) struct Desk {
    pub(crate) store: KeyStore,
    pub(crate) folder: TempDir,
    seconds: Arc<AtomicI64>,
    _fetching: JoinSet<()>,
}

impl Desk {
    pub(crate) fn new(network: Network) -> Self {
        Self::in_folder(network, tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn in_folder(network: Network, folder: TempDir) -> Self {
        let seconds = Arc::new(AtomicI64::new(1_750_000_000));
        let clock = seconds.clone();
        let clock = Arc::new(move || Timestamp::from_seconds(clock.load(Ordering::SeqCst)));
        let (store, fetching) = KeyStore::open(folder.path(), vec![HOST.to_owned()], network, clock);
        let mut tasks = JoinSet::new();
        tasks.spawn(fetching.run(CancellationToken::new()));
        Self { store, folder, seconds, _fetching: tasks }
    }

    /// Lets time pass for the store.
    pub(crate) fn pass(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Wants a key, and returns what is known once it was fetched or could not be.
    pub(crate) async fn want(&self, url: &str, kid: Option<&str>) -> Published {
        let mut changes = self.store.changes();
        self.store.want(url, kid);
        loop {
            let change = tokio::time::timeout(Duration::from_secs(60), changes.changed()).await;
            change.expect("an end of the fetch").expect("a task that fetches");
            let found = self.store.find(url, kid);
            if found != Published::Awaited {
                return found;
            }
        }
    }

    /// Returns the reason why a key is not available.
    pub(crate) async fn refusal(&self, url: &str) -> String {
        match self.want(url, None).await {
            Published::Unavailable(reason) => reason,
            other => panic!("{other:?}"),
        }
    }
}
