//! Tunnels as they are added and changed.

use hookmitt_event::{Slug, Timestamp, TunnelKind};
use hookmitt_inbox::{KeptTunnel, NewTunnel};
use hookmitt_tunnel::{
    Credentials, Invite, Network, TunnelError, invite_text, join, open, read_invite, relay_url,
};
use hookmitt_wire::Opened;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{
    detours,
    keys::{DeviceKeys, Keys},
    kind,
    listed::Tunnels,
    register::PARTING,
    view::TunnelView,
};
use crate::{EngineError, SecretText};

/// A tunnel to be added: a relay with a token, an invitation, a channel, or a program for one source.
#[derive(Clone, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TunnelRequest {
    /// What makes it; `relay` without.
    pub kind: Option<TunnelKind>,
    /// The relay's URL.
    pub relay: Option<String>,
    /// A token that the relay gave out.
    #[schema(value_type = Option<String>)]
    pub token: Option<SecretText>,
    /// The name that is wanted at the relay; an unguessable one without.
    pub name: Option<String>,
    /// What people call it; its name at the relay without.
    pub label: Option<String>,
    /// An invitation to a teammate's tunnel, instead of relay and token.
    #[schema(value_type = Option<String>)]
    pub invite: Option<SecretText>,
    /// The URL of a channel.
    pub url: Option<String>,
    /// The source that a channel or program serves.
    #[schema(value_type = Option<String>)]
    pub source: Option<Slug>,
    /// The sources that a relay is told of, and takes events for; every source, also of those to come, without.
    #[schema(value_type = Vec<String>)]
    pub sources: Vec<Slug>,
}

/// A change to a tunnel: what is absent stays.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TunnelChange {
    /// Whether it is wanted.
    pub enabled: Option<bool>,
    /// What people call it.
    pub label: Option<String>,
    /// The sources that a relay is told of; an empty list: every source.
    #[schema(value_type = Option<Vec<String>>)]
    pub sources: Option<Vec<Slug>>,
}

/// What became of a tunnel that was removed.
#[derive(Clone, Copy, Debug, Serialize, utoipa::ToSchema)]
pub struct Removed {
    /// Whether the relay heard that this device leaves. One that did not goes on to store and to thank providers until it
    /// forgets the device, 30 days after it was there last. Null where there is no relay.
    pub relay_told: Option<bool>,
}

/// What another device needs to take part in a tunnel. A secret.
#[derive(Clone, Serialize, utoipa::ToSchema)]
pub struct Invitation {
    /// One line of text, for `hookmitt tunnel join`.
    pub invite: String,
    /// When it ends to work.
    #[schema(value_type = String, format = "date-time")]
    pub until: Timestamp,
}

impl Tunnels {
    /// Adds a tunnel.
    ///
    /// # Errors
    /// What the relay says; a program that isn't installed; an order that makes no sense.
    pub async fn add(&self, order: TunnelRequest) -> Result<TunnelView, EngineError> {
        let label = order.label.as_deref().map(checked_label).transpose()?;
        let kind = order.kind.unwrap_or(TunnelKind::Relay);
        let sources = self.chosen(kind, &order.sources)?;
        let added = match (&order.invite, kind, kind::program(kind)) {
            (Some(invite), TunnelKind::Relay, _) => self.join_tunnel(invite.expose(), label, sources).await?,
            (Some(_), ..) => {
                let words = "an invitation is one to a relay's tunnel: give it alone";
                return Err(EngineError::BadInput(words.to_owned()));
            }
            (None, _, Some(program)) => {
                detours::add_program(&self.settings, (kind, program), order.source, label).await?
            }
            (None, TunnelKind::Smee, _) => {
                let url = order.url.as_deref();
                detours::add_channel(&self.settings, url, order.source, label).await?
            }
            (None, ..) => self.open_tunnel(&order, label, sources).await?,
        };
        self.settings.reload().await?;
        self.one(added.id).await
    }

    /// Opens a tunnel at a relay. The keys are kept before the relay hears of them: no name may be lost.
    async fn open_tunnel(
        &self,
        order: &TunnelRequest,
        label: Option<String>,
        sources: Vec<String>,
    ) -> Result<KeptTunnel, EngineError> {
        let typed = order.relay.as_deref().filter(|typed| !typed.trim().is_empty());
        let typed = typed.ok_or_else(|| {
            EngineError::BadInput("a tunnel needs a relay's URL, or an invitation".to_owned())
        })?;
        let relay = relay_url(typed)?;
        let token = order.token.as_ref().map(|token| token.expose().trim()).filter(|token| !token.is_empty());
        let token = token.ok_or(EngineError::NoRelayToken)?;
        let credentials = Credentials::fresh(relay.clone());
        let wanted = credentials.order(order.name.clone(), &device_name())?;
        let keys = self.keep_keys(&credentials).await?;
        let opened = match open(&Network::from_env()?, &relay, token, &wanted).await {
            Ok(opened) => opened,
            Err(error) => return Err(self.forget_keys(&keys, error).await),
        };
        self.enter_tunnel(opened, &relay, keys, (label, sources)).await
    }

