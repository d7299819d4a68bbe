//! Tunnels: ways in from the internet.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::NoConnection;

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
    /// The relay or the other tunnel service broke off, or did not answer correctly.
    Relay,
    /// Hookmitt was not running.
    AppClosed,
    /// A person turned the tunnel off.
    Off,
    /// Nobody listened there: the connection was refused.
    ConnectionRefused,
    /// The other side's name did not resolve.
    UnknownName,
    /// Nothing was heard of the other side in time.
    NoAnswer,
    /// The other side's certificate was not trusted.
    Untrusted,
    /// The program that opens the public URL did not run.
    NotRunning,
    /// The relay refused this device.
    Denied,
    /// Something on this computer kept the tunnel from running.
    Hindered,
}

impl GapWhy {
    /// Every reason. The inbox stores a reason as its position here, from 0.
    pub const ALL: [Self; 12] = [
        Self::Asleep,
        Self::Network,
        Self::Relay,
        Self::AppClosed,
        Self::Off,
        Self::ConnectionRefused,
        Self::UnknownName,
        Self::NoAnswer,
        Self::Untrusted,
        Self::NotRunning,
        Self::Denied,
        Self::Hindered,
    ];

    /// Whether the reason stays the gap's, whatever keeps the connection from coming back afterwards. Any other reason
    /// gives way to a later one, because what is found when we try again explains more than how the connection ended.
    pub fn stays(self) -> bool {
        matches!(self, Self::Asleep | Self::AppClosed | Self::Off)
    }
}

impl fmt::Display for GapWhy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Asleep => "the computer slept",
            Self::Network => "network cut",
            Self::Relay => "relay fault",
            Self::AppClosed => "hookmitt not running",
            Self::Off => "turned off",
            Self::NotRunning => "the program isn't running",
            Self::Denied => "refused by the relay",
            Self::Hindered => "can't run here",
            Self::ConnectionRefused => return NoConnection::ConnectionRefused.fmt(out),
            Self::UnknownName => return NoConnection::UnknownName.fmt(out),
            Self::NoAnswer => return NoConnection::NoAnswer.fmt(out),
            Self::Untrusted => return NoConnection::Untrusted.fmt(out),
        })
    }
}

impl From<NoConnection> for GapWhy {
    fn from(why: NoConnection) -> Self {
        match why {
            NoConnection::ConnectionRefused => Self::ConnectionRefused,
            NoConnection::UnknownName => Self::UnknownName,
            NoConnection::NoRoute => Self::Network,
            NoConnection::NoAnswer => Self::NoAnswer,
            NoConnection::Untrusted => Self::Untrusted,
            NoConnection::BrokenOff => Self::Relay,
            NoConnection::Hindered => Self::Hindered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_at_its_own_place() {
        for (place, why) in GapWhy::ALL.into_iter().enumerate() {
            assert_eq!(why as usize, place, "{why}");
        }
        for (place, why) in NoConnection::ALL.into_iter().enumerate() {
            assert_eq!(why as usize, place, "{why}");
        }
    }
}
