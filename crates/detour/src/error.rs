//! Why a detour does not work.

use hookmitt_event::Explain;

use crate::Quick;

/// Why there is no detour.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DetourError {
    /// The URL is no channel.
    #[error("{0} is no channel's URL")]
    BadUrl(String),
    /// The channel can't be listened to.
    #[error("can't listen to {host}: {why}")]
    Unreachable {
        /// Where it is.
        host: String,
        /// What was said.
        why: String,
    },
    /// The channel's host is there, and the channel is not, or no longer.
    #[error("can't listen to {host}: {why}")]
    Gone {
        /// Where it is.
        host: String,
        /// What was said.
        why: String,
    },
    /// The other side sends what no channel sends.
    #[error("{host} sent what is no channel's message: {why}")]
    Nonsense {
        /// Where it is.
        host: String,
        /// What was wrong.
        why: String,
    },
    /// The channel's host says no.
    #[error("can't listen to {host}: it answered {status}")]
    Answered {
        /// Where it is.
        host: String,
        /// What it said.
        status: u16,
    },
    /// The program is not installed.
    #[error("{0} is not installed")]
    Missing(Quick),
    /// The program can't be started.
    #[error("{which} can't be started: {why}")]
    NotStarted {
        /// Which.
        which: Quick,
        /// What the system said.
        why: String,
    },
    /// The program lost its connection.
    #[error("{which} lost its connection: {said}")]
    Cut {
        /// Which.
        which: Quick,
        /// How it said so.
        said: String,
    },
    /// The program ended.
    #[error("{which} ended: {said}")]
    Ended {
        /// Which.
        which: Quick,
        /// Its last words.
        said: String,
    },
    /// The program named no URL in time.
    #[error("{which} named no public URL within {seconds} s: {said}")]
    NoUrl {
        /// Which.
        which: Quick,
        /// How long it was waited.
        seconds: u64,
        /// Its last words.
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
