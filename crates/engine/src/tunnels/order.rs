//! Adds, changes and removes tunnels.

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

/// A tunnel to add: to a relay with a token, by an invitation, through a channel, or by a program for one source.
#[derive(Clone, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TunnelRequest {
    /// What makes the tunnel; `relay` if absent.
    pub kind: Option<TunnelKind>,
    /// The relay's URL.
    pub relay: Option<String>,
    /// A token that the relay issued.
    #[schema(value_type = Option<String>)]
    pub token: Option<SecretText>,
    /// The name to ask for at the relay; if absent, the tunnel gets one that can't be guessed.
    pub name: Option<String>,
    /// The label that is shown to people; if absent, the tunnel's name at the relay.
    pub label: Option<String>,
    /// An invitation to a teammate's tunnel, instead of relay and token.
    #[schema(value_type = Option<String>)]
    pub invite: Option<SecretText>,
    /// The URL of a channel.
    pub url: Option<String>,
    /// The source that a channel or a program serves.
    #[schema(value_type = Option<String>)]
    pub source: Option<Slug>,
    /// The sources that the relay is told of and accepts events for; if absent, every source, including later ones.
    #[schema(value_type = Vec<String>)]
    pub sources: Vec<Slug>,
}

/// A change to a tunnel. Absent fields stay as they are.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TunnelChange {
    /// Whether the tunnel is switched on.
    pub enabled: Option<bool>,
    /// The label that is shown to people.
    pub label: Option<String>,
    /// The sources that the relay is told of; an empty list means every source.
    #[schema(value_type = Option<Vec<String>>)]
    pub sources: Option<Vec<Slug>>,
}

/// The outcome of removing a tunnel.
#[derive(Clone, Copy, Debug, Serialize, utoipa::ToSchema)]
pub struct Removed {
    /// Whether the relay was told that this device leaves. If it was not, the relay goes on storing events and
    /// acknowledging them to providers until it forgets the device, 30 days after its last connection. Null if the
    /// tunnel has no relay.
    pub relay_told: Option<bool>,
}

/// An invitation, with which another device can join a tunnel. A secret.
#[derive(Clone, Serialize, utoipa::ToSchema)]
pub struct Invitation {
    /// The invitation as one line of text, for `hookmitt tunnel join`.
    pub invite: String,
    /// When the invitation expires.
    #[schema(value_type = String, format = "date-time")]
    pub until: Timestamp,
}

impl Tunnels {
    /// Adds a tunnel.
    ///
    /// # Errors
    /// Fails if the relay refuses, a program isn't installed, or the request makes no sense.
    pub async fn add(&self, order: TunnelRequest) -> Result<TunnelView, EngineError> {
        let label = order.label.as_deref().map(checked_label).transpose()?;
        let kind = order.kind.unwrap_or(TunnelKind::Relay);
        let sources = self.chosen(kind, &order.sources)?;
        let added = match (&order.invite, kind, kind::program(kind)) {
            (Some(invite), TunnelKind::Relay, _) => self.join_tunnel(invite.expose(), label, sources).await?,
            (Some(_), ..) => {
                let words = "an invitation can't be combined with other settings";
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

    /// Opens a tunnel at a relay. The keys are stored before the relay hears of them, so that no name is registered
    /// whose keys are lost.
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

    /// Joins a tunnel with an invitation.
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
            tracing::warn!(%error, "the keys of a tunnel that wasn't opened could not be deleted");
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
    /// Fails if the tunnel or a source is unknown, or if the label is invalid.
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

    /// Returns the chosen sources, sorted and each once.
    fn chosen(&self, kind: TunnelKind, slugs: &[Slug]) -> Result<Vec<String>, EngineError> {
        if kind != TunnelKind::Relay && !slugs.is_empty() {
            let words =
                "only a relay's tunnel serves several sources: set one `source` for a channel or a program";
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

    /// Removes a tunnel with its keys. If this process is connected to the relay, the relay is told first.
    ///
    /// # Errors
    /// Fails if the tunnel is unknown.
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
            tracing::warn!(%error, "the keys of a removed tunnel could not be deleted");
        }
        self.settings.reload().await?;
        self.register.until_ended(id).await;
        Ok(Removed { relay_told })
    }

    /// Creates an invitation for one more device.
    ///
    /// # Errors
    /// Fails if the tunnel is unknown, is not a relay's, or isn't connected here.
    pub async fn invite(&self, id: i64) -> Result<Invitation, EngineError> {
        let (kept, running) = self.shared_tunnel(id).await?;
        let Invite { code, until } = running.line.invite().await?;
        let credentials = self.current_credentials(&kept, &running).await?;
        Ok(Invitation { invite: invite_text(&credentials.invite(code)), until })
    }
}

/// Returns the name of this device at the relay: at most 60 characters of the computer's host name.
fn device_name() -> String {
    let name = gethostname::gethostname().to_string_lossy().into_owned();
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(60).collect();
    if name.is_empty() { "a computer".to_owned() } else { name }
}

/// Returns a label without surrounding spaces, if it has 1 to 60 characters and no control characters.
fn checked_label(label: &str) -> Result<String, EngineError> {
    let label = label.trim();
    let fits = (1..=60).contains(&label.chars().count()) && !label.chars().any(char::is_control);
    fits.then(|| label.to_owned()).ok_or_else(|| {
        EngineError::BadInput("a tunnel's name has 1 to 60 characters, without control characters".to_owned())
    })
}
