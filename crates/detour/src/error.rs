//! Why a detour does not work.

use hookmitt_event::Explain;

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
    /// The other side sends what no channel sends.
    #[error("{host} sent what is no channel's message: {why}")]
    Nonsense {
        /// Where it is.
        host: String,
        /// What was wrong.
        why: String,
    },
    /// The program is not installed.
    #[error("{0} is not installed")]
    Missing(&'static str),
    /// The program can't be started.
    #[error("{program} can't be started: {why}")]
    NotStarted {
        /// Which.
        program: &'static str,
        /// What the system said.
        why: String,
    },
    /// The program ended.
    #[error("{program} ended: {said}")]
    Ended {
        /// Which.
        program: &'static str,
        /// Its last words.
        said: String,
    },
    /// The program named no URL in time.
    #[error("{program} named no public URL within {seconds} s: {said}")]
    NoUrl {
        /// Which.
        program: &'static str,
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
            Self::Unreachable { .. } => "channel-unreachable",
            Self::Nonsense { .. } => "channel-nonsense",
            Self::Missing(_) => "program-missing",
            Self::NotStarted { .. } => "program-not-started",
            Self::Ended { .. } => "program-ended",
            Self::NoUrl { .. } => "no-public-url",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::BadUrl(_) => "give the whole URL, such as https://smee.io/aBcDeF123".to_owned(),
            Self::Unreachable { .. } => {
                "it is tried again by itself; check the URL and the network".to_owned()
            }
            Self::Nonsense { .. } => {
                "use the URL of a smee channel, not of the page that shows it".to_owned()
            }
            Self::Missing(program) => format!("install {program}, and see that it is on the PATH"),
            Self::NotStarted { program, .. } | Self::Ended { program, .. } | Self::NoUrl { program, .. } => {
                format!("run {program} by hand to see what it lacks, such as an account's token")
            }
        })
    }
}
