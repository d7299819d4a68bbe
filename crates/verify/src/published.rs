//! Keys that providers publish on the network, as far as somebody has fetched them.

use crate::public_key::PublicKey;

/// What is known of a published key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// It was fetched.
    Key(PublicKey),
    /// It may be fetched, and wasn't yet.
    Awaited,
    /// It can't be had; why, in words that follow a colon.
    Unavailable(String),
}

/// Where published keys are looked up: in memory, for a verdict never waits.
pub trait PublishedKeys: Sync {
    /// The key or set at that URL, for a signature that names the key `kid` where it names one.
    fn find(&self, url: &str, kid: Option<&str>) -> Published;
}

/// A published key that a verdict waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedKey {
    /// Where it is published.
    pub url: String,
    /// The id of the key in the set, where the signature names one.
    pub kid: Option<String>,
}
