//! Selects the signatures of a request that may be checked.

use crate::{
    algorithm::Algorithm, inquiry::Inquiry, request_view::RequestView, scheme::Scheme, signature::Signed,
};

/// Returns the signatures of all schemes that apply and that read from the same place as the first one found.
/// Signatures that hold their scheme's version tag come first.
pub(crate) fn all<'a>(view: RequestView<'a>, schemes: &'a [Scheme]) -> Vec<Signed<'a>> {
    let applies = |scheme: &&Scheme| {
        scheme.algorithm != Algorithm::None && scheme.when.iter().all(|condition| condition.holds(&view))
    };
    let signed = |scheme| Signed::find(scheme, view).filter(|signed: &Signed<'_>| !signed.is_bare());
    let mut found: Vec<Signed<'a>> = Vec::new();
    for signed in schemes.iter().filter(applies).filter_map(signed) {
        // A weaker legacy signature in another place is checked only if the stronger one is absent.
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

/// Returns the signature that an inquiry is about: the first for which the inquiry has a suitable secret, else the
/// first.
pub(crate) fn likeliest<'a>(inquiry: &Inquiry<'a>, schemes: &'a [Scheme]) -> Option<Signed<'a>> {
    let mut found = all(inquiry.view(), schemes);
    let suited = |signed: &Signed<'_>| inquiry.secrets.iter().any(|secret| secret.suits(signed.scheme));
    let at = found.iter().position(suited).unwrap_or(0);
    (at < found.len()).then(|| found.swap_remove(at))
}
