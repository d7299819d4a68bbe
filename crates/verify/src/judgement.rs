//! The result of judging a signature.

use hookmitt_event::{Cause, Verdict};

use crate::published::WantedKey;

/// The result of judging a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the verdict is not `valid`, likeliest first. May be empty.
    pub causes: Vec<Cause>,
    /// The id of the scheme that was judged; `generic` for a source's own scheme.
    pub scheme: Option<&'static str>,
    /// The label of the secret that matched.
    pub secret_label: Option<String>,
    /// The published key that a `pending` verdict waits for, or that was unavailable for `unsupported`.
    pub wanted: Option<WantedKey>,
    /// The signed id of a genuine request whose signature would also fit other bodies. Another body with the same id is
    /// forged, although its signature matches.
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
