//! Which of a request's signatures come into question.

use crate::{
    algorithm::Algorithm, inquiry::Inquiry, request_view::RequestView, scheme::Scheme, signature::Signed,
};

/// The schemes whose conditions hold and that read the first signature that is there; those whose version tag it holds
/// come first.
pub(crate) fn all<'a>(view: RequestView<'a>, schemes: &'a [Scheme]) -> Vec<Signed<'a>> {
    let applies = |scheme: &&Scheme| {
        scheme.algorithm != Algorithm::None && scheme.when.iter().all(|condition| condition.holds(&view))
    };
    let signed = |scheme| Signed::find(scheme, view).filter(|signed: &Signed<'_>| !signed.is_bare());
    let mut found: Vec<Signed<'a>> = Vec::new();
    for signed in schemes.iter().filter(applies).filter_map(signed) {
        // A weaker legacy signature is looked at only where the strong one is absent.
        let at = |signed: &Signed<'a>| &signed.scheme.signature[signed.place];
        if found.first().is_none_or(|first| at(first) == at(&signed)) {
            found.push(signed);
        }
    }
    if found.len() > 1 {
        found.sort_by_key(|signed| signed.accepted().next().is_none());
    }
    found
}

/// The signature that an inquiry is about: the first that one of its secrets may have made, else the first.
pub(crate) fn likeliest<'a>(inquiry: &Inquiry<'a>, schemes: &'a [Scheme]) -> Option<Signed<'a>> {
    let mut found = all(inquiry.view(), schemes);
    let suited = |signed: &Signed<'_>| inquiry.secrets.iter().any(|secret| secret.suits(signed.scheme));
    let at = found.iter().position(suited).unwrap_or(0);
    (at < found.len()).then(|| found.swap_remove(at))
}