    /// Takes part in somebody's tunnel.
    async fn join_tunnel(
        &self,
        invite: &str,
        label: Option<String>,
        sources: Vec<String>,
    ) -> Result<KeptTunnel, EngineError> {
        let invited = read_invite(invite)?;
        let credentials = Credentials::invited(&invited)?;
        let relay = credentials.relay.clone();
        let same = |kept: &KeptTunnel| {
            kept.url.as_deref() == Some(relay.as_str()) && kept.name.as_deref() == Some(&invited.tunnel)
        };
        if let Some(kept) = self.base.inbox.tunnels().await?.iter().find(|kept| same(kept)) {
            return Err(EngineError::TakesPart(kept.label.clone()));
        }
        let keys = self.keep_keys(&credentials).await?;
        let asked = credentials.joining(&invited.code, &device_name());
        let joined = match join(&Network::from_env()?, &relay, &asked, &credentials.introduction()).await {
            Ok(joined) => joined,
            Err(error) => return Err(self.forget_keys(&keys, error).await),
        };
        self.enter_tunnel(joined, &relay, keys, (label, sources)).await
    }

    async fn keep_keys(&self, credentials: &Credentials) -> Result<String, EngineError> {
        let name = Keys::fresh_name();
        let (device, sealing) = (credentials.device.clone(), credentials.sealing_keys());
        let keys = DeviceKeys { device, sealing, owner: credentials.owner, members: Vec::new() };
        self.keys.keep(&name, &keys).await?;
        Ok(name)
    }

    async fn forget_keys(&self, keys: &str, error: TunnelError) -> EngineError {
        if let Err(error) = self.keys.remove(keys).await {
            tracing::warn!(%error, "keys of a tunnel that was not opened are left over");
        }
        error.into()
    }

    async fn enter_tunnel(
        &self,
        opened: Opened,
        relay: &Url,
        keys: String,
        (label, sources): (Option<String>, Vec<String>),
    ) -> Result<KeptTunnel, EngineError> {
        let new = NewTunnel {
            kind: TunnelKind::Relay,
            label: label.unwrap_or_else(|| opened.tunnel.clone()),
            name: Some(opened.tunnel),
            url: Some(relay.to_string()),
            keys: Some(keys),
            source: None,
            sources,
            public_url: Some(opened.public_url),
        };
        Ok(self.base.inbox.add_tunnel(new, self.base.now()).await?)
    }

    /// Changes a tunnel.
    ///
    /// # Errors
    /// An unknown tunnel or source, a label that is none.
    pub async fn change(&self, id: i64, change: TunnelChange) -> Result<TunnelView, EngineError> {
        let kept = self.base.inbox.tunnel(id).await?;
        let label = change.label.map_or(Ok(kept.label), |label| checked_label(&label))?;
        let enabled = change.enabled.unwrap_or(kept.enabled);
        let sources = change.sources.map(|sources| self.chosen(kept.kind, &sources)).transpose()?;
        self.base.inbox.set_tunnel(id, label, enabled, sources.unwrap_or(kept.sources)).await?;
        self.settings.reload().await?;
        if !enabled {
            self.register.until_ended(id).await;
        }
        self.one(id).await
    }

    /// The sources that were chosen for a tunnel, each once.
    fn chosen(&self, kind: TunnelKind, slugs: &[Slug]) -> Result<Vec<String>, EngineError> {
        if kind != TunnelKind::Relay && !slugs.is_empty() {
            let words =
                "only a relay's tunnel serves several sources: give a channel or a program its one `source`";
            return Err(EngineError::BadInput(words.to_owned()));
        }
        let mut chosen = Vec::new();
        for slug in slugs {
            self.settings.source(slug)?;
            chosen.push(slug.to_string());
        }
        chosen.sort();
        chosen.dedup();
        Ok(chosen)
    }

    /// Removes a tunnel with its keys. The relay is told first, where this process is connected to it.
    ///
    /// # Errors
    /// An unknown tunnel.
    pub async fn remove(&self, id: i64) -> Result<Removed, EngineError> {
        let kept = self.base.inbox.tunnel(id).await?;
        let relay_told = match (kept.kind, self.register.one(id)) {
            (TunnelKind::Relay, Some(running)) => Some(running.leaves(PARTING).await),
            (TunnelKind::Relay, None) => Some(false),
            _ => None,
        };
        self.base.inbox.remove_tunnel(id, self.base.now()).await?;
        if let Some(keys) = &kept.keys
            && let Err(error) = self.keys.remove(keys).await
        {
            tracing::warn!(%error, "the keys of a tunnel that is removed are left over");
        }
        self.settings.reload().await?;
        self.register.until_ended(id).await;
        Ok(Removed { relay_told })
    }

    /// Makes an invitation for one more device.
    ///
    /// # Errors
    /// An unknown tunnel; one that isn't connected here.
    pub async fn invite(&self, id: i64) -> Result<Invitation, EngineError> {
        let (kept, running) = self.shared_tunnel(id).await?;
        let Invite { code, until } = running.line.invite().await?;
        let credentials = self.current_credentials(&kept, &running).await?;
        Ok(Invitation { invite: invite_text(&credentials.invite(code)), until })
    }
}

/// What this device is called at the relay.
fn device_name() -> String {
    let name = gethostname::gethostname().to_string_lossy().into_owned();
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(60).collect();
    if name.is_empty() { "a computer".to_owned() } else { name }
}

/// A name for people.
fn checked_label(label: &str) -> Result<String, EngineError> {
    let label = label.trim();
    let fits = (1..=60).contains(&label.chars().count()) && !label.chars().any(char::is_control);
    fits.then(|| label.to_owned()).ok_or_else(|| {
        EngineError::BadInput("a tunnel is called by 1 to 60 letters, without control characters".to_owned())
    })
}
