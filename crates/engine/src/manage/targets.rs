//! Creates, changes and removes targets.

use std::{collections::HashMap, sync::Arc, time::Duration};

use hookmitt_event::{OrderMode, Target, TargetId, TargetKind, TargetState};
use hookmitt_forward::{TargetUrl, Unanswered};
use hookmitt_inbox::TargetSettings;
use serde::{Deserialize, Serialize};

use super::looks::Looks;
use crate::{
    EngineError,
    delivery::Bells,
    settings::{NamedSource, Settings},
};

/// A change to a target. Absent fields stay as they are.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TargetChange {
    /// The URL; `3000` and `localhost:3000` are understood.
    pub url: Option<String>,
    /// The order of deliveries: `sequential`, `fifo`, `fifo-by-key` or `parallel:N`.
    #[schema(value_type = Option<String>)]
    pub order: Option<OrderMode>,
    /// The number of attempts in total, 1 to 100.
    pub attempts: Option<u32>,
    /// The timeout of one attempt, in milliseconds, 1 to 600,000.
    pub timeout_ms: Option<u64>,
    /// The longest random wait before the second attempt, in milliseconds. A target's `Retry-After` may ask for more.
    pub retry_base_ms: Option<u64>,
    /// The longest random wait before any attempt, in milliseconds. A target's `Retry-After` may ask for more.
    pub retry_cap_ms: Option<u64>,
    /// Whether the sender's `Host` line is sent to the target.
    pub preserve_host: Option<bool>,
    /// Whether the `x-hookmitt-*` lines are added.
    pub hookmitt_headers: Option<bool>,
    /// Whether nothing is sent for now.
    pub paused: Option<bool>,
}

/// Whether a server listens at a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Probed {
    /// Whether a TCP connection was made within a second.
    pub answers: bool,
    /// The port that was tried.
    pub port: u16,
    /// Why there is no connection.
    pub error: Option<String>,
}

impl Probed {
    fn new(url: &TargetUrl, found: Result<(), Unanswered>) -> Self {
        let error = found.err().map(|unanswered| match unanswered {
            Unanswered::Silent(silence) => silence.error,
            Unanswered::Hindered(error) => error,
        });
        Self { answers: error.is_none(), port: url.port(), error }
    }
}

impl TargetChange {
    fn apply(&self, settings: &mut TargetSettings) -> Result<(), EngineError> {
        settings.order = self.order.unwrap_or(settings.order);
        settings.attempts = self.attempts.unwrap_or(settings.attempts);
        settings.timeout_ms = self.timeout_ms.unwrap_or(settings.timeout_ms);
        settings.retry_base_ms = self.retry_base_ms.unwrap_or(settings.retry_base_ms);
        settings.retry_cap_ms = self.retry_cap_ms.unwrap_or(settings.retry_cap_ms);
        settings.preserve_host = self.preserve_host.unwrap_or(settings.preserve_host);
        settings.hookmitt_headers = self.hookmitt_headers.unwrap_or(settings.hookmitt_headers);
        if !(1..=100).contains(&settings.attempts) {
            return Err(EngineError::BadInput("a target needs 1 to 100 attempts".to_owned()));
        }
        if !(1..=600_000).contains(&settings.timeout_ms) {
            return Err(EngineError::BadInput("a target's timeout must be 1 ms to 10 minutes".to_owned()));
        }
        Ok(())
    }
}

/// The targets, as people add and change them.
#[derive(Clone, Debug)]
pub struct Targets {
    settings: Arc<Settings>,
    bells: Arc<Bells>,
    looks: Arc<Looks>,
}

impl Targets {
    pub(crate) fn new(settings: Arc<Settings>, bells: Arc<Bells>) -> Self {
        let looks = Arc::new(Looks::new(Arc::clone(&settings), Arc::clone(&bells)));
        Self { settings, bells, looks }
    }

    /// Returns every target, including those of running `listen` commands, in the order in which they were added.
    pub fn all(&self) -> Vec<Arc<Target>> {
        let mut targets: Vec<_> = self.settings.now().targets.values().cloned().collect();
        targets.sort_by_key(|target| target.id);
        targets
    }

    /// Returns one target.
    ///
    /// # Errors
    /// Fails if the target is unknown.
    pub fn one(&self, id: TargetId) -> Result<Arc<Target>, EngineError> {
        self.settings.target(id)
    }

