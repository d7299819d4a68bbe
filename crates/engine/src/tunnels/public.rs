//! A public URL for a source by whatever there is: the relay that is set up, an installed program, or a channel.

use hookmitt_detour::{Channel, Quick};
use hookmitt_event::{Slug, TunnelKind};
use hookmitt_inbox::KeptTunnel;
use serde::Deserialize;

use super::{
    kind,
    listed::Tunnels,
    order::{TunnelChange, TunnelRequest},
    view::TunnelView,
};
use crate::EngineError;

/// The server that makes channels unless another one is named.
const CHANNELS: &str = "https://smee.io";

/// Asks for a public URL.
#[derive(Clone, Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PublicRequest {
    /// The source that the provider calls. It must exist.
    #[schema(value_type = String)]
    pub source: Slug,
    /// Whether a new channel will do if there is nothing better.
    #[serde(default)]
    pub channel: bool,
    /// The server that makes the channel; `https://smee.io` if absent.
    #[serde(default)]
    pub channel_server: Option<String>,
}

impl PublicRequest {
    fn server(&self) -> &str {
        self.channel_server.as_deref().unwrap_or(CHANNELS)
    }
}

impl Tunnels {
    /// Returns a tunnel by which a source gets a public URL, switched on: to the relay that is set up, else by an installed
    /// cloudflared or ngrok, else through a channel.
    ///
    /// # Errors
    /// Fails with [`EngineError::OnlyChannel`] if only a channel is left and nobody agreed to one, and like
    /// [`add`](Self::add).
    pub async fn public(&self, order: PublicRequest) -> Result<TunnelView, EngineError> {
        self.settings.source(&order.source)?;
        let kept = self.base.inbox.tunnels().await?;
        if let Some(relay) = kept.iter().find(|one| one.kind == TunnelKind::Relay) {
            return self.serving(relay, &order.source).await;
        }
        let kinds = [TunnelKind::Cloudflared, TunnelKind::Ngrok];
        let is_installed =
            |kind: &TunnelKind| kind::program(*kind).map(Quick::find).is_some_and(|found| found.is_ok());
        if let Some(kind) = kinds.into_iter().find(is_installed) {
            return self.detour(&kept, kind, &order).await;
        }
        if !order.channel && of(&kept, TunnelKind::Smee, &order.source).is_none() {
            return Err(EngineError::OnlyChannel(order.server().trim_start_matches("https://").to_owned()));
        }
        self.detour(&kept, TunnelKind::Smee, &order).await
    }

    /// Switches a relay's tunnel on, and has it serve the source.
    async fn serving(&self, kept: &KeptTunnel, source: &Slug) -> Result<TunnelView, EngineError> {
        let is_served = kept.sources.is_empty() || kept.sources.iter().any(|one| one == source.as_str());
        let chosen = || kept.sources.iter().filter_map(|one| one.parse().ok()).chain([source.clone()]);
        let sources = (!is_served).then(|| chosen().collect());
        self.change(kept.id, TunnelChange { enabled: Some(true), sources, label: None }).await
    }

    /// Switches on the tunnel of this kind that serves the source, or adds one.
    async fn detour(
        &self,
        kept: &[KeptTunnel],
        kind: TunnelKind,
        order: &PublicRequest,
    ) -> Result<TunnelView, EngineError> {
        if let Some(kept) = of(kept, kind, &order.source) {
            let change = TunnelChange { enabled: Some(true), ..TunnelChange::default() };
            return self.change(kept.id, change).await;
        }
        let url = match kind {
            TunnelKind::Smee => Some(Channel::fresh(order.server()).await?.url().to_owned()),
            _ => None,
        };
        let source = Some(order.source.clone());
        self.add(TunnelRequest { kind: Some(kind), source, url, ..TunnelRequest::default() }).await
    }
}

/// Returns the tunnel of this kind that serves a source.
fn of<'a>(kept: &'a [KeptTunnel], kind: TunnelKind, source: &Slug) -> Option<&'a KeptTunnel> {
    kept.iter().find(|one| one.kind == kind && one.source.as_deref() == Some(source.as_str()))
}
