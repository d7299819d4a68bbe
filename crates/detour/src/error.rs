//! Why a detour does not work.

use hookmitt_event::Explain;

use crate::Quick;

/// Why there is no detour, or no longer one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DetourError {
    /// The URL is not a channel's URL.
    #[error("{0} is no channel's URL")]
    BadUrl(String),
    /// The channel's host can't be reached, or has fallen silent.
    #[error("can't listen to {host}: {why}")]
    Unreachable {
        /// The channel's host.
        host: String,
        /// What happened.
        why: String,
    },
    /// The channel's host refused the connection, or the stream ended or broke off: the network works.
    #[error("can't listen to {host}: {why}")]
    Gone {
        /// The channel's host.
        host: String,
        /// What happened.
        why: String,
    },
    /// The host sent something that no channel sends.
    #[error("{host} sent what is no channel's message: {why}")]
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
    #[error("{which} named no public URL within {seconds} s: {said}")]
    NoUrl {
        /// Which program.
        which: Quick,
        /// How long hookmitt waited for the URL, in seconds.
        seconds: u64,
        /// The last lines of its output.
        said: String,
    },
}

impl Explain for DetourError {
    fn code(&self) -> &'static str {
        match self {
            Self::BadUrl(_) => "bad-channel-url",
            Self::Unreachable { .. } | Self::Gone { .. } | Self::Answered { .. } => "channel-unreachable",
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
            Self::BadUrl(_) => "give the whole URL, such as https://smee.io/aBcDeF123".to_owned(),
            Self::Unreachable { .. } | Self::Gone { .. } | Self::Answered { .. } => {
                "it is tried again by itself; check the URL and the network".to_owned()
            }
            Self::Nonsense { .. } => {
                "use the URL of a smee channel, not of the page that shows it".to_owned()
            }
            Self::Missing(which) => which.install().to_owned(),
            Self::Cut { .. } => "it connects again by itself; check the network".to_owned(),
            Self::NotStarted { which, .. } | Self::Ended { which, .. } | Self::NoUrl { which, .. } => {
                format!("it is tried again by itself; run `{which}` by hand to see what it lacks")
            }
        })
    }
}
