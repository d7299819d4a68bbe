//! What a request says itself of how it was signed. Whoever sends it must not choose (Threat 11): what it names has to be
//! what is checked, and a weaker scheme is judged only where a person chose it.

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

/// Why a signature is not even compared.
pub(crate) fn refusal(inquiry: &Inquiry<'_>, signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let scheme = signed.scheme;
    let named = scheme.named.as_ref();
    let otherwise = named.and_then(|named| Some((named, named.otherwise(&signed.parts.view)?)));
    otherwise
        .map(|(named, found)| unknown(sender, named, &found, scheme.algorithm.words()))
        .or_else(|| jwt_scheme::named_otherwise(signed, sender))
        .or_else(|| outdone(inquiry, signed, sender))
}

/// The condition that a companion header breaks: it announces something else than what is checked.
pub(crate) fn announced_otherwise<'s>(scheme: &'s Scheme, view: &RequestView<'_>) -> Option<&'s Condition> {
    let breaks = |condition: &&Condition| {
        condition.place.read_all(view).iter().any(|value| !condition.passes(Some(value)))
    };
    scheme.announced.iter().find(breaks)
}

/// Where a source's secret signs in a stronger way, a request that carries only the weaker proof is not taken.
fn outdone(inquiry: &Inquiry<'_>, signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let start = signed.scheme.outdone_by.as_ref().filter(|_| inquiry.chosen_scheme().is_none())?;
    let signs = inquiry.secrets.iter().any(|secret| secret.value().expose().starts_with(start.as_bytes()));
    signs.then(|| {
        cause(
            "unknown_algorithm",
            format!(
                "This source has a secret that signs ({start}…), and only {} is there, which signs nothing.",
                signed.place_words()
            ),
            format!(
                "Check that no proxy on the way drops {sender}'s signature. Where {sender} really sends the token alone, \
                 remove the secret that signs."
            ),
        )
    })
}

/// A request that carries nothing but an older signature, and was not meant to: a stronger one is there to be checked,
/// and who takes it away must not be able to choose the weaker.
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
        format!("{place} names {names}; {sender}'s signatures are checked as {} ({checked}).", named.is),
        format!("Pass {place} on unchanged. If {sender} sent it so, no algorithm but {} counts.", named.is),
    )
}

fn older(provider: &Provider, signed: &Signed<'_>) -> Cause {
    let (sender, place, id) = (&provider.name, signed.place_words(), &signed.scheme.id);
    let strong = provider.schemes.first().and_then(|scheme| scheme.signature.first());
    let strong = strong.map(Place::words).unwrap_or_default();
    cause(
        "unknown_algorithm",
        format!("Only {sender}'s older signature in {place} is there; what counts is the one in {strong}."),
        format!(
            "Check that no proxy on the way drops {strong}. Where {sender} really signs in the older way alone, choose it: \
             set the source's scheme to {id} (`hookmitt source edit SLUG --param scheme={id}`)."
        ),
    )
}
