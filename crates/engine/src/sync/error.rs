//! Why a source can't be synced.

use hookmitt_event::{Explain, Slug};
use hookmitt_sync::{AskError, CallError, ItemError, OwnError, PagingError};

/// Why a source can't be synced with its provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyncError {
    /// Nobody knows how to list what is sent to the source.
    #[error("{0}: its provider has no API that lists what it sends, as far as this hookmitt knows")]
    NoConnector(Slug),
    /// The source has no provider.
    #[error("{0} has no provider yet, so nobody knows whose API to ask")]
    NoProvider(Slug),
    /// The source has no API key.
    #[error("{0} has no API key")]
    NoKey(Slug),
    /// The API key was given for other hosts.
    #[error("the API key of {slug} was given for {} and isn't sent to {host}", given.join(", "))]
    OtherHost {
        /// The source.
        slug: Slug,
        /// The hosts for which it was given.
        given: Vec<String>,
        /// The host that the connector calls now.
        host: String,
    },
    /// Something is missing that the connector has to know.
    #[error("{slug} lacks {label}: {hint}")]
    NoParam {
        /// The source.
        slug: Slug,
        /// The parameter's name.
        name: String,
        /// What people call it.
        label: String,
        /// Where to find it.
        hint: String,
    },
    /// The connector doesn't ask for a parameter that is set.
    #[error("{slug} has no parameter {name:?}")]
    UnknownParam {
        /// The source.
        slug: Slug,
        /// The parameter's name.
        name: String,
        /// The names of those that there are.
        known: Vec<String>,
    },
    /// A user's own connector can't be used.
    #[error("the connector can't be used: {0}")]
    Own(#[from] OwnError),
    /// A request can't be made.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// A request has no good answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// An answer isn't a list.
    #[error("{error}{}", said.as_ref().map_or_else(String::new, |said| format!("; it says: {said}")))]
    Items {
        /// Why not.
        error: ItemError,
        /// What the answer says instead.
        said: Option<String>,
    },
    /// The list leads nowhere.
    #[error("the list can't be read to its end: {0}")]
    Paging(#[from] PagingError),
    /// The list is too long.
    #[error("the list has more than {0} items")]
    TooMany(usize),
}

impl Explain for SyncError {
    fn code(&self) -> &'static str {
        match self {
            Self::NoConnector(_) => "no-connector",
            Self::NoProvider(_) => "no-provider",
            Self::NoKey(_) => "no-api-key",
            Self::OtherHost { .. } => "api-key-of-another-host",
            Self::NoParam { .. } => "missing-sync-param",
            Self::UnknownParam { .. } => "unknown-sync-param",
            Self::Own(_) => "bad-connector",
            Self::Ask(_) => "bad-api-request",
            Self::Call(error) => error.code(),
            Self::Items { .. } => "api-answer-strange",
            Self::Paging(_) => "api-list-endless",
            Self::TooMany(_) => "api-list-long",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoConnector(slug) => {
                format!("describe its API in a file: `hookmitt sync set {slug} --connector FILE`")
            }
            Self::NoProvider(slug) => format!("set it: `hookmitt source edit {slug} --provider ID`"),
            Self::NoKey(slug) => format!("set it: `hookmitt sync key {slug}` reads it from stdin"),
            Self::OtherHost { slug, .. } => {
                format!("if it belongs there, set it again: `hookmitt sync key {slug}`")
            }
            Self::NoParam { slug, name, .. } => {
                format!("set it: `hookmitt sync set {slug} --param {name}=…`")
            }
            Self::UnknownParam { slug, known, .. } if known.is_empty() => {
                format!("{slug} takes none")
            }
            Self::UnknownParam { slug, known, .. } => format!("{slug} takes {}", known.join(", ")),
            Self::Call(error) => return error.hint(),
            Self::TooMany(_) => "name a shorter time with `--since` and `--until`".to_owned(),
            Self::Own(_) => "`hookmitt sync preset mux` prints one that works".to_owned(),
            Self::Ask(_) | Self::Items { .. } | Self::Paging(_) => return None,
        })
    }
}
