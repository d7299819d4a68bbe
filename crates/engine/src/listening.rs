//! A target, and perhaps a secret, for as long as a command runs.

use std::sync::Arc;

use hookmitt_event::{Slug, Source, TargetId, TargetKind};
use hookmitt_verify::Secret;
use tokio::runtime::Handle;
use zeroize::Zeroizing;

use crate::{Engine, EngineError, TargetChange};

/// What a command listens for.
pub struct ListenOrder {
    /// The source whose events are wanted; `None` for every source.
    pub source: Option<Slug>,
    /// Where they go.
    pub url: String,
    /// The provider of the source, or of each that is made meanwhile.
    pub provider: Option<String>,
    /// A secret of theirs, with its label; kept in memory only.
    pub secret: Option<(String, Zeroizing<Vec<u8>>)>,
}

/// What holds for sources while a command listens.
#[derive(Debug, Clone)]
pub(crate) struct Lent {
    pub(crate) target: TargetId,
    /// For this source, else for every source with a row above `after`.
    pub(crate) source: Option<Slug>,
    pub(crate) after: i64,
    pub(crate) provider: Option<String>,
    pub(crate) secret: Option<Secret>,
}

impl Lent {
    pub(crate) fn holds_for(&self, source: &Source) -> bool {
        match &self.source {
            Some(slug) => *slug == source.slug,
            None => source.row > self.after,
        }
    }
}

/// A running `listen`: dropped, its target ends.
#[derive(Debug)]
pub struct Listening {
    engine: Arc<Engine>,
    runtime: Handle,
    /// Its target.
    pub target: TargetId,
    /// The target's URL.
    pub url: String,
}

impl Listening {
    /// Adds the target and lends the secret.
    ///
    /// # Errors
    /// A URL that is none or our own, an unknown provider.
    pub async fn begin(engine: &Arc<Engine>, order: ListenOrder) -> Result<Self, EngineError> {
        if let Some(id) = &order.provider
            && hookmitt_verify::provider(id).is_none()
        {
            return Err(EngineError::UnknownProvider(id.clone()));
        }
        let url = engine.checked(&order.url).await?;
        let after = engine.config().sources.values().map(|known| known.source.row).max().unwrap_or(0);
        let change = TargetChange { url: Some(url.clone()), ..TargetChange::default() };
        let secret = order.secret.map(|(label, mut value)| Secret::new(label, std::mem::take(&mut *value)));
        let coming = engine.ownership().sessions.lock().await;
        let target = engine.add_target(order.source.clone(), change, TargetKind::Session).await?.id;
        engine.secrets.lend(Lent { target, source: order.source, after, provider: order.provider, secret });
        drop(coming);
        engine.reload().await?;
        Ok(Self { engine: Arc::clone(engine), runtime: Handle::current(), target, url })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let (engine, target) = (Arc::clone(&self.engine), self.target);
        engine.secrets.take_back(target);
        engine.tasks.clone().spawn_on(
            async move {
                if let Err(error) = engine.remove_target(target).await {
                    tracing::warn!(%error, "the target of a command that ended could not be removed");
                }
            },
            &self.runtime,
        );
    }
}
