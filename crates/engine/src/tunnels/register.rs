//! The tunnels that run in this process.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hookmitt_event::Slug;
use tokio::sync::{Notify, Semaphore, watch};

use super::running::Running;

/// How long to wait for a relay to learn that a device leaves, and for a tunnel's task to end.
pub(super) const PARTING: Duration = Duration::from_secs(3);

/// How many letters of all tunnels may be on their way into the inbox: a quarter of the writer's queue, so that capture
/// always finds room there.
const ROOM: usize = 1_024;

/// The tunnels that run in this process.
#[derive(Debug)]
pub(crate) struct Register {
    running: Mutex<HashMap<i64, Arc<Running>>>,
    /// Permits for letters on their way into the inbox.
    pub(super) room: Arc<Semaphore>,
    /// Notified when a tunnel's task has ended.
    pub(super) task_ended: Notify,
    /// Notified when a tunnel was removed from `running`.
    endings: watch::Sender<()>,
}

impl Register {
    pub(crate) fn new() -> Self {
        Self {
            running: Mutex::default(),
            room: Arc::new(Semaphore::new(ROOM)),
            task_ended: Notify::new(),
            endings: watch::Sender::default(),
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<i64, Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn one(&self, id: i64) -> Option<Arc<Running>> {
        self.all().get(&id).cloned()
    }

    /// Returns the URL for a source's provider, while a channel or a program serves that source here.
    pub(crate) fn public_url_of(&self, source: &Slug) -> Option<String> {
        let all = self.all();
        let serving = all.iter().filter(|(_, running)| running.serves().as_ref() == Some(source));
        serving.filter_map(|(id, running)| Some((*id, running.public_url()?))).min().map(|(_, url)| url)
    }

    pub(super) fn runs(&self, id: i64, running: Arc<Running>) {
        self.all().insert(id, running);
    }

    pub(super) fn ended(&self, id: i64) {
        self.all().remove(&id);
        self.endings.send_replace(());
    }

    /// Waits until a tunnel that is no longer wanted has ended here, so that nothing comes through it any more.
    pub(super) async fn until_ended(&self, id: i64) {
        let mut endings = self.endings.subscribe();
        let ended = endings.wait_for(|()| self.one(id).is_none());
        if tokio::time::timeout(PARTING * 3, ended).await.is_err() {
            tracing::warn!(tunnel = id, "a tunnel that was turned off hasn't stopped yet");
        }
    }
}
