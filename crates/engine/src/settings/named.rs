//! A source as somebody named it: an unknown name is a typo, unless it says that a new source is meant.

use hookmitt_event::{ProviderFrom, Slug, near};
use hookmitt_inbox::{InboxError, SourceSettings};
use hookmitt_verify::{Provider, provider, providers};

use super::Settings;
use crate::EngineError;

/// A source that somebody named, for a target or a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSource {
    /// Its name.
    pub slug: Slug,
    /// Whether any unknown name makes a source, not only a provider's id.
    pub create: bool,
}

impl From<Slug> for NamedSource {
    fn from(slug: Slug) -> Self {
        Self { slug, create: false }
    }
}

impl Settings {
    /// Makes sure that there is such a source. An unknown name makes one if it is a provider's id, with that provider
    /// set, or if a new source is meant.
    ///
    /// # Errors
    /// Fails if the name is unknown and makes no source, or if the inbox fails.
    pub(crate) async fn named_source(&self, named: &NamedSource) -> Result<(), EngineError> {
        let NamedSource { slug, create } = named;
        if self.now().sources.contains_key(slug.as_str()) {
            return Ok(());
        }
        match provider(slug.as_str()) {
            Some(provider) => self.make_source(slug, with(provider)).await,
            None if *create => self.make_source(slug, SourceSettings::default()).await,
            None => {
                let ids = providers().map(|provider| provider.id.as_str());
                let near = self.near_sources(slug, &ids.collect::<Vec<_>>());
                Err(EngineError::UnknownSource { slug: slug.clone(), near, can_create: true })
            }
        }
    }

    /// Creates a source of that name if there is none.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub(crate) async fn ensure_source(&self, slug: &Slug) -> Result<(), EngineError> {
        if self.now().sources.contains_key(slug.as_str()) {
            return Ok(());
        }
        self.make_source(slug, SourceSettings::default()).await
    }

    async fn make_source(&self, slug: &Slug, settings: SourceSettings) -> Result<(), EngineError> {
        match self.base.inbox.add_source(slug.clone(), settings, false, self.base.now()).await {
            Ok(_) | Err(InboxError::SourceExists(_)) => self.reload().await, // another process was faster
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the error for a source that doesn't exist.
    pub(super) fn unknown_source(&self, slug: &Slug) -> EngineError {
        let near = self.near_sources(slug, &[]);
        EngineError::UnknownSource { slug: slug.clone(), near, can_create: false }
    }

    /// Returns the sources, and those of the other names, that are like this one.
    fn near_sources(&self, slug: &Slug, others: &[&str]) -> Vec<String> {
        let config = self.now();
        let all = config.sources.keys().map(String::as_str).chain(others.iter().copied());
        near(slug.as_str(), all).into_iter().map(str::to_owned).collect()
    }
}

fn with(provider: &Provider) -> SourceSettings {
    SourceSettings {
        provider: Some(provider.id.clone()),
        provider_from: Some(ProviderFrom::Hand),
        ..SourceSettings::default()
    }
}
