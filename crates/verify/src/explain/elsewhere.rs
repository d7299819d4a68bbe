//! Signatures that belong to something else: another secret, event, scheme or provider.

use std::ops::ControlFlow;

use crate::{
    algorithm::Algorithm, candidates, catalogue::providers, place::Condition, provider::Provider,
    recognise::recognise, request_view::RequestView, scheme::Scheme, secret::Secret, signature::Signed,
    test_secret::test_secret,
};

use super::{bodies, finding::Finding, slip::Slip, trial::Trial};

/// The maximum number of other requests that are tried.
const MOST_REQUESTS: usize = 40;

/// Finds out whether the signature was made with the provider's public test secret, as samples and fixtures are.
pub(crate) fn public_secret(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let test = test_secret(trial.inquiry.provider?);
    let secret = Secret::new(test.name, test.value);
    if !trial.fits_with(signed.scheme, signed.parts.view, &[secret]) {
        return None;
    }
    let sender = trial.sender;
    let which =
        if test.value.contains('\n') { test.name.to_owned() } else { format!("“{}”", test.value) };
    Some(
        Finding::proven("public_secret", "It verifies with the public test secret")
            .saying(
                format!("This was signed with hookmitt's public test secret for {sender}, not with one of \
                         {sender}'s secrets."),
                format!(
                    "Samples and shared fixtures are signed like this. To accept them, add the test secret {which} \
                     to this source; real events need {sender}'s own secret."
                ),
            )
            .sentence("signed with the public test secret")
            .detail("Everyone knows that secret, so it proves nothing about who sent this.")
            .fitting("With the test secret"),
    )
}

/// Finds a secret of another source that verifies the signature.
pub(crate) fn other_secret(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let view = signed.parts.view;
    for secret in trial.context.secrets {
        if trial.fits_with(signed.scheme, view, std::slice::from_ref(secret)) {
            let (label, sender) = (&secret.label, trial.sender);
            let owner = label.split('/').next().unwrap_or_default();
            return Some(
                Finding::proven("other_secret", format!("It verifies with the secret {label}"))
                    .titled(format!("Secret of {owner} fits"))
                    .saying(
                        format!("{sender} signed this with the secret {label}, which belongs to another source."),
                        format!("Point {sender}'s endpoint at {owner}, or add that secret to this source (test and \
                                 live mode have different secrets)."),
                    )
                    .sentence(format!("signed with the secret of {owner}"))
                    .detail(format!("{label} verifies it unchanged: nothing was altered on its way here."))
                    .fitting(format!("With {label}")),
            );
        }
    }
    None
}

/// Finds another request that the signature belongs to.
pub(crate) fn other_event(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let own = signed.parts.view;
    for request in trial.context.requests.iter().take(MOST_REQUESTS) {
        let theirs = RequestView { body: &request.body, ..own };
        let of_theirs = RequestView {
            headers: &request.headers,
            body: &request.body,
            query: request.query.as_deref(),
            ..own
        };
        let same = Signed::find(signed.scheme, of_theirs).is_some_and(|other| other.raws == signed.raws);
        let differs = request.body[..] != *own.body || request.headers != *own.headers;
        if !differs || same_values(&request.body, own.body) {
            continue; // the same event again, at most written differently
        }
        let fits = (request.body[..] != *own.body && trial.fits(signed.scheme, theirs))
            || (same && trial.fits(signed.scheme, of_theirs));
        if fits && is_beginning(own.body, &request.body) {
            return Some(bodies::cut_short(trial, own.body, &request.body));
        }
        if fits {
            let sender = trial.sender;
            return Some(
                Finding::proven("other_event", "It verifies for another event of this source")
                    .saying(
                        format!("This is {sender}'s signature for another event of this source."),
                        "Look for code that stores headers and body separately (a queue, a retry, a test fixture) \
                         and mixes up two requests.",
                    )
                    .sentence("this is the signature of another event")
                    .detail("Secret and sender are right; the headers and bodies of two events were mixed up.")
                    .fitting("For the other event")
                    .body(request.body.to_vec()),
            );
        }
    }
    None
}

fn is_beginning(body: &[u8], of: &[u8]) -> bool {
    !body.is_empty() && body.len() < of.len() && of.starts_with(body)
}

fn same_values(left: &[u8], right: &[u8]) -> bool {
    let read = |body: &[u8]| serde_json::from_slice::<serde_json::Value>(body).ok();
    left != right && read(left).zip(read(right)).is_some_and(|(left, right)| left == right)
}

/// Finds another scheme of the same provider whose signature matches, but whose announcing header may be missing.
pub(crate) fn other_scheme(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let all = trial.inquiry.provider.map_or(&[][..], |provider| &provider.schemes);
    let view = signed.parts.view;
    if signed.scheme.body_hash.is_some() {
        return None; // schemes without the body's hash would match, but prove nothing about the body
    }
    for scheme in all.iter().filter(|scheme| scheme.id != signed.scheme.id) {
        if !trial.fits(scheme, view) {
            continue;
        }
        let missing = scheme.when.iter().find(|condition| !condition.holds(&view));
        return Some(match missing.filter(|condition| wants(condition)) {
            Some(condition) => {
                let (place, sender) = (condition.place.words(), trial.sender);
                Finding::proven(
                    "part_missing",
                    format!("It verifies as {}, which {place} should announce", scheme.algorithm.words()),
                )
                .saying(
                    format!("{sender} announces this signature in {place}, which is missing."),
                    format!("Check that no proxy or middleware on the way drops {place}."),
                )
                .sentence(format!("{place}, which names the signing method, is missing"))
            }
            None => Slip::Algorithm.finding(trial.sender, signed, true),
        });
    }
    None
}

