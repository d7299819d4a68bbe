//! Tunnels: ways in from the internet.

use serde::{Deserialize, Serialize};

/// What provides a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TunnelKind {
    /// A Hookmitt relay. It keeps requests while nobody is connected.
    Relay,
    /// A channel of smee.io or of a compatible server.
    Smee,
    /// An installed `cloudflared`.
    Cloudflared,
    /// An installed `ngrok`.
    Ngrok,
}

impl TunnelKind {
    /// Every kind. The inbox stores a kind as its position here, from 0.
    pub const ALL: [Self; 4] = [Self::Relay, Self::Smee, Self::Cloudflared, Self::Ngrok];
}

/// Why a tunnel was not connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum GapWhy {
    /// The computer was asleep.
    Asleep,
    /// The network was down, or it changed.
    Network,
    /// The relay or the other tunnel service did not answer, or not correctly.
    Relay,
    /// Hookmitt was not running.
    AppClosed,
    /// A person turned the tunnel off.
    Off,
}

impl GapWhy {
    /// Every reason. The inbox stores a reason as its position here, from 0.
    pub const ALL: [Self; 5] = [Self::Asleep, Self::Network, Self::Relay, Self::AppClosed, Self::Off];
}
