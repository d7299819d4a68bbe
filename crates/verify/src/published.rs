//! Keys that providers publish on the network, as far as they were fetched.

use crate::public_key::PublicKey;

/// What is known about a published key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// The key was fetched.
    Key(PublicKey),
    /// The key may be fetched, but wasn't yet.
    Awaited,
    /// The key is unavailable. The text gives the reason and is written to follow a colon.
    Unavailable(String),
}

/// Looks up published keys in memory, because computing a verdict never waits.
pub trait PublishedKeys: Sync {
    /// Returns the key or key set at that URL, for a signature that names the key `kid` if it names one.
    fn find(&self, url: &str, kid: Option<&str>) -> Published;
}

/// A published key that a verdict waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedKey {
    /// The URL where it is published.
    pub url: String,
    /// The id of the key within its set, if the signature names one.
    pub kid: Option<String>,
}
