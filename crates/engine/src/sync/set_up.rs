//! What a sync of a source needs: its connector, what that has to know, and its API key.

use std::{collections::HashMap, sync::Arc};

use hookmitt_event::{Slug, Source};
use hookmitt_sync::{Api, Connector};

use super::{SyncError, syncing::Syncing};
use crate::{EngineError, settings::ConfiguredSource};

/// A source that can be synced.
pub(super) struct SetUp {
    pub(super) known: Arc<ConfiguredSource>,
    pub(super) connector: Arc<Connector>,
    pub(super) params: HashMap<String, String>,
    pub(super) api: Api,
}

impl Syncing {
    /// Reads what a sync of a source needs.
    ///
    /// # Errors
    /// Fails if something is missing; the error says what.
    pub(super) async fn set_up(&self, slug: &Slug) -> Result<SetUp, EngineError> {
        let known = self.settings.source(slug)?;
        let connector = connector_of(&known)?;
        let key = self.keys.get(slug.clone()).await?.ok_or_else(|| SyncError::NoKey(slug.clone()))?;
        let params = params_of(&known.source, &connector)?;
        ensure_given_for(&known.source, &connector)?;
        let api = Api::new(Arc::clone(&connector), &key, &self.network).map_err(SyncError::from)?;
        Ok(SetUp { known, connector, params, api })
    }
}

/// Returns the connector of a source.
///
/// # Errors
/// Fails if there is none.
pub(super) fn connector_of(known: &ConfiguredSource) -> Result<Arc<Connector>, SyncError> {
    let slug = &known.source.slug;
    known.connector.clone().ok_or_else(|| match known.source.provider {
        Some(_) => SyncError::NoConnector(slug.clone()),
        None => SyncError::NoProvider(slug.clone()),
    })
}

/// Returns why a source can't be synced, or `None` if it can.
pub(super) fn lacks(known: &ConfiguredSource, has_key: bool) -> Option<SyncError> {
    let needed = || {
        let connector = connector_of(known)?;
        params_of(&known.source, &connector)?;
        if !has_key {
            return Err(SyncError::NoKey(known.source.slug.clone()));
        }
        ensure_given_for(&known.source, &connector)
    };
    needed().err()
}

/// Fails if the API key was given for other hosts than the connector calls.
pub(super) fn ensure_given_for(source: &Source, connector: &Connector) -> Result<(), SyncError> {
    let given = &source.sync.key_hosts;
    match connector.called_hosts().into_iter().find(|host| !given.contains(host)) {
        None => Ok(()),
        Some(host) => Err(SyncError::OtherHost { slug: source.slug.clone(), given: given.clone(), host }),
    }
}

/// Returns what a connector has to know besides the key. What the source's own parameters say counts, too.
pub(super) fn params_of(
    source: &Source,
    connector: &Connector,
) -> Result<HashMap<String, String>, SyncError> {
    let mut params = HashMap::new();
    for param in &connector.params {
        let set = source.sync.params.get(&param.name).or_else(|| source.params.get(&param.name));
        let default = param.default.as_ref();
        let Some(value) = set.filter(|value| !value.is_empty()).or(default) else {
            if param.optional {
                continue;
            }
            return Err(SyncError::NoParam {
                slug: source.slug.clone(),
                name: param.name.clone(),
                label: param.label.clone(),
                hint: param.hint.clone(),
            });
        };
        params.insert(param.name.clone(), value.clone());
    }
    Ok(params)
}
