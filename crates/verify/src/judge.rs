//! Computes the verdict on one request.

use hookmitt_event::{Cause, Verdict};

use crate::{
    candidates, cause, check, downgrade, generic,
    inquiry::Inquiry,
    judgement::Judgement,
    jwt_scheme,
    key_source::{self, KeySource},
    place::Place,
    request_view::RequestView,
    scheme::{Format, Scheme, Special},
    secret::Secret,
    signature::{Signed, fields},
    special::sns::{self, EnvelopeFault},
    timestamp,
};

/// Judges a request's signature.
///
/// This hashes the body once for each secret that is tried, in the usual case without copying it. Finding out why a
/// signature doesn't match is left to [`explain`](crate::explain).
pub fn judge(inquiry: &Inquiry<'_>) -> Judgement {
    match inquiry.generic.map(generic::compile) {
        Some(Ok(Some(scheme))) => return judge_by(inquiry, &[scheme], "The sender", |_| generic::ID),
        Some(Err(error)) => {
            let cause = cause::broken_settings(&error);
            return Judgement::with(Verdict::Invalid, Some(generic::ID), vec![cause]);
        }
        Some(Ok(None)) | None => {}
    }
    let Some(provider) = inquiry.provider else {
        return Judgement::with(Verdict::Unsigned, None, vec![cause::unknown_sender()]);
    };
    let name_of = |id: &str| {
        let scheme = provider.schemes.iter().find(|scheme| scheme.id == id);
        scheme.map_or("", |scheme| scheme.id.as_str())
    };
    let chosen = inquiry.chosen_scheme();
    match chosen.map(|id| provider.scheme(id)) {
        Some(Some(scheme)) if chosen != Some(provider.id.as_str()) => {
            // Versions of one scheme share an id or alias (SNS). What the request announces decides between them.
            let same = |other: &&Scheme| other.id == scheme.id || other.is_called(chosen.unwrap_or_default());
            let called: Vec<_> = provider.schemes.iter().filter(same).cloned().collect();
            judge_by(inquiry, &called, &provider.name, name_of)
        }
        Some(None) => Judgement::plain(Verdict::Unsupported, None),
        _ => {
            let judgement = judge_by(inquiry, provider.usual_schemes(), &provider.name, name_of);
            let unsigned = judgement.verdict == Verdict::Unsigned;
            let older = unsigned.then(|| downgrade::only_older(inquiry, provider)).flatten();
            older.unwrap_or(judgement)
        }
    }
}

/// Judges a request that has no signature of these schemes.
fn without_signature(
    inquiry: &Inquiry<'_>,
    schemes: &[Scheme],
    sender: &str,
    id_of: impl Fn(&str) -> &'static str,
) -> Judgement {
    let scheme = schemes.first().map(|scheme| id_of(&scheme.id));
    let view = inquiry.view();
    let told = companion_missing(view, schemes, sender).or_else(|| unknown_version(view, schemes, sender));
    match told {
        Some(cause) => Judgement::with(Verdict::Invalid, scheme, vec![cause]),
        None => Judgement::with(Verdict::Unsigned, scheme, vec![cause::unsigned(sender, schemes)]),
    }
}

fn judge_by(
    inquiry: &Inquiry<'_>,
    schemes: &[Scheme],
    sender: &str,
    id_of: impl Fn(&str) -> &'static str,
) -> Judgement {
    let mut found = candidates::all(inquiry.view(), schemes);
    let Some(first) = found.first() else { return without_signature(inquiry, schemes, sender, id_of) };
    let refused = downgrade::refusal(inquiry, first, sender).map(|cause| (id_of(&first.scheme.id), cause));
    found.retain(|signed| downgrade::refusal(inquiry, signed, sender).is_none());
    let first = match (found.first(), refused) {
        (Some(first), _) => first,
        (None, refused) => {
            let (scheme, causes) = refused.map(|(id, cause)| (id, vec![cause])).unzip();
            return Judgement::with(Verdict::Invalid, scheme, causes.unwrap_or_default());
        }
    };
    if let Some(cause) = part_missing(first, sender) {
        return Judgement::with(Verdict::Invalid, Some(id_of(&first.scheme.id)), vec![cause]);
    }
    let published;
    let inquiry = match key_source::find(inquiry, first, sender) {
        KeySource::Configured => inquiry,
        KeySource::Published(secret) => {
            published = [secret];
            &Inquiry { secrets: &published, ..*inquiry }
        }
        KeySource::Nothing { verdict, cause, wanted } => {
            let judgement = Judgement::with(verdict, Some(id_of(&first.scheme.id)), vec![cause]);
            return Judgement { wanted, ..judgement };
        }
    };
    let suited = |signed: &&Signed<'_>| inquiry.secrets.iter().any(|secret| secret.suits(signed.scheme));
    let Some(judged) = found.iter().find(suited) else {
        return Judgement::plain(Verdict::NoSecret, Some(id_of(&first.scheme.id)));
    };
    for signed in found.iter().filter(suited) {
        if let Some(secret) = check::holding(signed, inquiry.secrets) {
            return genuine(inquiry, signed, sender, id_of(&signed.scheme.id), secret);
        }
    }
    let secrets = inquiry.secrets.iter().filter(|secret| secret.suits(judged.scheme)).count();
    let mut causes = vec![match judged.accepted().next() {
        Some(_) => cause::no_match(sender, "the request", secrets),
        None => cause::unreadable(sender, &judged.place_words()),
    }];
    causes.extend(timestamp::fault(inquiry, judged, sender));
    Judgement::with(Verdict::Invalid, Some(id_of(&judged.scheme.id)), causes)
}

