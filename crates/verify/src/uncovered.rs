//! What a genuine signature leaves open, to be said with the verdict: who reads "valid" takes the body for genuine.

use serde::Deserialize;

use crate::{
    Inquiry, explain::schemes_of, form, generic, judge, scheme::Scheme, signature::Signed, view::View,
};

/// What of the body a scheme's signature does not cover.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Uncovered {
    /// In a sentence.
    pub(crate) says: String,
    /// It holds only of bodies that are no form.
    #[serde(default)]
    pub(crate) unless_form: bool,
}

/// What a genuine signature of this request leaves open of the body, in a sentence; `None` where it covers the whole.
/// The secrets are not asked: what was valid once stays so when its secret is gone.
pub fn uncovered(inquiry: &Inquiry<'_>) -> Option<String> {
    let view = View::of(inquiry);
    let own = inquiry.generic.and_then(|settings| generic::compile(settings).ok().flatten());
    let schemes = own.as_ref().map_or_else(|| schemes_of(inquiry), std::slice::from_ref);
    let signed = judge::judged(inquiry, view, schemes)?;
    of(signed.scheme, &view).map(str::to_owned)
}

/// What the signature of this request leaves open; nothing where there is no body.
pub(crate) fn of<'s>(scheme: &'s Scheme, view: &View<'_>) -> Option<&'s str> {
    let uncovered = scheme.uncovered.as_ref().filter(|_| !view.body.is_empty())?;
    (!uncovered.unless_form || !form::is_form(view.headers)).then_some(&uncovered.says)
}

/// The id that only one body may come under, where the signature would also fit another.
pub(crate) fn single_use(signed: &Signed<'_>) -> Option<String> {
    let id = signed.scheme.single_use.then(|| String::from_utf8_lossy(&signed.parts.id).into_owned());
    id.filter(|id| !id.is_empty())
}

/// What a scheme of a source's own leaves open.
pub(crate) fn by_settings(scheme: &Scheme) -> Option<Uncovered> {
    let content = &scheme.content;
    let says = if scheme.algorithm == crate::Algorithm::Token {
        "The token signs nothing: whoever knows it can send any body."
    } else if content.has_whole_body() {
        return None;
    } else if content.has_sorted_form() {
        let says = "The body isn't covered by the signature: it is no form.".to_owned();
        return Some(Uncovered { says, unless_form: true });
    } else if content.has_checksum() {
        "Of the body only a CRC-32 is signed: another body can be made that has the same one."
    } else {
        "Only the parts that the signed content names are covered, not the whole body."
    };
    Some(Uncovered { says: says.to_owned(), unless_form: false })
}

#[cfg(test)]
mod tests {
    use crate::{
        Algorithm, providers,
        scheme::{Scheme, Special},
    };

    /// Whether no other body can have a signature that is genuine for one.
    fn covers_body(scheme: &Scheme) -> bool {
        let hashed =
            scheme.body_hash.is_some() || scheme.jwt.as_ref().is_some_and(|jwt| jwt.body_hash.is_some());
        let extended = scheme.algorithm == Algorithm::Sha256; // a plain hash can be carried on
        // Of Gitea's and Braintree's forms everything that means something is signed.
        let whole = scheme.content.has_whole_body() || scheme.content.has_payload();
        let special = matches!(scheme.special, Some(Special::Contentful | Special::Braintree));
        (whole && !extended) || hashed || special
    }

    #[test]
    fn every_scheme_that_leaves_the_body_open_says_so() {
        for provider in providers() {
            for scheme in provider.schemes.iter().filter(|scheme| scheme.algorithm != Algorithm::None) {
                let (id, says) = (format!("{} {}", provider.id, scheme.id), scheme.uncovered.is_some());
                assert_eq!(covers_body(scheme), !says, "{id}");
                let forms = scheme.content.has_sorted_form();
                assert_eq!(scheme.uncovered.as_ref().is_some_and(|it| it.unless_form), forms, "{id}");
                assert!(!scheme.single_use || says && !scheme.message_id.is_empty(), "{id}");
            }
        }
    }
}
