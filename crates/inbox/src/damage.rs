//! Damage that SQLite finds in the file while it is open. From then on nothing is stored, and the next start recovers.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use crate::InboxError;

/// The file that says that a process found damage while it ran.
const MARK: &str = "inbox.damaged";

/// What damage was found in an inbox. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Damage {
    mark: Arc<Path>,
    found: Arc<OnceLock<String>>,
}

impl Damage {
    /// Makes the record for an inbox in which none was found yet.
    pub(crate) fn of(directory: &Path) -> Self {
        Self { mark: mark(directory).into(), found: Arc::default() }
    }

    /// Notes damage, if that is what a read, a write or opening failed with.
    pub(crate) fn note(&self, why: &InboxError) {
        let InboxError::Damaged(why) = why else { return };
        if self.found.set(why.clone()).is_err() {
            return;
        }
        tracing::error!(
            why,
            "the inbox is damaged: nothing is stored until hookmitt is started again and recovers it"
        );
        if let Err(error) = hookmitt_sqlite::private_file(&self.mark) {
            tracing::warn!(%error, "can't note that the inbox is damaged");
        }
    }

    /// Returns what was found.
    pub(crate) fn why(&self) -> Option<&str> {
        self.found.get().map(String::as_str)
    }
}

/// Returns the path of the mark of a data directory.
pub(crate) fn mark(directory: &Path) -> PathBuf {
    directory.join(MARK)
}
