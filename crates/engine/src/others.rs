//! What other processes change in the same inbox.

use std::sync::Arc;

use crate::{Engine, EngineError};

impl Engine {
    /// Watches what other processes change in the same inbox: their settings take effect here, and their events are
    /// shown and, if this process delivers, sent.
    pub(crate) fn watch_others(self: &Arc<Self>) {
        let (engine, stop) = (Arc::downgrade(self), self.stopping());
        let others = self.base.inbox.others();
        self.base.tasks.keep_going("watching other processes", move || {
            let (engine, stop, mut others) = (engine.clone(), stop.clone(), others.clone());
            async move {
                while let Some(Ok(())) = stop.run_until_cancelled(others.changed()).await {
                    let Some(engine) = engine.upgrade() else { return };
                    if let Err(error) = engine.catch_up().await {
                        tracing::warn!(%error, "can't see changes made by other processes");
                    }
                }
            }
        });
    }

    async fn catch_up(&self) -> Result<(), EngineError> {
        let Self { base, settings, verdicts, .. } = self;
        let before = settings.now();
        if base.inbox.config_version().await? != before.version {
            settings.secrets.read_again().await;
            settings.reload().await?;
            // Events that came in between were judged without the secrets that another process has set.
            for source in settings.now().sources_with_other_secrets(&before) {
                verdicts.rejudge(&source).await?;
            }
        }
        self.announce_stored().await?;
        self.jobs.look().await?;
        // Every waiting target is woken, because a target may never have had an event from this process.
        for target in base.inbox.waiting().await? {
            self.bells.wake(target);
        }
        Ok(())
    }
}
