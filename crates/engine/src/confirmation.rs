//! Confirms set-up requests that ask for a URL to be called.

use std::sync::Arc;

use hookmitt_event::{EventId, Verdict};
use hookmitt_keys::Network;
use hookmitt_verify::confirm_url;
use serde::Serialize;
use tokio::sync::Mutex;

use crate::{
    Change, EngineError,
    base::Base,
    judging::{asked, is_confirmed},
    settings::{ConfiguredSource, Settings},
};

/// The outcome of the call that confirmed a set-up request.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Confirmed {
    /// The host that was called.
    pub host: String,
    /// The HTTP status of its answer.
    pub status: u16,
}

/// Confirms set-up requests.
#[derive(Debug)]
pub struct Confirmation {
    base: Arc<Base>,
    settings: Arc<Settings>,
    network: Network,
    /// Held during a confirmation, so that two clicks make only one call.
    one_at_a_time: Mutex<()>,
}

impl Confirmation {
    pub(crate) fn new(settings: Arc<Settings>, network: Network) -> Self {
        Self { base: Arc::clone(&settings.base), settings, network, one_at_a_time: Mutex::default() }
    }

    /// Calls the URL that confirms a set-up request, once. Only `https` URLs of the provider's own hosts are called,
    /// and redirects are not followed (Threat 6).
    ///
    /// # Errors
    /// Fails if the event asks for no call, was confirmed already or isn't `valid`; if the URL is not one of the
    /// provider's; or if the answer isn't 2xx.
    pub async fn confirm(&self, id: EventId) -> Result<Confirmed, EngineError> {
        let _alone = self.one_at_a_time.lock().await;
        let event = self.base.inbox.event(id).await?;
        let known = self.settings.source(&event.source)?;
        let url = asked(&known, &event).and_then(|handshake| handshake.confirm);
        let url = url.ok_or(EngineError::NothingToConfirm(event.seq))?;
        if event.verdict != Verdict::Valid {
            return Err(EngineError::NotGenuine(event.seq));
        }
        if is_confirmed(&event) {
            return Err(EngineError::AlreadyConfirmed(event.seq));
        }
        let provider = known.provider_of(&event.request).ok_or(EngineError::NothingToConfirm(event.seq))?;
        confirm_url(provider, &url).map_err(|error| EngineError::ConfirmUrl(error.to_string()))?;
        let confirmed = self.call(&url).await?;
        self.base.inbox.set_confirmed(id, self.base.now()).await?;
        self.base.announce(Change::Event(id));
        Ok(confirmed)
    }

    async fn call(&self, url: &str) -> Result<Confirmed, EngineError> {
        let not_confirmed = |why: String| EngineError::NotConfirmed(why);
        let parsed = url::Url::parse(url).map_err(|error| not_confirmed(error.to_string()))?;
        let host = parsed.host_str().unwrap_or_default().to_owned();
        let status = hookmitt_keys::call(&self.network, &parsed)
            .await
            .map_err(|problem| not_confirmed(problem.to_string()))?;
        match status {
            200..300 => Ok(Confirmed { host, status }),
            _ => Err(not_confirmed(format!("{host} answered {status}"))),
        }
    }

    /// Confirms a set-up request in the background if its source is set to do so. Nothing is called unless the event is
    /// `valid`.
    pub(crate) fn confirm_by_itself(self: &Arc<Self>, known: &ConfiguredSource, id: EventId) {
        if !known.source.confirm {
            return;
        }
        let this = Arc::clone(self);
        self.base.tasks.spawn_until_stop("a set-up request couldn't be confirmed", async move {
            match this.confirm(id).await {
                Ok(_) | Err(EngineError::NothingToConfirm(_) | EngineError::AlreadyConfirmed(_)) => Ok(()),
                Err(error) => Err(error),
            }
        });
    }
}
