//! What else is known of an event's surroundings.

use hookmitt_event::{HeaderLines, Request};

use crate::secret::Secret;

/// What else is known of an event's surroundings: suppositions are tried with it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The secrets of other sources, labelled `source/label`.
    pub secrets: &'a [Secret],
    /// What else came in at that source, the nearest first, and what carries the same signature.
    pub requests: &'a [Request],
    /// What the URL may have been that the provider called.
    pub urls: &'a [String],
    /// Who says that the inquiry's URL was called, as a sentence.
    pub url_note: &'a str,
    /// The label of the secret whose signature is to be shown as the expected one; else the first one's.
    pub chosen: Option<&'a str>,
    /// What the receiver answered: it tells what it is written with.
    pub answers: &'a [HeaderLines],
}
