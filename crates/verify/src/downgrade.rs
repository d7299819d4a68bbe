//! Checks what a request says about how it was signed. The sender must not choose the scheme (Threat 11): the algorithm
//! that a request names has to be the one that is checked, and a weaker scheme counts only if a person chose it.

use hookmitt_event::{Cause, Verdict};

use crate::{
    algorithm_name::AlgorithmName,
    candidates,
    cause::cause,
    inquiry::Inquiry,
    judgement::Judgement,
    jwt_scheme,
    place::{Condition, Place},
    provider::Provider,
    request_view::RequestView,
    scheme::Scheme,
    signature::Signed,
};

/// Returns why a signature is rejected before it is compared, if it is.
pub(crate) fn refusal(inquiry: &Inquiry<'_>, signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let scheme = signed.scheme;
    let named = scheme.named.as_ref();
    let otherwise = named.and_then(|named| Some((named, named.otherwise(&signed.parts.view)?)));
    otherwise
        .map(|(named, found)| unknown(sender, named, &found, scheme.algorithm.words()))
        .or_else(|| jwt_scheme::named_otherwise(signed, sender))
        .or_else(|| outdone(inquiry, signed, sender))
}

/// Returns the first condition that a companion header breaks, because the header announces something other than what
/// is checked.
pub(crate) fn announced_otherwise<'s>(scheme: &'s Scheme, view: &RequestView<'_>) -> Option<&'s Condition> {
    let breaks = |condition: &&Condition| {
        condition.place.read_all(view).iter().any(|value| !condition.passes(Some(value)))
    };
    scheme.announced.iter().find(breaks)
}

/// Rejects a request that carries only the weaker proof, if one of the source's secrets signs in a stronger way and no
/// person chose a scheme.
fn outdone(inquiry: &Inquiry<'_>, signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let start = signed.scheme.outdone_by.as_ref().filter(|_| inquiry.chosen_scheme().is_none())?;
    let signs = inquiry.secrets.iter().any(|secret| secret.value().expose().starts_with(start.as_bytes()));
    signs.then(|| {
        cause(
            "unknown_algorithm",
            format!(
                "This source has a signing secret ({start}…), but the request has only {}, which signs nothing.",
                signed.place_words()
            ),
            format!(
                "Check that no proxy on the way drops {sender}'s signature. If {sender} really sends only the \
                 token, remove the signing secret."
            ),
        )
    })
}

/// Rejects a request that carries only an older signature that no person chose. An attacker who removes the stronger
/// signature must not be able to select the weaker one.
pub(crate) fn only_older(inquiry: &Inquiry<'_>, provider: &'static Provider) -> Option<Judgement> {
    let found = candidates::all(inquiry.view(), provider.older_schemes());
    let signed = found.first()?;
    let scheme = signed.scheme;
    let id = provider.schemes.iter().find(|known| known.id == scheme.id).map(|known| known.id.as_str());
    let suited = inquiry.secrets.iter().any(|secret| secret.suits(scheme));
    if !suited && !scheme.takes_public_key() {
        return Some(Judgement::plain(Verdict::NoSecret, id));
    }
    let cause = match (&scheme.when[..], provider.schemes.first().and_then(|first| first.named.as_ref())) {
        ([condition, ..], Some(named)) if condition.place == named.at => {
            let found = named.otherwise(&signed.parts.view).unwrap_or_default();
            unknown(&provider.name, named, &found, provider.schemes[0].algorithm.words())
        }
        _ => older(provider, signed),
    };
    Some(Judgement::with(Verdict::Invalid, id, vec![cause]))
}

fn unknown(sender: &str, named: &AlgorithmName, found: &str, checked: &str) -> Cause {
    let place = named.at.words();
    let names = if found.is_empty() { "no algorithm".to_owned() } else { format!("{found:?}") };
    cause(
        "unknown_algorithm",
        format!("{place} names {names}; {sender}'s signatures are verified as {} ({checked}).", named.is),
        format!(
            "Pass {place} on unchanged. If {sender} sent it like this, note that only {} is accepted.",
            named.is
        ),
    )
}

fn older(provider: &Provider, signed: &Signed<'_>) -> Cause {
    let (sender, place, id) = (&provider.name, signed.place_words(), &signed.scheme.id);
    let strong = provider.schemes.first().and_then(|scheme| scheme.signature.first());
    let strong = strong.map(Place::words).unwrap_or_default();
    cause(
        "unknown_algorithm",
        format!("It has only {sender}'s older signature in {place}; the one in {strong} is required."),
        format!(
            "Check that no proxy on the way drops {strong}. If {sender} really uses only the older signature, set \
             the source's scheme to {id} (`hookmitt source edit SLUG --param scheme={id}`)."
        ),
    )
}
