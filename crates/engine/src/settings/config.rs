//! Sources, secrets and targets, held in memory so that capture reads neither files nor the keychain.

use std::{collections::HashMap, sync::Arc};

use hookmitt_event::{Slug, Source, Target, TargetId, TargetKind};
use hookmitt_keys::KeyStore;
use hookmitt_sync::{Connector, Gives, connector};
use hookmitt_verify::Secret;

use crate::host_name::name_in_url;

/// One consistent view of the settings, replaced as a whole when anything changes.
#[derive(Debug, Default)]
pub struct Config {
    /// The version of the inbox's settings that this view shows.
    pub(crate) version: i64,
    /// Sources by slug.
    pub sources: HashMap<String, Arc<ConfiguredSource>>,
    /// Targets by id.
    pub targets: HashMap<TargetId, Arc<Target>>,
}

/// A source with its secrets.
#[derive(Debug)]
pub struct ConfiguredSource {
    /// The source.
    pub source: Source,
    /// The secrets that could be read.
    pub secrets: Vec<Secret>,
    /// Whether it has any secret, readable or not.
    pub has_secret: bool,
    /// The source's parameters, in the form that verification takes.
    pub params: Vec<(String, String)>,
    /// The keys that providers publish.
    pub keys: Option<KeyStore>,
    /// How its missed events are fetched; `None` if no connector is known.
    pub(crate) connector: Option<Arc<Connector>>,
    /// Whether that gives objects instead of events.
    pub(crate) copies_objects: bool,
    /// The host name in its public URL.
    pub(crate) public_host: Option<String>,
}

impl ConfiguredSource {
    /// Creates a source with the secrets that could be read.
    pub(crate) fn new(source: Source, secrets: Vec<Secret>, has_secret: bool) -> Self {
        let params = source.params.clone().into_iter().collect();
        let public_host = source.public_url.as_deref().and_then(name_in_url);
        let connector = connector_of(&source);
        let copies_objects = connector.as_ref().is_some_and(|connector| connector.gives == Gives::Object);
        Self { source, secrets, has_secret, params, keys: None, connector, copies_objects, public_host }
    }

    /// Whether both would judge an event alike.
    pub(crate) fn judges_like(&self, other: &Self) -> bool {
        // Nearly always the same object; this is checked for every event.
        std::ptr::eq(self, other)
            || self.source.provider == other.source.provider
                && self.source.generic == other.source.generic
                && self.source.on_invalid == other.source.on_invalid
                && self.params == other.params
                && self.has_secret == other.has_secret
                && same_secrets(&self.secrets, &other.secrets)
    }

    /// Adds the store of the keys that providers publish.
    pub(crate) fn with_keys(self, keys: KeyStore) -> Self {
        Self { keys: Some(keys), ..self }
    }
}

impl Config {
    /// Returns the sources whose secrets differ from those in `before`.
    pub(crate) fn sources_with_other_secrets(&self, before: &Self) -> Vec<Slug> {
        let was = |slug: &Slug| before.sources.get(slug.as_str()).map_or(&[][..], |known| &known.secrets);
        let others =
            self.sources.values().filter(|known| !same_secrets(&known.secrets, was(&known.source.slug)));
        others.map(|known| known.source.slug.clone()).collect()
    }

    /// Returns the targets that get a source's events automatically, in the order in which they were added.
    pub fn targets_of(&self, source: &str) -> Vec<Arc<Target>> {
        let mut targets: Vec<_> = self
            .targets
            .values()
            .filter(|target| target.kind != TargetKind::Once)
            .filter(|target| target.source.as_ref().is_none_or(|slug| slug.as_str() == source))
            .cloned()
            .collect();
        targets.sort_by_key(|target| target.id);
        targets
    }
}

/// Returns the connector of a source: the user's own, else its provider's.
fn connector_of(source: &Source) -> Option<Arc<Connector>> {
    match &source.sync.connector {
        // It was checked when it was set.
        Some(own) => serde_json::from_str(own).ok().and_then(|json| Connector::own(json).ok()).map(Arc::new),
        None => source.provider.as_deref().and_then(connector).cloned(),
    }
}

/// Whether both lists hold the same secrets under the same labels, in the same order.
fn same_secrets(these: &[Secret], those: &[Secret]) -> bool {
    let same = |(this, that): (&Secret, &Secret)| this.label == that.label && this.value() == that.value();
    these.len() == those.len() && these.iter().zip(those).all(same)
}
