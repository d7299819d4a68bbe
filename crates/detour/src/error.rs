//! Why a detour does not work.

use hookmitt_call::way_out;
use hookmitt_event::{Explain, GapWhy, NoConnection};

use crate::Quick;

/// Why there is no detour, or no longer one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DetourError {
    /// The URL is not a channel's URL.
    #[error("{0} isn't the URL of a channel")]
    BadUrl(String),
    /// There is no connection to the channel's host, or no longer one.
    #[error("can't listen to {host}: {error}")]
    Unreachable {
        /// The channel's host.
        host: String,
        /// Why.
        why: NoConnection,
        /// What happened.
        error: String,
    },
    /// The host sent something that no channel sends.
    #[error("{host} sent something that isn't a channel message: {why}")]
    Nonsense {
        /// The channel's host.
        host: String,
        /// What was wrong with it.
        why: String,
    },
    /// The channel's host answered with a status other than 2xx.
    #[error("can't listen to {host}: it answered {status}")]
    Answered {
        /// The channel's host.
        host: String,
        /// The status.
        status: u16,
    },
    /// The program is not installed.
    #[error("{0} is not installed")]
    Missing(Quick),
    /// The program can't be started.
    #[error("{which} can't be started: {why}")]
    NotStarted {
        /// Which program.
        which: Quick,
        /// The system's error.
        why: String,
    },
    /// The program lost its connection.
    #[error("{which} lost its connection: {said}")]
    Cut {
        /// Which program.
        which: Quick,
        /// The line of its log that says so.
        said: String,
    },
    /// The program ended.
    #[error("{which} ended: {said}")]
    Ended {
        /// Which program.
        which: Quick,
        /// The last lines of its output.
        said: String,
    },
    /// The program named no public URL in time.
    #[error("{which} gave no public URL within {seconds} s: {said}")]
    NoUrl {
        /// Which program.
        which: Quick,
        /// How long hookmitt waited for the URL, in seconds.
        seconds: u64,
        /// The last lines of its output.
        said: String,
    },
}

impl DetourError {
    /// Returns why there is no connection. A host that isn't heard, or whose name isn't found, shows nothing of the
    /// network; the routing table does.
    pub fn why(&self) -> GapWhy {
        let is_cut_off = || way_out().is_none();
        match self {
            Self::Unreachable { why: NoConnection::UnknownName | NoConnection::NoAnswer, .. }
            | Self::Cut { .. }
                if is_cut_off() =>
            {
                GapWhy::Network
            }
            Self::Unreachable { why, .. } => (*why).into(),
            Self::Nonsense { .. } | Self::Answered { .. } | Self::Cut { .. } | Self::NoUrl { .. } => {
                GapWhy::Relay
            }
            Self::Missing(_) | Self::NotStarted { .. } | Self::Ended { .. } => GapWhy::NotRunning,
            Self::BadUrl(_) => GapWhy::Hindered,
        }
    }
}

impl Explain for DetourError {
    fn code(&self) -> &'static str {
        match self {
            Self::BadUrl(_) => "bad-channel-url",
            Self::Unreachable { .. } | Self::Answered { .. } => "channel-unreachable",
            Self::Nonsense { .. } => "channel-nonsense",
            Self::Missing(_) => "program-missing",
            Self::NotStarted { .. } => "program-not-started",
            Self::Cut { .. } => "program-cut",
            Self::Ended { .. } => "program-ended",
            Self::NoUrl { .. } => "no-public-url",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::BadUrl(_) => "use the whole URL, such as https://smee.io/aBcDeF123".to_owned(),
            Self::Unreachable { .. } | Self::Answered { .. } => {
                "this is retried automatically; check the URL and the network".to_owned()
            }
            Self::Nonsense { .. } => {
                "use the URL of the smee channel, not of the page that shows it".to_owned()
            }
            Self::Missing(which) => which.install().to_owned(),
            Self::Cut { .. } => "it reconnects automatically; check the network".to_owned(),
            Self::NotStarted { which, .. } | Self::Ended { which, .. } | Self::NoUrl { which, .. } => {
                format!("this is retried automatically; run `{which}` by hand to see what is missing")
            }
        })
    }
}
