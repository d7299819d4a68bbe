//! What can go wrong between this app and a relay.

use std::{fmt, time::Duration};

use hookmitt_event::{Explain, GapWhy, NoConnection, Plain, Silence};
use hookmitt_seal::SealError;
use hookmitt_wire::FrameError;

/// The environment variable that names a PEM file of further certificate authorities to trust for relays.
pub const CA_VARIABLE: &str = "HOOKMITT_RELAY_CA";

/// Why a relay can't be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TunnelError {
    /// The URL can't be a relay's.
    #[error("not the URL of a relay: {0}")]
    Url(&'static str),
    /// The URL has `http://` and is not on this machine.
    #[error("http:// to {} would show the tunnel's traffic to everyone on the way", Plain(.0))]
    PlainHttp(String),
    /// The text is not an invite.
    #[error("not an invitation: {0}")]
    Invite(&'static str),
    /// The file of further certificate authorities can't be used.
    #[error("the certificates in {CA_VARIABLE}={} can't be used: {reason}", Plain(path))]
    Certificates {
        /// The file's path.
        path: String,
        /// Why.
        reason: String,
    },
    /// The relay can't be reached.
    #[error("{}", .0.error)]
    Unreachable(Silence),
    /// The TLS certificate does not prove that this is the relay.
    #[error("the relay can't be trusted: {0}")]
    Tls(String),
    /// The URL has `https://`, but the relay (host and port) answers without TLS.
    #[error("this relay speaks http: {} answers without TLS", Plain(.0))]
    SpeaksHttp(String),
    /// No answer came in time.
    #[error("the relay did not answer within {} s", .0.as_secs())]
    Slow(Duration),
    /// Nothing came over the open connection for this long.
    #[error("nothing was heard from the relay for {} s", .0.as_secs())]
    Silent(Duration),
    /// The connection ended.
    #[error("the relay's connection ended: {0}")]
    Closed(String),
    /// The answer, with this status, is not a relay's.
    #[error("there is no relay at that URL: the answer was {0}")]
    NoRelay(u16),
    /// The relay refused the request.
    #[error("{}", Plain(&.0.message))]
    Refused(RelayProblem),
    /// A frame can't be read.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The relay breaks the protocol.
    #[error("the relay violates the protocol: {0}")]
    Protocol(&'static str),
    /// The relay is too old for this request.
    #[error("the relay is an older hookmitt without support for {0}")]
    OldRelay(&'static str),
    /// The tunnel is not connected at the moment.
    #[error("the tunnel is not connected")]
    NotConnected,
    /// The tunnel's own keys can't be used.
    #[error(transparent)]
    Key(#[from] SealError),
}

/// What a relay said when it refused something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayProblem {
    /// The relay's stable error code.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl TunnelError {
    /// Returns the relay's own code if it refused, else [`Explain::code`].
    pub fn any_code(&self) -> &str {
        match self {
            Self::Refused(problem) => &problem.code,
            _ => self.code(),
        }
    }

    /// Whether trying again is useless until somebody does something.
    pub(crate) fn needs_a_person(&self) -> bool {
        match self {
            Self::Refused(problem) => {
                matches!(
                    problem.code.as_str(),
                    "unknown-tunnel"
                        | "unknown-device"
                        | "connected-elsewhere"
                        | "bad-signature"
                        | "version"
                        | "revoked"
                )
            }
            Self::Frame(FrameError::Version { .. }) | Self::Key(_) | Self::Url(_) | Self::PlainHttp(_) => {
                true
            }
            _ => false,
        }
    }

    pub(crate) fn unreachable(why: NoConnection, error: impl fmt::Display) -> Self {
        Self::Unreachable(Silence { why, error: error.to_string() })
    }

    /// Returns why there is no connection.
    pub fn why(&self) -> GapWhy {
        match self {
            Self::Unreachable(silence) => silence.why.into(),
            Self::Slow(_) | Self::Silent(_) => GapWhy::NoAnswer,
            Self::Tls(_) | Self::SpeaksHttp(_) => GapWhy::Untrusted,
            Self::Refused(_) => GapWhy::Denied,
            Self::Url(_)
            | Self::PlainHttp(_)
            | Self::Invite(_)
            | Self::Certificates { .. }
            | Self::NotConnected
            | Self::Key(_) => GapWhy::Hindered,
            Self::Closed(_) | Self::NoRelay(_) | Self::Frame(_) | Self::Protocol(_) | Self::OldRelay(_) => {
                GapWhy::Relay
            }
        }
    }
}

impl Explain for TunnelError {
    fn code(&self) -> &'static str {
        match self {
            Self::Url(_) => "bad-relay-url",
            Self::PlainHttp(_) => "relay-without-tls",
            Self::Invite(_) => "bad-invite",
            Self::Certificates { .. } => "bad-relay-ca",
            Self::Unreachable(_) => "relay-unreachable",
            Self::Tls(_) => "relay-untrusted",
            Self::SpeaksHttp(_) => "relay-speaks-http",
            Self::Slow(_) => "relay-slow",
            Self::Silent(_) => "relay-silent",
            Self::Closed(_) => "relay-closed",
            Self::NoRelay(_) => "no-relay",
            Self::Refused(_) => "relay-refused",
            Self::Frame(FrameError::Version { .. }) => "relay-version",
            Self::Frame(_) | Self::Protocol(_) => "relay-protocol",
            Self::OldRelay(_) => "relay-too-old",
            Self::NotConnected => "tunnel-not-connected",
            Self::Key(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Url(_) => "write it like https://relay.example.com".into(),
            Self::PlainHttp(_) => "use https://; http:// is only for a relay on this machine".into(),
            Self::Invite(_) => "paste the whole line that `hookmitt tunnel invite` printed".into(),
            Self::Certificates { .. } => "set it to a PEM file with your authority's certificates".into(),
            Self::Unreachable(Silence { why: NoConnection::ConnectionRefused, .. }) => {
                "check that the relay is running, and its port".into()
            }
            Self::Unreachable(Silence { why: NoConnection::UnknownName, .. }) => {
                "check the name in the relay's URL, and this machine's network".into()
            }
            Self::Unreachable(_) | Self::Slow(_) | Self::Silent(_) => {
                "check this machine's network, and that the relay is running".into()
            }
            Self::Tls(_) => format!(
                "check the relay's certificate; for your own authority, set {} to its PEM file",
                CA_VARIABLE
            ),
            Self::SpeaksHttp(authority) => format!(
                "on this machine use http://{authority}; otherwise give the relay a certificate (`hookmitt relay --acme`), \
                 or use the URL of the proxy in front of it"
            ),
            Self::OldRelay(_) => "update hookmitt on the relay".into(),
            Self::Closed(_) => "it reconnects automatically; `hookmitt tunnel status` shows its state".into(),
            Self::NotConnected => {
                "start hookmitt to connect it: `hookmitt serve`; `hookmitt tunnel status` shows its state"
                    .into()
            }
            Self::NoRelay(_) => "check the URL, and any proxy in front of the relay".into(),
            Self::Refused(problem) if problem.code == "connected-elsewhere" => {
                "is a copy of this data directory in use? Each hookmitt needs its own keys: remove the tunnel here, \
                 and join again with an invitation (`hookmitt tunnel invite`, `join`)"
                    .into()
            }
            Self::Refused(problem) => return problem.hint.clone(),
            Self::Frame(FrameError::Version { .. }) => "update whichever is older".into(),
            Self::Frame(_) | Self::Protocol(_) => "update relay and app to the same version".into(),
            Self::Key(error) => return error.hint(),
        })
    }
}
