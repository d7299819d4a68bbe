//! A source's secrets: stores, lists and removes them.

use std::sync::Arc;

use hookmitt_event::{Deed, Slug};
use hookmitt_inbox::Subject;
use hookmitt_vault::Location;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::{
    EngineError,
    settings::{NamedSource, Settings},
    verdicts::Verdicts,
};

/// A secret as it is listed, without its value.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct SecretEntry {
    /// The source that the secret belongs to.
    pub source: Slug,
    /// The name that distinguishes it from the source's other secrets.
    pub label: String,
    /// Where the secret is stored: `keychain`, `file` or `env`.
    pub kind: &'static str,
    /// The name of the environment variable, if `kind` is `env`.
    pub env: Option<String>,
    /// Whether the secret could be read.
    pub readable: bool,
    /// Why the secret could not be read.
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

    /// Returns every secret without its value.
    ///
    /// # Errors
    /// Fails if the index of secrets can't be read.
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

    /// Stores a secret and judges the source's events again. May create the source (see [`NamedSource`]).
    ///
    /// # Errors
    /// Fails if the source is unknown, or if the vault fails, for example because the value is empty or the keychain is
    /// locked.
    pub async fn set(
        &self,
        source: impl Into<NamedSource>,
        label: String,
        value: Zeroizing<Vec<u8>>,
    ) -> Result<(), EngineError> {
        let source = self.known(source.into()).await?;
        let (slug, named) = (source.clone(), label.clone());
        self.settings.secrets.blocking(move |vault| vault.set(&slug, &named, &value).map(drop)).await?;
        self.changed(&source, Deed::SecretSet, &label).await
    }

    /// Has a secret read from an environment variable of the process that serves. May create the source (see
    /// [`NamedSource`]).
    ///
    /// # Errors
    /// Fails if the source is unknown, or if no environment variable can have that name.
    pub async fn set_env(
        &self,
        source: impl Into<NamedSource>,
        label: String,
        name: String,
    ) -> Result<(), EngineError> {
        let source = self.known(source.into()).await?;
        let (slug, named) = (source.clone(), label.clone());
        self.settings.secrets.blocking(move |vault| vault.set_env(&slug, &named, &name)).await?;
        self.changed(&source, Deed::SecretSet, &label).await
    }

    /// Removes a secret. Verdicts that are based on it stay, unless another secret changes them.
    ///
    /// # Errors
    /// Fails if there is no such secret, or if the keychain doesn't delete it.
    pub async fn remove(&self, source: Slug, label: String) -> Result<(), EngineError> {
        let (slug, named) = (source.clone(), label.clone());
        self.settings.secrets.blocking(move |vault| vault.remove(&slug, &named)).await?;
        self.changed(&source, Deed::SecretRemoved, &label).await
    }

    async fn known(&self, source: NamedSource) -> Result<Slug, EngineError> {
        self.settings.named_source(&source).await?;
        Ok(source.slug)
    }

    async fn changed(&self, source: &Slug, deed: Deed, label: &str) -> Result<(), EngineError> {
        let subject = Subject::source(source.as_str()).with("label", label);
        self.settings.base.inbox.record(deed, subject).await?;
        self.settings.secrets.read_again().await;
        self.settings.base.inbox.announce_config().await?;
        self.settings.reload().await?;
        self.verdicts.rejudge(source).await
    }

    /// Waits in the background for a keychain that did not answer at the start, and then judges every source's events
    /// again.
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
