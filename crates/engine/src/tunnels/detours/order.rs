//! Adds channels and programs.

use hookmitt_detour::{Channel, Quick};
use hookmitt_event::{Slug, TunnelKind};
use hookmitt_inbox::{KeptTunnel, NewTunnel};

use crate::{EngineError, settings::Settings, tunnels::addressee::UNASSIGNED};

/// Adds a channel that is listened to for one source.
pub(in crate::tunnels) async fn add_channel(
    settings: &Settings,
    url: Option<&str>,
    source: Option<Slug>,
    label: Option<String>,
) -> Result<KeptTunnel, EngineError> {
    let url = url.map(str::trim).filter(|url| !url.is_empty());
    let channel = Channel::new(url.ok_or(EngineError::NoChannelUrl)?)?;
    let source = served(settings, source)?;
    let url = channel.url().to_owned();
    let kept = settings.base.inbox.tunnels().await?;
    if let Some(kept) = kept.iter().find(|kept| kept.url.as_deref() == Some(&url)) {
        return Err(EngineError::TakesPart(kept.label.clone()));
    }
    enter(settings, TunnelKind::Smee, "smee", &source, Some(url), label, &kept).await
}

/// Adds a program that opens a public URL for one source.
pub(in crate::tunnels) async fn add_program(
    settings: &Settings,
    (kind, which): (TunnelKind, Quick),
    source: Option<Slug>,
    label: Option<String>,
) -> Result<KeptTunnel, EngineError> {
    let source = served(settings, source)?;
    which.find()?;
    let kept = settings.base.inbox.tunnels().await?;
    enter(settings, kind, which.program(), &source, None, label, &kept).await
}

/// Returns the source that a channel or a program is to serve. It must exist, and must not be [`UNASSIGNED`].
fn served(settings: &Settings, source: Option<Slug>) -> Result<Slug, EngineError> {
    let source = source.ok_or(EngineError::NoTunnelSource)?;
    if source.as_str() == UNASSIGNED {
        return Err(hookmitt_inbox::InboxError::UnknownSource(source.to_string()).into());
    }
    settings.source(&source)?;
    Ok(source)
}

async fn enter(
    settings: &Settings,
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
    Ok(settings.base.inbox.add_tunnel(new, settings.base.now()).await?)
}

/// Returns a label that no other tunnel has, so that it identifies the new one.
fn free_label(wanted: &str, others: &[KeptTunnel]) -> String {
    let wanted: String = wanted.chars().take(56).collect();
    let is_free = |label: &String| others.iter().all(|other| other.label != *label);
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or(wanted)
}
