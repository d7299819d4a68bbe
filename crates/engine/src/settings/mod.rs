//! Sources, secrets and targets as they are set now: in memory, so that capture reads neither file nor keychain.

mod config;
mod secret_store;

use std::sync::Arc;

use arc_swap::ArcSwap;
use hookmitt_event::{Slug, Target, TargetId};
use hookmitt_inbox::{InboxError, SourceSettings};
use hookmitt_keys::KeyStore;
use tokio::sync::{Mutex, watch};

pub use config::{Config, ConfiguredSource};
pub(crate) use secret_store::{Lent, SecretStore};

use crate::{Change, EngineError, base::Base, own_addresses::OwnAddresses};

/// The settings of a data directory. Whoever changes them in the inbox has them [`reload`](Self::reload)ed.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) base: Arc<Base>,
    pub(crate) secrets: SecretStore,
    pub(crate) keys: KeyStore,
    /// Where this hookmitt can be reached itself.
    pub(crate) own: OwnAddresses,
    now: ArcSwap<Config>,
    reloading: Mutex<()>,
    reloads: watch::Sender<()>,
}

impl Settings {
    /// Empty until the first [`reload`](Self::reload).
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

    /// As they are now.
    pub(crate) fn now(&self) -> Arc<Config> {
        self.now.load_full()
    }

    /// Tells of every reload.
    pub(crate) fn reloads(&self) -> watch::Receiver<()> {
        self.reloads.subscribe()
    }

    /// A source with its secrets.
    ///
    /// # Errors
    /// An unknown source.
    pub(crate) fn source(&self, slug: &Slug) -> Result<Arc<ConfiguredSource>, EngineError> {
        let known = self.now().sources.get(slug.as_str()).cloned();
        Ok(known.ok_or_else(|| InboxError::UnknownSource(slug.to_string()))?)
    }

    /// A target.
    ///
    /// # Errors
    /// An unknown target.
    pub(crate) fn target(&self, id: TargetId) -> Result<Arc<Target>, EngineError> {
        let found = self.now().targets.get(&id).cloned();
        Ok(found.ok_or(InboxError::UnknownTarget(id.0))?)
    }

    /// Reads sources, secrets and targets anew.
    ///
    /// # Errors
    /// Whatever the inbox says.
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

    /// Makes a source of that name where there is none.
    ///
    /// # Errors
    /// Whatever the inbox says.
    pub(crate) async fn ensure_source(&self, slug: &Slug) -> Result<(), EngineError> {
        if self.now().sources.contains_key(slug.as_str()) {
            return Ok(());
        }
        let settings = SourceSettings::default();
        match self.base.inbox.add_source(slug.clone(), settings, false, self.base.now()).await {
            Ok(_) | Err(InboxError::SourceExists(_)) => self.reload().await, // another process was quicker
            Err(error) => Err(error.into()),
        }
    }
}
