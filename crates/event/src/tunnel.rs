//! Ways in from the outside.

use serde::{Deserialize, Serialize};

/// What makes a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TunnelKind {
    /// A relay of ours, which keeps what comes while nobody is connected.
    Relay,
    /// A channel of smee.io or of its like.
    Smee,
    /// An installed `cloudflared`.
    Cloudflared,
    /// An installed `ngrok`.
    Ngrok,
}

impl TunnelKind {
    /// Every kind, in the order in which the inbox numbers them from 0.
    pub const ALL: [Self; 4] = [Self::Relay, Self::Smee, Self::Cloudflared, Self::Ngrok];
}

/// Why a tunnel was not connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GapWhy {
    /// The computer slept.
    Asleep,
    /// The network was gone or another.
    Network,
    /// The other side did not answer, or not as it should.
    Relay,
    /// No hookmitt ran.
    AppClosed,
    /// It was turned off by hand.
    Off,
}

impl GapWhy {
    /// Every reason, in the order in which the inbox numbers them from 0.
    pub const ALL: [Self; 5] = [Self::Asleep, Self::Network, Self::Relay, Self::AppClosed, Self::Off];
}
