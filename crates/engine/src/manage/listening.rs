//! A target, and perhaps a secret, that last as long as a command runs.

use std::sync::Arc;

use hookmitt_event::{TargetId, TargetKind};
use hookmitt_verify::Secret;
use tokio::runtime::Handle;
use zeroize::Zeroizing;

use super::{TargetChange, Targets};
use crate::{
    EngineError,
    delivery::Delivery,
    settings::{Lent, NamedSource, Settings},
};

/// What a `listen` command asks for.
pub struct ListenRequest {
    /// The source whose events are wanted; `None` for every source.
    pub source: Option<NamedSource>,
    /// The URL to which the events go.
    pub url: String,
    /// The provider of the source, or of each source that is created while the command runs.
    pub provider: Option<String>,
    /// A secret for the same sources, with its label; held in memory only.
    pub secret: Option<(String, Zeroizing<Vec<u8>>)>,
}

/// Adds what `listen` commands ask for.
#[derive(Clone, Debug)]
pub struct Listeners {
    settings: Arc<Settings>,
    targets: Targets,
    delivery: Arc<Delivery>,
}

/// A running `listen` command. Dropping this removes its target.
#[derive(Debug)]
pub struct Listening {
    listeners: Listeners,
    runtime: Handle,
    /// Its target.
    pub target: TargetId,
    /// The target's URL.
    pub url: String,
}

impl Listeners {
    pub(crate) const fn new(settings: Arc<Settings>, targets: Targets, delivery: Arc<Delivery>) -> Self {
        Self { settings, targets, delivery }
    }

    /// Adds the target, and lends the provider and the secret to the sources.
    ///
    /// # Errors
    /// Fails if the URL can't be parsed or is our own, or if the provider or the source is unknown.
    pub async fn begin(&self, order: ListenRequest) -> Result<Listening, EngineError> {
        if let Some(id) = &order.provider
            && hookmitt_verify::provider(id).is_none()
        {
            return Err(EngineError::UnknownProvider(id.clone()));
        }
        let Self { settings, targets, delivery } = self;
        let url = targets.checked(&order.url).await?;
        let after = settings.now().sources.values().map(|known| known.source.row).max().unwrap_or(0);
        let change = TargetChange { url: Some(url.clone()), ..TargetChange::default() };
        let secret = order.secret.map(|(label, mut value)| Secret::new(label, std::mem::take(&mut *value)));
        let source = order.source.as_ref().map(|named| named.slug.clone());
        let coming = delivery.sessions.lock().await;
        let target = targets.add(order.source, change, TargetKind::Session).await?.id;
        settings.secrets.lend(Lent { target, source, after, provider: order.provider, secret });
        drop(coming);
        settings.reload().await?;
        Ok(Listening { listeners: self.clone(), runtime: Handle::current(), target, url })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let (target, Listeners { settings, targets, .. }) = (self.target, self.listeners.clone());
        settings.secrets.take_back(target);
        settings.base.tasks.spawn_on(
            async move {
                if let Err(error) = targets.remove(target).await {
                    tracing::warn!(%error, "the target of a finished command could not be removed");
                }
            },
            &self.runtime,
        );
    }
}
