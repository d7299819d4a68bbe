//! Channels and programs as they are added.

use hookmitt_detour::{Channel, Quick};
use hookmitt_event::{Slug, TunnelKind};
use hookmitt_inbox::{KeptTunnel, NewTunnel};

use crate::{Engine, EngineError, TunnelOrder, UNASSIGNED};

impl Engine {
    /// Adds a channel that is listened to for one source.
    pub(in crate::tunnels) async fn add_channel(
        &self,
        order: &TunnelOrder,
        label: Option<String>,
    ) -> Result<KeptTunnel, EngineError> {
        let url = order.url.as_deref().map(str::trim).filter(|url| !url.is_empty());
        let channel = Channel::new(url.ok_or(EngineError::NoChannelUrl)?)?;
        let source = self.served(order)?;
        let url = channel.url().to_owned();
        let kept = self.inbox.tunnels().await?;
        if let Some(kept) = kept.iter().find(|kept| kept.url.as_deref() == Some(&url)) {
            return Err(EngineError::TakesPart(kept.label.clone()));
        }
        self.enter(TunnelKind::Smee, "smee", &source, Some(url), label, &kept).await
    }

    /// Adds a program that opens a public URL for one source.
    pub(in crate::tunnels) async fn add_program(
        &self,
        which: Quick,
        order: &TunnelOrder,
        label: Option<String>,
    ) -> Result<KeptTunnel, EngineError> {
        let source = self.served(order)?;
        which.find()?;
        let kind = order.kind.unwrap_or(TunnelKind::Cloudflared);
        let kept = self.inbox.tunnels().await?;
        self.enter(kind, which.program(), &source, None, label, &kept).await
    }

    /// The source that a channel or program is to serve: it is there, and made by no caller.
    fn served(&self, order: &TunnelOrder) -> Result<Slug, EngineError> {
        let source = order.source.clone().ok_or(EngineError::NoTunnelSource)?;
        if source.as_str() == UNASSIGNED {
            return Err(hookmitt_inbox::InboxError::UnknownSource(source.to_string()).into());
        }
        self.known(&source)?;
        Ok(source)
    }

    async fn enter(
        &self,
        kind: TunnelKind,
        maker: &str,
        source: &Slug,
        url: Option<String>,
        label: Option<String>,
        others: &[KeptTunnel],
    ) -> Result<KeptTunnel, EngineError> {
        let new = NewTunnel {
            kind,
            label: label.unwrap_or_else(|| free_label(&format!("{maker}-{source}"), others)),
            name: None,
            public_url: url.clone(),
            url,
            keys: None,
            source: Some(source.to_string()),
            sources: Vec::new(),
        };
        Ok(self.inbox.add_tunnel(new, self.clock.now()).await?)
    }
}

/// A label that no other tunnel has, so that it names this one.
fn free_label(wanted: &str, others: &[KeptTunnel]) -> String {
    let wanted: String = wanted.chars().take(56).collect();
    let is_free = |label: &String| others.iter().all(|other| other.label != *label);
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or(wanted)
}
