//! What backup sync does by itself, in the background.

use std::sync::Arc;

use tokio::sync::watch;

use super::{away, people::Sync, schedule};

impl Sync {
    /// Syncs by itself whenever this process is the one that delivers.
    pub(crate) fn run(&self, owner: &watch::Receiver<bool>) {
        let (this, owned) = (self.clone(), owner.clone());
        let work = move || schedule::work(this.clone(), owned.clone());
        self.syncing.base().tasks.keep_going("backup sync", work);
        let this = self.clone();
        let watch = move || schedule::watch_for_gaps(this.clone());
        self.syncing.base().tasks.keep_going("watching for gaps", watch);
        let (settings, owner) = (Arc::clone(&self.syncing.settings), owner.clone());
        let note = move || away::work(Arc::clone(&settings), owner.clone());
        self.syncing.base().tasks.keep_going("noting until when events are caught", note);
    }
}
