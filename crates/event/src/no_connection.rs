//! Why nobody could be reached: one classification for targets, relays and channels.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why there is no connection to another side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoConnection {
    /// The other machine answered that nobody listens on that port.
    ConnectionRefused,
    /// The host's name does not resolve.
    UnknownName,
    /// There is no route to the host.
    NoRoute,
    /// Nothing was heard in time.
    NoAnswer,
    /// The certificate does not prove who it is, or no TLS is spoken.
    Untrusted,
    /// The connection broke off, or failed for another reason.
    BrokenOff,
    /// This machine could not even try: it has no file descriptor left.
    Hindered,
}

impl NoConnection {
    /// Every reason. The inbox stores a reason as its position here, from 0.
    pub const ALL: [Self; 7] = [
        Self::ConnectionRefused,
        Self::UnknownName,
        Self::NoRoute,
        Self::NoAnswer,
        Self::Untrusted,
        Self::BrokenOff,
        Self::Hindered,
    ];
}

impl fmt::Display for NoConnection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::ConnectionRefused => "connection refused",
            Self::UnknownName => "name not found",
            Self::NoRoute => "no route",
            Self::NoAnswer => "no answer in time",
            Self::Untrusted => "certificate not trusted",
            Self::BrokenOff => "connection broken off",
            Self::Hindered => "could not be tried",
        })
    }
}

/// Why nobody was reached, and what exactly went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// Why.
    pub why: NoConnection,
    /// What went wrong, in words.
    pub error: String,
}
