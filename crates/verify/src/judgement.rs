//! What was found of a signature.

use hookmitt_event::{Cause, Verdict};

use crate::published::WantedKey;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is not `valid`, likeliest first, where there is something to say.
    pub causes: Vec<Cause>,
    /// The scheme that was judged; `generic` for a source's own one.
    pub scheme: Option<&'static str>,
    /// The label of the secret that matched.
    pub secret_label: Option<String>,
    /// The published key that a `pending` verdict waits for, or that `unsupported` could not have.
    pub wanted: Option<WantedKey>,
    /// The signed id of a genuine request whose body the signature does not pin down: another body under the same id
    /// is forged, though its signature holds.
    pub single_use: Option<String>,
}

impl Judgement {
    pub(crate) fn plain(verdict: Verdict, scheme: Option<&'static str>) -> Self {
        Self::with(verdict, scheme, Vec::new())
    }

    pub(crate) fn with(verdict: Verdict, scheme: Option<&'static str>, causes: Vec<Cause>) -> Self {
        Self { verdict, causes, scheme, secret_label: None, wanted: None, single_use: None }
    }
}
