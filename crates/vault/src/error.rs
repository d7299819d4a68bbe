//! What can go wrong with secrets, and what to do about it.

use std::{fmt, io, path::PathBuf, sync::Arc};

use hookmitt_event::{Explain, Plain, Slug};

/// Why a secret cannot be stored, found or removed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum VaultError {
    /// A file in the data directory cannot be read or written.
    #[error("{} can't be used", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// What the system reports.
        source: Arc<io::Error>,
    },
    /// A file in the data directory has unexpected content.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with its content.
        reason: String,
    },
    /// There is no keychain on this machine, or none in this session.
    #[error("there is no keychain here: {0}")]
    NoKeychain(String),
    /// There is a keychain, but it does not give access.
    #[error("the keychain is locked: {0}")]
    Locked(String),
    /// The keychain did not answer in time. It may be showing a password window.
    #[error("the keychain did not answer in time")]
    Slow,
    /// The keychain reported an error.
    #[error("the keychain failed: {0}")]
    Keychain(String),
    /// The value is not in the store where it should be.
    #[error("the value is missing from the {0}")]
    Missing(&'static str),
    /// The environment variable is not set or is empty. On Windows, also: it is not text.
    #[error("the environment variable {0} is not set, or empty")]
    NoVariable(String),
    /// The value is in a store that `HOOKMITT_KEYRING` forbids to use.
    #[error("it is stored in the {0}, which HOOKMITT_KEYRING excludes")]
    Forbidden(&'static str),
    /// `HOOKMITT_KEYRING` has an unknown value.
    #[error("HOOKMITT_KEYRING={} isn't valid", Plain(.0))]
    Choice(String),
    /// The text cannot be a label.
    #[error("not a label: {}", Plain(.0))]
    Label(String),
    /// The text cannot be the name of an environment variable. The error does not repeat it, because it may be the
    /// secret itself.
    #[error("that is not the name of an environment variable")]
    Variable,
    /// The secret is empty.
    #[error("the secret is empty")]
    Empty,
    /// There is no secret with this label.
    #[error("{source_name} has no secret called {}", Plain(label))]
    Unknown {
        /// The source.
        source_name: Slug,
        /// The label.
        label: String,
    },
}

impl Explain for VaultError {
    fn code(&self) -> &'static str {
        match self {
            Self::File { .. } => "vault-file",
            Self::Damaged { .. } => "vault-damaged",
            Self::NoKeychain(_) => "no-keychain",
            Self::Locked(_) => "keychain-locked",
            Self::Slow => "keychain-no-answer",
            Self::Keychain(_) => "keychain-failed",
            Self::Missing(_) => "secret-gone",
            Self::NoVariable(_) => "secret-env-missing",
            Self::Forbidden(_) => "secret-out-of-reach",
            Self::Choice(_) => "bad-keyring-setting",
            Self::Label(_) => "bad-label",
            Self::Variable => "bad-env-name",
            Self::Empty => "empty-secret",
            Self::Unknown { .. } => "unknown-secret",
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::File { source, .. } => format!("{source}; check the data directory's owner, permissions and free \
                                                  space"),
            Self::Damaged { .. } => "restore it from a backup, or remove it and set the secrets again".into(),
            Self::NoKeychain(_) => "start one, or set HOOKMITT_KEYRING=file to store secrets in a private file".into(),
            Self::Locked(_) | Self::Slow => {
                "unlock it (look for its password window), or set HOOKMITT_KEYRING=file and set the secret again".into()
            }
            Self::Keychain(_) => "try again; HOOKMITT_KEYRING=file stores secrets in a private file instead".into(),
            Self::Missing(_) => "set the secret again with `hookmitt secret set`".into(),
            Self::NoVariable(name) => format!("set {name} in the environment that starts hookmitt"),
            Self::Forbidden(_) => "change HOOKMITT_KEYRING, or set the secret again".into(),
            Self::Choice(_) => "use file, off or required, or leave it unset".into(),
            Self::Label(_) => "use 1 to 100 characters, without control characters".into(),
            Self::Variable => "use the name of the variable, such as GITHUB_WEBHOOK_SECRET, not its value".into(),
            Self::Empty => "pipe the provider's signing secret into `hookmitt secret set`".into(),
            Self::Unknown { .. } => "`hookmitt secret list` shows all secrets".into(),
        })
    }
}

/// A secret that could not be read. The others were read all the same.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The secret's source and label. `None` if the list of secrets itself could not be read.
    pub secret: Option<(Slug, String)>,
    /// Why it could not be read.
    pub error: VaultError,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.secret {
            Some((source, label)) => write!(out, "secret {} of {source}: {}", Plain(label), self.error),
            None => write!(out, "the secrets: {}", self.error),
        }
    }
}

impl std::error::Error for Problem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl Explain for Problem {
    fn code(&self) -> &'static str {
        self.error.code()
    }

    fn hint(&self) -> Option<String> {
        self.error.hint()
    }
}
