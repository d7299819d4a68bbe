//! Sources, secrets and targets as they are set now, in memory so that capture reads neither files nor the keychain.

mod config;
mod named;
mod secret_store;

use std::sync::Arc;

use arc_swap::ArcSwap;
use hookmitt_event::{Slug, Target, TargetId};
use hookmitt_inbox::InboxError;
use hookmitt_keys::KeyStore;
use tokio::sync::{Mutex, watch};

pub use config::{Config, ConfiguredSource};
pub use named::NamedSource;
pub(crate) use secret_store::{Lent, SecretStore};

use crate::{Change, EngineError, base::Base, own_addresses::OwnAddresses};

/// The settings of a data directory. Code that changes them in the inbox must call [`reload`](Self::reload).
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) base: Arc<Base>,
    pub(crate) secrets: SecretStore,
    pub(crate) keys: KeyStore,
    /// The addresses at which this hookmitt itself can be reached.
    pub(crate) own: OwnAddresses,
    now: ArcSwap<Config>,
    reloading: Mutex<()>,
    reloads: watch::Sender<()>,
}

impl Settings {
    /// Creates settings that are empty until the first [`reload`](Self::reload).
    pub(crate) fn new(base: Arc<Base>, secrets: SecretStore, keys: KeyStore) -> Self {
        Self {
            base,
            secrets,
            keys,
            own: OwnAddresses::default(),
            now: ArcSwap::default(),
            reloading: Mutex::default(),
            reloads: watch::Sender::default(),
        }
    }

    /// Returns the present settings.
    pub(crate) fn now(&self) -> Arc<Config> {
        self.now.load_full()
    }

    /// Notifies of every reload.
    pub(crate) fn reloads(&self) -> watch::Receiver<()> {
        self.reloads.subscribe()
    }

    /// Returns a source with its secrets.
    ///
    /// # Errors
    /// Fails if the source is unknown.
    pub(crate) fn source(&self, slug: &Slug) -> Result<Arc<ConfiguredSource>, EngineError> {
        let known = self.now().sources.get(slug.as_str()).cloned();
        known.ok_or_else(|| self.unknown_source(slug))
    }

    /// Returns the sources whose events come through a tunnel: those that it names, else all.
    ///
    /// # Errors
    /// Fails if the tunnel is unknown, or if the inbox fails.
    pub(crate) async fn sources_through(
        &self,
        tunnel: i64,
    ) -> Result<Vec<Arc<ConfiguredSource>>, EngineError> {
        let kept = self.base.inbox.tunnel(tunnel).await?;
        let named: Vec<_> = kept.source.into_iter().chain(kept.sources).collect();
        let comes = |slug: &str| named.is_empty() || named.iter().any(|name| name == slug);
        Ok(self.now().sources.values().filter(|known| comes(known.source.slug.as_str())).cloned().collect())
    }

    /// Returns a target.
    ///
    /// # Errors
    /// Fails if the target is unknown.
    pub(crate) fn target(&self, id: TargetId) -> Result<Arc<Target>, EngineError> {
        let found = self.now().targets.get(&id).cloned();
        Ok(found.ok_or(InboxError::UnknownTarget(id.0))?)
    }

    /// Reads sources and targets again, and joins them with the secrets in memory.
    ///
    /// # Errors
    /// Fails if the inbox or the list of secrets can't be read.
    pub(crate) async fn reload(&self) -> Result<(), EngineError> {
        let _alone = self.reloading.lock().await;
        let inbox = &self.base.inbox;
        let version = inbox.config_version().await?;
        let config = self.secrets.config(inbox, version, &self.keys).await?;
        self.own.relays(inbox.tunnels().await?.iter());
        self.now.store(Arc::new(config));
        self.reloads.send_replace(());
        self.base.announce(Change::Config);
        Ok(())
    }
}
