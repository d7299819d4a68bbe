//! Describes in words what a verdict is based on, for people who look closer. Capture never calls this.

use std::time::Duration;

use hookmitt_event::{Timestamp, Verdict};

use crate::{
    candidates, generic, inquiry::Inquiry, judgement::Judgement, scheme::Scheme, signature::Signed,
    test_secret::test_secret, timestamp,
};

/// What a verdict is based on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The scheme in words, such as `v1, HMAC-SHA256`.
    pub scheme_name: Option<String>,
    /// The signed time; `None` if the scheme signs no time, or if it can't be read.
    pub signed_at: Option<Timestamp>,
    /// How far the signed time may be off.
    pub tolerance: Option<Duration>,
    /// A sentence that says which part of the body a valid signature doesn't cover; `None` if it covers the whole body.
    pub uncovered: Option<String>,
    /// Whether the secret that verified it is hookmitt's public test secret, which everybody knows.
    pub public_secret: bool,
}

/// Returns what a judgement on this inquiry is based on.
pub fn evidence(inquiry: &Inquiry<'_>, judgement: &Judgement) -> Evidence {
    let Some(id) = judgement.scheme else { return Evidence::default() };
    if id == generic::ID {
        let scheme = inquiry.own_scheme();
        return scheme.map_or_else(Evidence::default, |scheme| of(inquiry, judgement, &scheme));
    }
    let scheme = inquiry.provider.and_then(|provider| provider.scheme(id));
    scheme.map_or_else(Evidence::default, |scheme| of(inquiry, judgement, scheme))
}

/// Returns a sentence that says which part of the body a genuine signature of this request doesn't cover; `None` if it
/// covers the whole body. Works without secrets, because an event that was valid stays so after its secret is removed.
pub fn uncovered(inquiry: &Inquiry<'_>) -> Option<String> {
    let own = inquiry.own_scheme();
    let schemes = own.as_ref().map_or_else(|| inquiry.provider_schemes(), std::slice::from_ref);
    let signed = candidates::likeliest(inquiry, schemes)?;
    signed.scheme.uncovered.as_ref()?.of(&signed.parts.view).map(str::to_owned)
}

fn of(inquiry: &Inquiry<'_>, judgement: &Judgement, scheme: &Scheme) -> Evidence {
    let view = inquiry.view();
    let uncovered = scheme.uncovered.as_ref().filter(|_| judgement.verdict == Verdict::Valid);
    Evidence {
        scheme_name: Some(name(scheme)),
        signed_at: Signed::find(scheme, view).as_ref().and_then(signed_at),
        tolerance: inquiry.tolerance_by(scheme).filter(|_| !scheme.timestamp.is_empty()),
        uncovered: uncovered.and_then(|uncovered| uncovered.of(&view)).map(str::to_owned),
        public_secret: is_public(inquiry, judgement),
    }
}

/// Whether the secret that verified the request is the provider's public test secret.
fn is_public(inquiry: &Inquiry<'_>, judgement: &Judgement) -> bool {
    let Some((provider, label)) = inquiry.provider.zip(judgement.secret_label.as_ref()) else { return false };
    let known = test_secret(provider).value.as_bytes();
    inquiry.secrets.iter().any(|secret| secret.label == *label && secret.value().expose() == known)
}

fn signed_at(signed: &Signed<'_>) -> Option<Timestamp> {
    let unit = signed.scheme.clock.as_ref().map(|clock| clock.unit).unwrap_or_default();
    timestamp::read(unit, &signed.parts.timestamp).filter(|at| timestamp::is_plausible(*at))
}

/// Returns the scheme's version, if it has one, and its algorithm.
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
    use crate::catalogue::provider;

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
