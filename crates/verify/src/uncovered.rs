//! What part of the body a genuine signature doesn't cover.

use serde::Deserialize;

use crate::{algorithm::Algorithm, content::SignedContent, form, request_view::RequestView};

/// What part of the body a scheme's signature doesn't cover.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Uncovered {
    /// A sentence for people.
    pub(crate) says: String,
    /// Whether the sentence applies only to bodies that are not forms.
    #[serde(default)]
    pub(crate) unless_form: bool,
}

impl Uncovered {
    /// Returns what a source's own scheme doesn't cover; `None` if it covers the whole body.
    pub(crate) fn by_content(algorithm: Algorithm, content: &SignedContent) -> Option<Self> {
        let says = if algorithm == Algorithm::Token {
            "The token signs nothing: anyone who knows it can send any body."
        } else if content.has_whole_body() {
            return None;
        } else if content.has_sorted_form() {
            let says = "The signature doesn't cover the body, because it isn't a form.".to_owned();
            return Some(Self { says, unless_form: true });
        } else if content.has_checksum() {
            "Only a CRC-32 of the body is signed: another body can be made with the same checksum."
        } else {
            "The signature covers only the parts named in the signed content, not the whole body."
        };
        Some(Self { says: says.to_owned(), unless_form: false })
    }

    /// Returns the sentence if it applies to this request. A request without a body leaves nothing uncovered.
    pub(crate) fn of(&self, view: &RequestView<'_>) -> Option<&str> {
        let applies = !view.body.is_empty() && (!self.unless_form || !form::is_form(view.headers));
        applies.then_some(&self.says)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        algorithm::Algorithm,
        catalogue::providers,
        scheme::{Scheme, Special},
    };

    /// Whether a signature that is genuine for one body can't be genuine for another.
    fn covers_body(scheme: &Scheme) -> bool {
        let hashed =
            scheme.body_hash.is_some() || scheme.jwt.as_ref().is_some_and(|jwt| jwt.body_hash.is_some());
        let extended = scheme.algorithm == Algorithm::Sha256; // open to length extension
        // In Gitea's and Braintree's forms, everything that has a meaning is signed.
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