    /// Adds a target, which gets the events that come in from now on. May create the source (see [`NamedSource`]).
    ///
    /// # Errors
    /// Fails if the URL can't be parsed or leads to ourselves, a setting is out of range, the source is unknown, or the
    /// source has that target already.
    pub async fn add(
        &self,
        source: Option<NamedSource>,
        change: TargetChange,
        kind: TargetKind,
    ) -> Result<Arc<Target>, EngineError> {
        let mut settings = TargetSettings::default();
        change.apply(&mut settings)?;
        let given = change.url.as_deref().unwrap_or_default();
        let url = self.checked(given).await?;
        if let Some(source) = &source {
            self.settings.named_source(source).await?;
        }
        let source = source.map(|named| named.slug);
        let target = self
            .settings
            .base
            .inbox
            .add_target(source, url.clone(), settings.clone(), kind, self.settings.base.now())
            .await?;
        if change.paused == Some(true) {
            self.settings.base.inbox.set_target(target.id, url, settings, true).await?;
        }
        self.settings.reload().await?;
        self.settings.target(target.id)
    }

    /// Changes, pauses or resumes a target.
    ///
    /// # Errors
    /// Fails like [`add`](Self::add), and if the target is unknown.
    pub async fn change(&self, id: TargetId, change: TargetChange) -> Result<Arc<Target>, EngineError> {
        let target = self.settings.target(id)?;
        let mut settings = TargetSettings::from(target.as_ref());
        change.apply(&mut settings)?;
        let url = match &change.url {
            Some(url) => self.checked(url).await?,
            None => target.url.clone(),
        };
        let paused = change.paused.unwrap_or(target.paused);
        self.settings.base.inbox.set_target(id, url, settings, paused).await?;
        self.settings.reload().await?;
        self.settings.target(id)
    }

    /// Removes a target. Deliveries that wait for it are marked as failed.
    ///
    /// # Errors
    /// Fails if the target is unknown.
    pub async fn remove(&self, id: TargetId) -> Result<(), EngineError> {
        self.settings.base.inbox.remove_target(id, self.settings.base.now()).await?;
        self.settings.reload().await?;
        self.settings.base.inbox.refuse_waiting(id).await?;
        Ok(())
    }

    /// Returns what was last found at each target, by sending or by looking.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn states(&self) -> Result<HashMap<TargetId, TargetState>, EngineError> {
        Ok(self.settings.base.inbox.target_states().await?)
    }

    /// Looks whether somebody listens at these targets: one TCP connection to each place on this machine or in its own
    /// network, over which nothing is sent; at most one in 5 seconds, which takes a second at most. What is elsewhere is
    /// known by deliveries alone.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn look(&self, targets: &[Arc<Target>]) -> Result<(), EngineError> {
        self.looks.look(targets).await
    }

    /// Checks whether a server listens at a URL that a target may have.
    ///
    /// # Errors
    /// Fails if the URL can't be parsed or leads to ourselves.
    pub async fn probe(&self, given: &str) -> Result<Probed, EngineError> {
        let url = TargetUrl::parse(&self.checked(given).await?)?;
        Ok(Probed::new(&url, hookmitt_forward::probe(&url).await))
    }

    /// Resumes deliveries to a target at once: a paused target goes on, and one where nobody answered is tried now.
    ///
    /// # Errors
    /// Fails if the target is unknown, or if its URL leads to ourselves by now.
    pub async fn try_now(&self, id: TargetId) -> Result<Probed, EngineError> {
        let target = self.settings.target(id)?;
        let url = TargetUrl::parse(&self.checked(&target.url).await?)?;
        let found = hookmitt_forward::probe(&url).await;
        if target.paused {
            self.change(id, TargetChange { paused: Some(false), ..TargetChange::default() }).await?;
        }
        self.found(&target, &found).await?;
        self.bells.urge(id);
        Ok(Probed::new(&url, found))
    }

    /// Stores what was found at a target. If somebody answers, its deliveries go on.
    async fn found(&self, target: &Target, found: &Result<(), Unanswered>) -> Result<(), EngineError> {
        let base = &self.settings.base;
        let what = match found {
            Ok(()) => Ok(()),
            Err(Unanswered::Silent(silence)) => Err(silence.clone()),
            Err(Unanswered::Hindered(_)) => return Ok(()),
        };
        let is_back = what.is_ok() && target.down_since.is_some();
        let is_news = base.inbox.found_at(vec![(target.id, what)], base.now()).await?;
        if is_back {
            base.inbox.set_down(target.id, None).await?;
        }
        if is_back || is_news {
            self.settings.reload().await?;
        }
        Ok(())
    }

    /// Returns a target's URL in the form in which it is stored, unless it leads to ourselves.
    pub(crate) async fn checked(&self, given: &str) -> Result<String, EngineError> {
        let url = TargetUrl::from_shorthand(given)?;
        // The name server may be slow; a name that can't be looked up in time is checked again at each attempt.
        let own = tokio::time::timeout(Duration::from_secs(3), self.settings.own.hold(&url)).await;
        if own.unwrap_or(false) {
            return Err(EngineError::OwnAddress(url.as_str().to_owned()));
        }
        Ok(url.as_str().to_owned())
    }
}
