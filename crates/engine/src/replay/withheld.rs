//! Events that were withheld because of the host name that they called (Threat 1), sent once that name is allowed.

use std::sync::Arc;

use hookmitt_event::Slug;
use serde::Serialize;

use super::{
    edit::Edit,
    replays::{Replayed, Replays},
    retry::Retries,
};
use crate::{EngineError, judging::Pages, manage::allowed_name, settings::Settings};

/// A host name because of which events were withheld.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct WithheldHost {
    /// The host name.
    pub host: String,
    /// How many events wait to be sent.
    pub events: u64,
    /// Whether the source allows the name by now.
    pub allowed: bool,
    /// Whether the name is one that can be allowed.
    pub can_be_allowed: bool,
}

/// Lists and sends events that were withheld because of a host name.
#[derive(Clone, Debug)]
pub struct WithheldHosts {
    settings: Arc<Settings>,
    pages: Pages,
    replays: Replays,
    retries: Retries,
}

impl WithheldHosts {
    pub(crate) fn new(settings: Arc<Settings>, replays: Replays, retries: Retries) -> Self {
        Self { pages: Pages::new(Arc::clone(&settings)), settings, replays, retries }
    }

    /// Returns the host names that caused events of a source to be withheld: at most 100, the one with the most waiting
    /// events first.
    ///
    /// # Errors
    /// Fails if the source is unknown.
    pub async fn of(&self, slug: &Slug) -> Result<Vec<WithheldHost>, EngineError> {
        let known = self.settings.source(slug)?;
        let found = self.settings.base.inbox.withheld_hosts(known.source.row).await?;
        let view = |(host, events): (String, u64)| WithheldHost {
            allowed: self.pages.is_our_name(&host, Some(&known)),
            can_be_allowed: hookmitt_event::is_host_name(&host),
            host,
            events,
        };
        Ok(found.into_iter().map(view).collect())
    }

    /// Sends the events that were withheld because they called that name, oldest first. The name must be allowed by
    /// now.
    ///
    /// # Errors
    /// Fails if the source is unknown, if it doesn't allow the name, or if it has no target.
    pub async fn send(&self, source: &Slug, host: &str) -> Result<Vec<Replayed>, EngineError> {
        let known = self.settings.source(source)?;
        let host = allowed_name(host).filter(|host| self.pages.is_our_name(host, Some(&known))).ok_or_else(
            || {
                let allow = format!("`hookmitt source edit {source} --allow-host NAME`");
                EngineError::BadInput(format!("{source} doesn't allow the host {host:?}: {allow} does"))
            },
        )?;
        if self.settings.now().targets_of(source.as_str()).is_empty() {
            return Err(EngineError::NoTargets(format!("the source {source}")));
        }
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let found =
                self.settings.base.inbox.withheld_events(known.source.row, host.clone(), after, 100).await?;
            let Some((last, _)) = found.last() else { return Ok(all) };
            after = *last;
            for (_, id) in found {
                let event = self.settings.base.inbox.event(id).await?;
                if known.withholds(event.verdict, event.via).is_some() {
                    continue; // the source rejects the event, whatever name it called
                }
                // An event that came before the source had a target has no delivery to retry, so it is replayed.
                let again = match self.settings.base.inbox.deliveries(id).await?.is_empty() {
                    true => self.replays.replay(id, Edit::default()).await.map(|replay| replay.items),
                    false => self.retries.event(id).await,
                };
                match again {
                    Ok(again) => all.extend(again),
                    Err(EngineError::NoTargets(_)) => {} // the other events can still be sent
                    Err(error) => return Err(error),
                }
            }
        }
    }
}
