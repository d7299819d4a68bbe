//! Tunnels as they are added and changed.

use hookmitt_event::{Slug, Timestamp, TunnelKind};
use serde::{Deserialize, Serialize};

use crate::{Engine, EngineError, TunnelView};

/// A tunnel to be added: a relay with a token, an invitation, a channel, or a program for one source.
#[derive(Clone, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TunnelOrder {
    /// What makes it; `relay` without.
    pub kind: Option<TunnelKind>,
    /// The relay's URL.
    pub relay: Option<String>,
    /// A token that the relay gave out.
    pub token: Option<String>,
    /// The name that is wanted at the relay; an unguessable one without.
    pub name: Option<String>,
    /// What people call it; its name at the relay without.
    pub label: Option<String>,
    /// An invitation to a teammate's tunnel, instead of relay and token.
    pub invite: Option<String>,
    /// The URL of a channel.
    pub url: Option<String>,
    /// The source that a channel or program serves.
    #[schema(value_type = Option<String>)]
    pub source: Option<Slug>,
}

/// A change to a tunnel: what is absent stays.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TunnelChange {
    /// Whether it is wanted.
    pub enabled: Option<bool>,
    /// What people call it.
    pub label: Option<String>,
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

impl Engine {
    /// Adds a tunnel.
    ///
    /// # Errors
    /// What the relay says; an order that makes no sense.
    pub async fn add_tunnel(&self, _order: TunnelOrder) -> Result<TunnelView, EngineError> {
        Err(EngineError::BadInput("no tunnel can be added yet".to_owned()))
    }

    /// Changes a tunnel.
    ///
    /// # Errors
    /// An unknown tunnel, a label that is none.
    pub async fn change_tunnel(&self, id: i64, change: TunnelChange) -> Result<TunnelView, EngineError> {
        let kept = self.inbox.tunnel(id).await?;
        let label = change.label.map_or(Ok(kept.label), |label| checked_label(&label))?;
        self.inbox.set_tunnel(id, label, change.enabled.unwrap_or(kept.enabled)).await?;
        self.reload().await?;
        self.tunnel(id).await
    }

    /// Removes a tunnel with its keys.
    ///
    /// # Errors
    /// An unknown tunnel.
    pub async fn remove_tunnel(&self, id: i64) -> Result<(), EngineError> {
        self.inbox.remove_tunnel(id, Timestamp::now()).await?;
        self.reload().await
    }

    /// Makes an invitation for one more device.
    ///
    /// # Errors
    /// An unknown tunnel; one that isn't connected.
    pub async fn invite_to_tunnel(&self, id: i64) -> Result<Invitation, EngineError> {
        self.inbox.tunnel(id).await?;
        Err(EngineError::BadInput("nobody can be invited yet".to_owned()))
    }
}

/// A name for people.
fn checked_label(label: &str) -> Result<String, EngineError> {
    let label = label.trim();
    let fits = (1..=60).contains(&label.chars().count()) && !label.chars().any(char::is_control);
    fits.then(|| label.to_owned()).ok_or_else(|| {
        EngineError::BadInput("a tunnel is called by 1 to 60 letters, without control characters".to_owned())
    })
}
