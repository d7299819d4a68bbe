//! What can go wrong between this app and a relay.

use std::time::Duration;

use hookmitt_event::{Explain, Plain};
use hookmitt_seal::SealError;
use hookmitt_wire::FrameError;

/// The environment variable that names a PEM file of further certificate authorities to trust for relays.
pub const CA_VARIABLE: &str = "HOOKMITT_RELAY_CA";

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// This machine slept.
    Asleep,
    /// The network is down, or changed.
    Network,
    /// The relay ended the connection, or can't be reached.
    Relay,
    /// Hookmitt was closed.
    AppClosed,
}

/// Why a relay can't be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TunnelError {
    /// The URL can't be a relay's.
    #[error("not the URL of a relay: {0}")]
    Url(&'static str),
    /// The URL has `http://` and is not on this machine.
    #[error("http:// to {} would show the tunnel's traffic to everybody on the way", Plain(.0))]
    PlainHttp(String),
    /// The text is not an invite.
    #[error("not an invite: {0}")]
    Invite(&'static str),
    /// The file of further certificate authorities can't be used.
    #[error("the certificates in {CA_VARIABLE}={} can't be used: {reason}", Plain(path))]
    Certificates {
        /// The file's path.
        path: String,
        /// Why.
        reason: String,
    },
    /// The relay's host can't be reached.
    #[error("{0}")]
    Unreachable(String),
    /// The host refuses connections: no relay listens there.
    #[error("{0}")]
    NotRunning(String),
    /// The TLS certificate does not prove that this is the relay.
    #[error("the relay can't be trusted: {0}")]
    Tls(String),
    /// No answer came in time.
    #[error("the relay did not answer within {} s", .0.as_secs())]
    Slow(Duration),
    /// Nothing came over the open connection for this long.
    #[error("nothing was heard of the relay for {} s", .0.as_secs())]
    Silent(Duration),
    /// The connection ended.
    #[error("the relay's connection ended: {0}")]
    Closed(String),
    /// The answer, with this status, is not a relay's.
    #[error("there is no relay: the answer was {0}")]
    NoRelay(u16),
    /// The relay refused the request.
    #[error("{}", Plain(&.0.message))]
    Refused(RelayProblem),
    /// A frame can't be read.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The relay breaks the protocol.
    #[error("the relay does not keep to the protocol: {0}")]
    Protocol(&'static str),
    /// The relay is too old for this request.
    #[error("the relay is an older hookmitt, which knows nothing of {0}")]
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

    pub(crate) fn why(&self) -> Why {
        match self {
            Self::Unreachable(_) | Self::Slow(_) | Self::Silent(_) => Why::Network,
            _ => Why::Relay,
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
            Self::Unreachable(_) | Self::NotRunning(_) => "relay-unreachable",
            Self::Tls(_) => "relay-untrusted",
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
            Self::Url(_) => "give it as https://relay.example.com".into(),
            Self::PlainHttp(_) => "use https://; http:// is for a relay on this machine only".into(),
            Self::Invite(_) => "paste the whole line that `hookmitt tunnel invite` printed".into(),
            Self::Certificates { .. } => "name a PEM file with the certificates of your authority".into(),
            Self::Unreachable(_) | Self::Slow(_) | Self::Silent(_) => {
                "check this machine's network, and that the relay runs".into()
            }
            Self::NotRunning(_) => "check that the relay runs, and its port".into(),
            Self::Tls(_) => format!(
                "check the relay's certificate; for an authority of your own set {} to its PEM file",
                CA_VARIABLE
            ),
            Self::OldRelay(_) => "update hookmitt where the relay runs".into(),
            Self::Closed(_) => "it is called again by itself; `hookmitt tunnel status` shows it".into(),
            Self::NotConnected => {
                "a running hookmitt connects it: `hookmitt serve`; `hookmitt tunnel status` says how it is"
                    .into()
            }
            Self::NoRelay(_) => "check the URL, and what stands before the relay".into(),
            Self::Refused(problem) if problem.code == "connected-elsewhere" => {
                "is a copy of this data directory in use? Each hookmitt needs keys of its own: remove the tunnel here, and \
                 take part with an invitation (`hookmitt tunnel invite`, `join`)"
                    .into()
            }
            Self::Refused(problem) => return problem.hint.clone(),
            Self::Frame(FrameError::Version { .. }) => "update the older of the two".into(),
            Self::Frame(_) | Self::Protocol(_) => "update relay and app to the same version".into(),
            Self::Key(error) => return error.hint(),
        })
    }
}