fn wants(condition: &Condition) -> bool {
    !condition.not && condition.place.header().is_some()
}

/// Finds another provider whose scheme verifies the request. The source's own signature is missing or doesn't match.
pub(crate) fn other_provider(trial: &mut Trial<'_>, view: RequestView<'_>) -> Option<Finding> {
    let own = trial.inquiry.provider?;
    let recognised = recognise(trial.inquiry.request);
    if recognised.is_some_and(|found| is_kin(own, found)) {
        return None; // the request's own headers identify the sender
    }
    let rest = providers().filter(|provider| recognised.is_none_or(|first| first.id != provider.id));
    let found = recognised.into_iter().chain(rest).filter(|provider| !is_kin(own, provider)).try_for_each(
        |provider| {
            if reads_and_fits(trial, provider, own, view) {
                ControlFlow::Break(provider)
            } else {
                ControlFlow::Continue(())
            }
        },
    );
    match found {
        ControlFlow::Break(provider) => Some(from(own, provider, true)),
        ControlFlow::Continue(()) => recognised_of(trial, own, recognised),
    }
}

/// Returns a finding if the request itself identifies another provider than the one that the source is set to.
pub(crate) fn recognised_elsewhere(trial: &mut Trial<'_>, view: RequestView<'_>) -> Option<Finding> {
    let own = trial.inquiry.provider?;
    let found = recognise(trial.inquiry.request).filter(|found| !is_kin(own, found))?;
    if reads_and_fits(trial, found, own, view) {
        return Some(from(own, found, true));
    }
    recognised_of(trial, own, Some(found))
}

/// Like [`other_provider`], for a request that also has a signature of the source's own provider. Returns proven
/// findings only.
pub(crate) fn other_provider_of(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    other_provider(trial, signed.parts.view).filter(Finding::is_proven)
}

/// Returns a likely finding if the request itself identifies another provider than the one that the source is set to.
pub(crate) fn recognised(trial: &Trial<'_>) -> Option<Finding> {
    recognised_of(trial, trial.inquiry.provider?, recognise(trial.inquiry.request))
}

fn recognised_of(trial: &Trial<'_>, own: &Provider, found: Option<&'static Provider>) -> Option<Finding> {
    let found = found.filter(|found| !is_kin(own, found))?;
    let view = trial.inquiry.view();
    let signs = !candidates::all(view, &found.schemes).is_empty();
    let own_signs = !candidates::all(view, &own.schemes).is_empty();
    (signs && !own_signs).then(|| from(own, found, false))
}

/// Whether two providers send the same headers: they are of one family, or one also sends the other's.
fn is_kin(own: &Provider, other: &Provider) -> bool {
    let family = |provider: &Provider| provider.family.clone().unwrap_or_else(|| provider.id.clone());
    family(own) == family(other) || own.shadows.contains(&other.id) || other.shadows.contains(&own.id)
}

fn reads_and_fits(
    trial: &mut Trial<'_>,
    provider: &'static Provider,
    own: &Provider,
    view: RequestView<'_>,
) -> bool {
    // Only signatures in headers are considered, because otherwise the body would be parsed again for each of many
    // schemes.
    let is_there = |scheme: &Scheme| {
        scheme.signature.iter().any(|place| place.header().is_some() && place.read(&view).is_some())
    };
    let strange = |scheme: &&Scheme| {
        !matches!(scheme.algorithm, Algorithm::None | Algorithm::Token)
            && own
                .schemes
                .iter()
                .all(|known| known.signature != scheme.signature || known.content != scheme.content)
            && is_there(scheme)
            && scheme.when.iter().all(|condition| condition.holds(&view))
    };
    let tokens = |scheme: &&Scheme| {
        scheme.algorithm == Algorithm::Token && is_there(scheme) && provider_is_named(trial, provider)
    };
    let schemes: Vec<_> =
        provider.schemes.iter().filter(|scheme| strange(scheme) || tokens(scheme)).collect();
    schemes.into_iter().any(|scheme| trial.fits(scheme, view))
}

fn provider_is_named(trial: &Trial<'_>, provider: &Provider) -> bool {
    recognise(trial.inquiry.request).is_some_and(|found| found.id == provider.id)
}

fn from(own: &Provider, other: &Provider, proven: bool) -> Finding {
    let (set, name) = (&own.name, &other.name);
    let finding = if proven {
        Finding::proven("other_provider", format!("It verifies with {name}'s scheme"))
    } else {
        Finding::likely("other_provider", format!("It has {name}'s headers"))
    };
    finding
        .titled(format!("Signed by {name}"))
        .saying(
            format!("This event is from {name}, but the source is set to {set}."),
            format!(
                "Set the source's provider to {name}, let it be detected from headers, or point {name}'s \
                     endpoint at another source."
            ),
        )
        .sentence(format!("this event is from {name}, but the source is set to {set}"))
        .fitting(format!("As {name} signs"))
}
