//! Why a call to a provider's API has no good answer.

use std::time::Duration;

use hookmitt_event::Explain;

/// Why a call to a provider's API has no good answer. `said` is what the answer says, in the provider's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The key can't be one.
    #[error("the API key has characters that no key has")]
    Key,
    /// The address must not be called.
    #[error("the API key isn't sent to {0}")]
    Forbidden(String),
    /// There was no whole answer in time.
    #[error("the API doesn't answer in time")]
    Slow,
    /// There is no connection, or it broke.
    #[error("the API can't be reached: {0}")]
    Unreachable(String),
    /// 401.
    #[error("the API doesn't know this key (401){}", quoted(.0))]
    Unauthorized(Option<String>),
    /// 403.
    #[error("the API key may not do this (403){}", quoted(.0))]
    Refused(Option<String>),
    /// Another 4xx.
    #[error("the API answers {status}{}", quoted(.said))]
    Rejected {
        /// The status.
        status: u16,
        /// The message.
        said: Option<String>,
    },
    /// 429, or a 403 that is one.
    #[error("the API takes no more calls for now{}", quoted(.said))]
    Limited {
        /// How long.
        after: Option<Duration>,
        /// The message.
        said: Option<String>,
    },
    /// 5xx.
    #[error("the API answers {status}{}", quoted(.said))]
    Failed {
        /// The status.
        status: u16,
        /// When to try again, if it says so.
        after: Option<Duration>,
        /// The message.
        said: Option<String>,
    },
    /// 3xx.
    #[error("the API answers with a redirect, which isn't followed with a key")]
    Redirect,
    /// The answer is larger than [`LARGEST`](crate::LARGEST).
    #[error("the API's answer is larger than 10 MB")]
    TooLarge,
    /// The answer isn't JSON.
    #[error("the API's answer isn't JSON: {0}")]
    NoJson(String),
}

fn quoted(said: &Option<String>) -> String {
    said.as_ref().map_or_else(String::new, |said| format!(": {said}"))
}

impl CallError {
    /// Whether the same call may have a good answer a little later.
    pub const fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Slow | Self::Unreachable(_) | Self::Limited { .. } | Self::Failed { .. } | Self::NoJson(_)
        )
    }

    /// Returns how long the API asks to wait.
    pub const fn after(&self) -> Option<Duration> {
        match self {
            Self::Limited { after, .. } | Self::Failed { after, .. } => *after,
            _ => None,
        }
    }
}

impl Explain for CallError {
    fn code(&self) -> &'static str {
        match self {
            Self::Key => "bad-api-key",
            Self::Forbidden(_) => "forbidden-address",
            Self::Slow => "api-slow",
            Self::Unreachable(_) => "api-unreachable",
            Self::Unauthorized(_) => "api-key-unknown",
            Self::Refused(_) => "api-key-refused",
            Self::Rejected { .. } => "api-rejected",
            Self::Limited { .. } => "api-limited",
            Self::Failed { .. } => "api-failed",
            Self::Redirect => "api-redirects",
            Self::TooLarge => "api-answer-large",
            Self::NoJson(_) => "api-answer-no-json",
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Key | Self::Unauthorized(_) => "set it again: `hookmitt sync key SLUG`",
            Self::Forbidden(_) => {
                "use https, or http for a server on this machine; link-local and metadata addresses are never called"
            }
            Self::Refused(_) => "give the key the rights that `hookmitt sync show SLUG` names",
            Self::Rejected { status: 404 | 410, .. } => {
                "see whether what the settings name exists: `hookmitt sync show SLUG`"
            }
            Self::Redirect => "see whether what the settings name was moved or renamed",
            Self::Limited { .. } | Self::Failed { .. } | Self::Slow | Self::Unreachable(_) => {
                "it is tried again with the next sync; nothing is lost until then"
            }
            Self::Rejected { .. } | Self::TooLarge | Self::NoJson(_) => return None,
        };
        Some(hint.to_owned())
    }
}
