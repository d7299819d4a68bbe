//! A source's secrets as they are kept, listed and removed.

use std::sync::Arc;

use hookmitt_event::Slug;
use hookmitt_vault::Location;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::{EngineError, settings::Settings, verdicts::Verdicts};

/// A secret as it is listed, without its value.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct SecretEntry {
    /// The source that it belongs to.
    pub source: Slug,
    /// What tells it from the source's others.
    pub label: String,
    /// `keychain`, `file` or `env`.
    pub kind: &'static str,
    /// The variable's name, for `env`.
    pub env: Option<String>,
    /// Whether it could be read.
    pub readable: bool,
    /// Why not.
    pub problem: Option<String>,
}

/// The secrets of sources, as people set and list them.
#[derive(Clone, Debug)]
pub struct Secrets {
    settings: Arc<Settings>,
    verdicts: Arc<Verdicts>,
}

impl Secrets {
    pub(crate) const fn new(settings: Arc<Settings>, verdicts: Arc<Verdicts>) -> Self {
        Self { settings, verdicts }
    }

    /// Every secret without its value.
    ///
    /// # Errors
    /// Where the index of secrets can't be read.
    pub async fn list(&self) -> Result<Vec<SecretEntry>, EngineError> {
        let entries = self.settings.secrets.list().await?;
        let shown = entries.into_iter().map(|entry| {
            let (kind, env) = match entry.place {
                Location::Keychain => ("keychain", None),
                Location::File => ("file", None),
                Location::Env(name) => ("env", Some(name)),
            };
            let readable = self.settings.secrets.is_held(&entry.source, &entry.label);
            let problem =
                (!readable).then(|| self.settings.secrets.problem_of(&entry.source, &entry.label)).flatten();
            SecretEntry { source: entry.source, label: entry.label, kind, env, readable, problem }
        });
        Ok(shown.collect())
    }

    /// Keeps a secret and judges the source's events anew. The source is made where it is new.
    ///
    /// # Errors
    /// What the vault says: an empty value, a locked keychain.
    pub async fn set(
        &self,
        source: Slug,
        label: String,
        value: Zeroizing<Vec<u8>>,
    ) -> Result<(), EngineError> {
        self.settings.ensure_source(&source).await?;
        let slug = source.clone();
        self.settings.secrets.blocking(move |vault| vault.set(&slug, &label, &value).map(drop)).await?;
        self.changed(&source).await
    }

    /// Lets a secret be read from an environment variable of the process that serves.
    ///
    /// # Errors
    /// A name that no variable can have.
    pub async fn set_env(&self, source: Slug, label: String, name: String) -> Result<(), EngineError> {
        self.settings.ensure_source(&source).await?;
        let slug = source.clone();
        self.settings.secrets.blocking(move |vault| vault.set_env(&slug, &label, &name)).await?;
        self.changed(&source).await
    }

    /// Removes a secret. Verdicts that it gave stay, unless another secret changes them.
    ///
    /// # Errors
    /// Where there is none, or the keychain doesn't let go of it.
    pub async fn remove(&self, source: Slug, label: String) -> Result<(), EngineError> {
        let slug = source.clone();
        self.settings.secrets.blocking(move |vault| vault.remove(&slug, &label)).await?;
        self.changed(&source).await
    }

    async fn changed(&self, source: &Slug) -> Result<(), EngineError> {
        self.settings.secrets.read_again().await;
        self.settings.base.inbox.announce_config().await?;
        self.settings.reload().await?;
        self.verdicts.rejudge(source).await
    }

    /// Waits for a keychain that did not answer at the start, and judges anew what came in meanwhile.
    pub(crate) fn await_keychain(&self) {
        if !self.settings.secrets.is_waiting() {
            return;
        }
        let this = self.clone();
        self.settings.base.tasks.spawn_until_stop("the secrets could not be read", async move {
            let Self { settings, verdicts } = &this;
            settings.secrets.read_again().await;
            settings.reload().await?;
            let slugs: Vec<_> =
                settings.now().sources.values().map(|known| known.source.slug.clone()).collect();
            for slug in slugs {
                verdicts.rejudge(&slug).await?;
            }
            Ok::<_, EngineError>(())
        });
    }
}
