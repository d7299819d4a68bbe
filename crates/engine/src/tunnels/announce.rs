//! Makes sure that relays know of the sources what was changed here.

use std::time::Duration;

use futures_util::future::join_all;
use hookmitt_event::{Slug, TunnelKind};
use hookmitt_inbox::KeptTunnel;
use hookmitt_tunnel::{Network, Options, TunnelError, announce};
use serde::Serialize;
use tokio::time::{sleep, timeout};

use super::{
    listed::{Place, Tunnels},
    live_state,
    offers::offers,
    view::{Trouble, host},
};
use crate::EngineError;

/// How often to look whether a tunnel of this process is connected.
const LOOK: Duration = Duration::from_millis(50);

/// How long a relay may take to learn of a change before the caller hears that it doesn't know it yet.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether a tunnel's relay knows the tunnel's sources as they are set now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Announced {
    /// The number of the tunnel.
    pub id: i64,
    /// The label that is shown to people.
    pub label: String,
    /// The relay's host, for people.
    pub host: String,
    /// Whether the relay knows them.
    pub known: bool,
    /// Why it doesn't.
    pub error: Option<Trouble>,
}

impl Tunnels {
    /// Tells the relays of all tunnels that are switched on what they have to know of the sources, and waits up to five
    /// seconds until they know it. With `source`, only of those tunnels that serve it.
    ///
    /// A tunnel that runs nowhere connects for this moment alone; its events stay at the relay.
    ///
    /// # Errors
    /// Fails if the inbox fails. A relay that can't be told is no error of the call.
    pub async fn announce(&self, source: Option<&Slug>) -> Result<Vec<Announced>, EngineError> {
        let serves = |kept: &KeptTunnel| {
            let served =
                |slug: &Slug| kept.sources.is_empty() || kept.sources.iter().any(|one| one == slug.as_str());
            kept.kind == TunnelKind::Relay && kept.enabled && source.is_none_or(served)
        };
        let kept: Vec<_> = self.base.inbox.tunnels().await?.into_iter().filter(serves).collect();
        Ok(join_all(kept.iter().map(|kept| self.announced(kept))).await)
    }

    async fn announced(&self, kept: &KeptTunnel) -> Announced {
        let error = match timeout(PATIENCE, Box::pin(self.tell(kept))).await {
            Ok(told) => told.err(),
            // While a tunnel has no connection, its own error says why.
            Err(_) => {
                let running = self.register.one(kept.id);
                let seen = running.and_then(|running| running.seen().error);
                Some(seen.unwrap_or_else(|| live_state::trouble(&TunnelError::Slow(PATIENCE))))
            }
        };
        Announced { id: kept.id, label: kept.label.clone(), host: host(kept), known: error.is_none(), error }
    }

    async fn tell(&self, kept: &KeptTunnel) -> Result<(), Trouble> {
        match self.place() {
            Place::Here => self.tell_here(kept).await,
            Place::Elsewhere(trouble) => Err(trouble),
            Place::Nowhere => self.tell_for_a_moment(kept).await,
        }
    }

    /// Tells a relay over the connection that this process keeps to it, as soon as there is one.
    async fn tell_here(&self, kept: &KeptTunnel) -> Result<(), Trouble> {
        loop {
            if let Some(running) = self.register.one(kept.id) {
                running.offer(&self.settings, &kept.sources);
                match running.line.announce().await {
                    Err(TunnelError::NotConnected) => {}
                    told => return told.map_err(|error| live_state::trouble(&error)),
                }
            }
            sleep(LOOK).await;
        }
    }

    /// Tells a relay over a connection that is made for this alone.
    async fn tell_for_a_moment(&self, kept: &KeptTunnel) -> Result<(), Trouble> {
        let credentials = self.credentials(kept).await.map_err(|error| Trouble::of(&error))?;
        let network = Network::from_env().map_err(|error| live_state::trouble(&error))?;
        let options = Options { network, ..Options::default() };
        let sources = offers(&self.settings.now(), &kept.sources);
        announce(&credentials, &sources, &options).await.map_err(|error| live_state::trouble(&error))
    }
}
