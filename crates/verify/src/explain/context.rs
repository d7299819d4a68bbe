//! What is known about an event's surroundings.

use hookmitt_event::{HeaderLines, Request};

use crate::secret::Secret;

/// What is known about an event's surroundings. Possible causes are tried with it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The secrets of other sources, labelled `source/label`.
    pub secrets: &'a [Secret],
    /// Other requests of the source, the nearest first, and requests that carry the same signature.
    pub requests: &'a [Request],
    /// URLs that the provider may have called.
    pub urls: &'a [String],
    /// A sentence that says where the inquiry's URL comes from.
    pub url_note: &'a str,
    /// The label of the secret whose signature is shown as the expected one. If `None`, the first secret is used.
    pub chosen: Option<&'a str>,
    /// The headers of the receiver's answers, which hint at its framework.
    pub answers: &'a [HeaderLines],
}
