//! Makes this process the one that delivers, now or later, until the stop.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    couriers,
    owner_lock::{OwnerLock, is_alive},
    sending::Sending,
};
use crate::{EngineError, verdicts::Verdicts};

/// How often a process checks whether it may take over.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How long a process that takes over waits for one whose lock file was replaced: longer than a sweep plus the attempts
/// that had begun by then.
const FORMER: Duration = Duration::from_secs(45);

/// Delivers what waits, while this process holds the lock of its data directory.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(super) sending: Arc<Sending>,
    verdicts: Arc<Verdicts>,
    lock: Arc<OwnerLock>,
    hindrance: Mutex<Option<String>>,
    /// Held while targets of `listen` commands are added or cleared away, so that our own are not taken for leftovers.
    pub(crate) sessions: tokio::sync::Mutex<()>,
}

impl Delivery {
    pub(crate) fn new(sending: Sending, verdicts: Arc<Verdicts>, lock: Arc<OwnerLock>) -> Self {
        let (hindrance, sessions) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { sending: Arc::new(sending), verdicts, lock, hindrance, sessions }
    }

    /// Takes the lock, now or as soon as it is free, and delivers from then on.
    pub(crate) async fn take(self: &Arc<Self>) {
        if !self.tries().await {
            self.seek();
        }
    }

    /// Returns what keeps this process from delivering, other than another process that delivers.
    pub(crate) fn hindrance(&self) -> Option<String> {
        self.hindrance.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tries to take the lock again and again in the background.
    fn seek(self: &Arc<Self>) {
        let this = Arc::clone(self);
        self.sending.base.tasks.spawn(async move {
            let stop = &this.sending.base.tasks.stop;
            while stop.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_some() {
                if this.tries().await {
                    return;
                }
            }
        });
    }

    /// Tries once. Logs a hindrance only when it is new.
    async fn tries(self: &Arc<Self>) -> bool {
        let tried = self.try_now().await;
        let mut hindrance = self.hindrance.lock().unwrap_or_else(PoisonError::into_inner);
        let now = tried.as_ref().err().map(ToString::to_string);
        match (&now, &*hindrance) {
            (Some(error), before) if before.as_ref() != Some(error) => {
                tracing::warn!(error, "can't take over the deliveries yet");
            }
            (None, Some(_)) => tracing::info!("this process can deliver again"),
            _ => {}
        }
        *hindrance = now;
        tried.unwrap_or(false)
    }

    /// Takes the lock if it is free. What another process left unfinished is settled first. Returns whether this call
    /// took it.
    pub(crate) async fn try_now(self: &Arc<Self>) -> Result<bool, EngineError> {
        if !self.lock.lock()? {
            return Ok(false);
        }
        if let Err(error) = self.clear_up().await {
            self.lock.give_up(); // or nobody would ever deliver
            return Err(error);
        }
        let this = Arc::clone(self);
        self.sending.base.tasks.keep_going("the deliveries", move || {
            let this = Arc::clone(&this);
            async move { this.deliver().await }
        });
        self.verdicts.settle_old_keys();
        self.lock.delivers();
        Ok(true)
    }

    async fn clear_up(&self) -> Result<(), EngineError> {
        let Sending { base, settings, .. } = &*self.sending;
        let lock = self.lock.name();
        self.await_former(&lock).await?;
        base.inbox.own(std::process::id(), lock).await?;
        let cut_off = base.inbox.settle_cut_off(None).await?;
        if cut_off > 0 {
            tracing::warn!(
                attempts = cut_off,
                "attempts were in progress when the last process ended: they may have arrived"
            );
        }
        base.inbox.stop_jobs().await?;
        let _alone = self.sessions.lock().await;
        let ours = settings.secrets.lent_targets();
        base.inbox.remove_session_targets(ours, base.now()).await?;
        settings.reload().await
    }

    /// Waits for a process that still delivers because its lock file was deleted or replaced; it notices that at its
    /// next sweep. If we have locked the file that the process had locked, it has ended.
    async fn await_former(&self, lock: &str) -> Result<(), EngineError> {
        let base = &self.sending.base;
        let Some(former) = base.inbox.former_owner().await? else { return Ok(()) };
        if former.lock == lock || former.pid == std::process::id() || !is_alive(former.pid) {
            return Ok(());
        }
        tracing::warn!(
            pid = former.pid,
            "the owner's lock was replaced while its process still delivers: waiting for that process"
        );
        let ends = async {
            while is_alive(former.pid) && base.inbox.former_owner().await?.is_some_and(|now| now == former) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            Ok(())
        };
        let waited = base.tasks.stop.run_until_cancelled(tokio::time::timeout(FORMER, ends)).await;
        match waited {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Ok(()), // the inbox refuses that process's claims from now on
            None => Err(EngineError::Stopping),
        }
    }

    /// Delivers until the stop. If the lock is lost, tries to take it again.
    async fn deliver(self: &Arc<Self>) {
        couriers::dispatch(&self.sending, &self.lock).await;
        let base = &self.sending.base;
        if !base.tasks.stop.is_cancelled() {
            if let Err(error) = base.inbox.disown().await {
                tracing::warn!(%error, "can't record that this process no longer delivers");
            }
            self.lock.give_up();
            self.seek();
        }
    }

    /// Stores how far the inbox's clock is, and lets another process deliver.
    pub(crate) async fn end(&self) {
        if *self.lock.watch().borrow()
            && let Err(error) = self.sending.base.inbox.keep_clock().await
        {
            tracing::warn!(%error, "can't store the inbox's clock");
        }
        self.lock.give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::super::owner_lock::FILE;
    use crate::begun::engine;

    #[tokio::test]
    async fn what_keeps_a_process_from_delivering_at_first_does_not_end_it() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let in_the_way = folder.path().join(FILE);
        std::fs::create_dir(&in_the_way).unwrap(); // any other hindrance would do
        engine.deliver().await;
        let mut owner = engine.owns_delivery();
        assert!(!*owner.borrow_and_update());
        let said = engine.warnings();
        assert!(
            said.iter().any(|said| said.starts_with("deliveries can't start yet: can't open")),
            "{said:?}"
        );
        std::fs::remove_dir(&in_the_way).unwrap();
        owner.wait_for(|owner| *owner).await.unwrap();
        assert!(engine.delivery.hindrance().is_none());
        engine.stop().await;
    }
}
