//! What a verdict rests on, in words: for people who look closer. Capture never asks.

use std::time::Duration;

use hookmitt_event::{Timestamp, Verdict};

use crate::{Inquiry, Judgement, clock, generic, scheme::Scheme, signature::Signed, uncovered, view::View};

/// What a verdict rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The scheme in words, such as `v1, HMAC-SHA256`.
    pub scheme_name: Option<String>,
    /// The moment that was signed; none where the scheme signs none, or it can't be read.
    pub signed_at: Option<Timestamp>,
    /// How far that may be off.
    pub tolerance: Option<Duration>,
    /// What of the body a valid signature leaves open, in a sentence; none where it covers the whole.
    pub uncovered: Option<String>,
}

/// What a judgement on this inquiry rests on.
pub fn evidence(inquiry: &Inquiry<'_>, judgement: &Judgement) -> Evidence {
    let Some(id) = judgement.scheme else { return Evidence::default() };
    if id == generic::ID {
        let scheme = inquiry.generic.and_then(|generic| generic::compile(generic).ok().flatten());
        return scheme.map_or_else(Evidence::default, |scheme| of(inquiry, judgement, &scheme));
    }
    let scheme = inquiry.provider.and_then(|provider| provider.scheme(id));
    scheme.map_or_else(Evidence::default, |scheme| of(inquiry, judgement, scheme))
}

fn of(inquiry: &Inquiry<'_>, judgement: &Judgement, scheme: &Scheme) -> Evidence {
    let tolerance = inquiry.tolerance.or_else(|| scheme.tolerance());
    let view = View::of(inquiry);
    let open = uncovered::of(scheme, &view).filter(|_| judgement.verdict == Verdict::Valid);
    Evidence {
        scheme_name: Some(name(scheme)),
        signed_at: Signed::find(scheme, view).as_ref().and_then(signed_at),
        tolerance: tolerance.filter(|_| !scheme.timestamp.is_empty()),
        uncovered: open.map(str::to_owned),
    }
}

fn signed_at(signed: &Signed<'_>) -> Option<Timestamp> {
    let unit = signed.scheme.clock.as_ref().map(|clock| clock.unit).unwrap_or_default();
    clock::read(unit, &signed.parts.timestamp).filter(|at| clock::is_plausible(*at))
}

/// The version, where the scheme has one, and the algorithm.
fn name(scheme: &Scheme) -> String {
    let prefix = scheme.prefix.trim_end_matches('=');
    let in_prefix = prefix.strip_prefix('v').is_some_and(|rest| rest.parse::<u8>().is_ok());
    let version = if in_prefix { prefix } else { &scheme.version };
    let algorithm = scheme.algorithm.words();
    if version.is_empty() { algorithm.to_owned() } else { format!("{version}, {algorithm}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    #[test]
    fn schemes_have_names_for_people() {
        let name_of = |id: &str| name(&provider(id).unwrap().schemes[0]);
        assert_eq!(name_of("stripe"), "v1, HMAC-SHA256");
        assert_eq!(name_of("slack"), "v0, HMAC-SHA256");
        assert_eq!(name_of("github"), "HMAC-SHA256");
        assert_eq!(name_of("telegram"), "shared token");
        assert_eq!(name_of("gitea"), "HMAC-SHA256");
    }
}
