//! What a request says itself of how it was signed. Whoever sends it must not choose (Threat 11): what it names has to be
//! what is checked, and a weaker scheme is judged only where a person chose it.

use hookmitt_event::{Cause, Verdict};
use serde::Deserialize;

use crate::{
    Inquiry, Judgement, Provider,
    cause::cause,
    judge::candidates,
    place::{Condition, Place},
    scheme::Scheme,
    signature::Signed,
    token,
    view::View,
};

/// Where a request names the algorithm of its signature, and the one name that is taken.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    /// Where it is named.
    at: Place,
    /// The element that names it, where the value is a list such as `key=a,algorithm=b`.
    element: Option<String>,
    /// The name of what is checked. Letter case does not matter.
    is: String,
}

impl Named {
    /// The first other name that the request gives; an empty one where its list names none.
    fn otherwise(&self, view: &View<'_>) -> Option<String> {
        let values = self.at.read_all(view);
        let names = values.iter().flat_map(|value| self.names_in(value));
        names.into_iter().find(|name| !name.eq_ignore_ascii_case(&self.is))
    }

    fn names_in(&self, value: &[u8]) -> Vec<String> {
        let text = String::from_utf8_lossy(value);
        let Some(wanted) = &self.element else { return vec![text.trim().to_owned()] };
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        let own = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case(wanted));
        let names: Vec<_> = own.map(|(_, name)| name.trim().to_owned()).collect();
        if names.is_empty() { vec![String::new()] } else { names }
    }
}

/// Why a signature is not even compared.
pub(crate) fn refusal(inquiry: &Inquiry<'_>, signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let scheme = signed.scheme;
    let named = scheme.named.as_ref();
    let otherwise = named.and_then(|named| Some((named, named.otherwise(&signed.parts.view)?)));
    otherwise
        .map(|(named, found)| unknown(sender, named, &found, scheme.algorithm.words()))
        .or_else(|| token::named_otherwise(signed, sender))
        .or_else(|| outdone(inquiry, signed, sender))
}

/// The condition that a companion header breaks: it announces something else than what is checked.
pub(crate) fn announced_otherwise<'s>(scheme: &'s Scheme, view: &View<'_>) -> Option<&'s Condition> {
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
    let found = candidates(View::of(inquiry), provider.older_schemes());
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

fn unknown(sender: &str, named: &Named, found: &str, checked: &str) -> Cause {
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
