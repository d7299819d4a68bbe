//! Why a text is not the URL of a target.

use hookmitt_event::Explain;

/// Why a text is not the URL of a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetUrlError {
    /// It begins with neither `http://` nor `https://`.
    #[error("the target doesn't start with http:// or https://")]
    Scheme,
    /// It has no host, or an impossible one.
    #[error("the target has no valid host or port: {0}")]
    Host(String),
    /// Its port is 0, at which no server can listen.
    #[error("the target's port is 0")]
    Port,
    /// It has a user name or password before the host.
    #[error("the target contains a user name or password")]
    Login,
    /// It has a fragment (`#…`).
    #[error("the target contains a fragment (#…)")]
    Fragment,
    /// It has a character that must be percent-encoded in a URL.
    #[error("the target contains a character that must be percent-encoded: {0:?}")]
    Character(char),
}

impl Explain for TargetUrlError {
    fn code(&self) -> &'static str {
        match self {
            Self::Scheme => "target-not-http",
            Self::Host(_) => "target-bad-host",
            Self::Port => "target-port-zero",
            Self::Login => "target-with-login",
            Self::Fragment => "target-with-fragment",
            Self::Character(_) => "target-bad-character",
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Scheme | Self::Host(_) => "write it like http://localhost:3000/webhooks",
            Self::Port => "use the port that your server listens on",
            Self::Login => "leave it out: events keep the sender's own Authorization header",
            Self::Fragment => "leave out the # and what follows, which is never sent to a server",
            Self::Character(_) => "write it as %XX; a space, for example, as %20",
        };
        Some(hint.to_owned())
    }
}