fn genuine(
    inquiry: &Inquiry<'_>,
    signed: &Signed<'_>,
    sender: &str,
    scheme: &'static str,
    secret: &Secret,
) -> Judgement {
    let tolerance = inquiry.tolerance_by(signed.scheme);
    let announced = downgrade::announced_otherwise(signed.scheme, &signed.parts.view).map(|condition| {
        cause::announced_otherwise(sender, &condition.place.words(), signed.scheme.algorithm.words())
    });
    let late = announced
        .or_else(|| jwt_scheme::claim_fault(signed, tolerance, inquiry.at, sender))
        .or_else(|| key_source::objection(inquiry, signed, secret, sender))
        .or_else(|| timestamp::fault(inquiry, signed, sender));
    let verdict = if late.is_some() { Verdict::Invalid } else { Verdict::Valid };
    Judgement {
        verdict,
        causes: late.into_iter().collect(),
        scheme: Some(scheme),
        secret_label: Some(secret.label.clone()),
        wanted: None,
        single_use: single_use(signed).filter(|_| verdict == Verdict::Valid),
    }
}

/// Returns the id that may be used for only one body, if the signature would also fit another body.
fn single_use(signed: &Signed<'_>) -> Option<String> {
    let id = signed.scheme.single_use.then(|| String::from_utf8_lossy(&signed.parts.id).into_owned());
    id.filter(|id| !id.is_empty())
}

/// Returns a cause if exactly one scheme is possible and its signature is there, but the header that its condition asks
/// for is missing.
fn companion_missing(view: RequestView<'_>, schemes: &[Scheme], sender: &str) -> Option<Cause> {
    let [scheme] = schemes else { return None };
    let signed = scheme.signature.iter().any(|place| place.read(&view).is_some());
    let absent = scheme.when.iter().find(|condition| condition.lacks_header(&view)).filter(|_| signed)?;
    Some(cause::companion_missing(sender, &absent.place))
}

/// Returns a cause if an SNS envelope names an unknown signature version, or none.
fn unknown_version(view: RequestView<'_>, schemes: &[Scheme], sender: &str) -> Option<Cause> {
    let mut envelopes = schemes.iter().filter(|scheme| scheme.special == Some(Special::Sns));
    envelopes.find_map(|scheme| Signed::find(scheme, view)).map(|_| cause::unknown_version(sender))
}

fn part_missing(signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let scheme = signed.scheme;
    if scheme.format == Format::Fields && fields(scheme, signed.raw()).next().is_none() {
        return None; // no fields at all: the format is at fault
    }
    let place = signed.place_words();
    let looked_at =
        scheme.content.has_timestamp() || (scheme.tolerance().is_some() && !scheme.timestamp.is_empty());
    if looked_at && signed.parts.timestamp.is_empty() {
        return Some(match scheme.timestamp_field() {
            Some(field) => cause::field_missing(sender, field, &place),
            None => cause::part_missing(sender, "timestamp", scheme.timestamp.first()),
        });
    }
    if scheme.content.has_id() && signed.parts.id.is_empty() {
        return Some(cause::part_missing(sender, "id", scheme.message_id.first()));
    }
    if scheme.special == Some(Special::Sns)
        && let Err(fault) = sns::signed_text(signed.parts.view.body)
        && let Some(cause) = of_envelope(fault, sender)
    {
        return Some(cause);
    }
    let absent =
        |place: &&Place| !matches!(place, Place::Param(_)) && place.read(&signed.parts.view).is_none();
    if let Some(place) = scheme.content.places().find(absent) {
        return Some(cause::part_missing(sender, "part", Some(place)));
    }
    let hash = scheme.body_hash.as_ref().filter(absent)?;
    Some(cause::body_hash_missing(sender, &hash.words()))
}

fn of_envelope(fault: EnvelopeFault, sender: &str) -> Option<Cause> {
    match fault {
        EnvelopeFault::Missing(name) => {
            let place = Place::try_from(format!("/{name}")).ok();
            Some(cause::part_missing(sender, "field", place.as_ref()))
        }
        EnvelopeFault::Twice => Some(cause::said_twice(sender)),
        EnvelopeFault::NoEnvelope => None,
    }
}
