//! The verdict on one request.

use std::time::Duration;

use hookmitt_event::{Cause, GenericScheme, Request, Timestamp, Verdict};

use crate::{
    Provider, PublishedKeys, Secret, WantedKey, cause, check, clock, generic,
    key_source::{self, KeySource},
    named,
    place::Place,
    scheme::{Algorithm, Format, Scheme, Special},
    signature::{Signed, fields},
    sns::{self, EnvelopeFault},
    token, uncovered,
    view::View,
};

/// One request and everything that its signature is judged by.
#[derive(Clone, Copy)]
pub struct Inquiry<'a> {
    /// The request, byte for byte.
    pub request: &'a Request,
    /// The URL that the provider called, where its scheme signs that.
    pub url: Option<&'a str>,
    /// The provider, set or recognised.
    pub provider: Option<&'static Provider>,
    /// The source's own scheme; where it names a signature header, it goes before the provider's.
    pub generic: Option<&'a GenericScheme>,
    /// A scheme id, or the provider's id for its default; without one, the signature header decides.
    pub scheme: Option<&'a str>,
    /// The source's secrets and public keys; a match with any is valid.
    pub secrets: &'a [Secret],
    /// How old a timestamp may be, instead of the scheme's own limit.
    pub tolerance: Option<Duration>,
    /// When the request was received.
    pub at: Timestamp,
    /// Configuration that is not in the request, such as a webhook id.
    pub params: &'a [(String, String)],
    /// The keys that providers publish, as far as they were fetched; `None` where they are not fetched at all.
    pub published: Option<&'a dyn PublishedKeys>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is not `valid`, likeliest first, where there is something to say.
    pub causes: Vec<Cause>,
    /// The scheme that was judged; `generic` for a source's own one.
    pub scheme: Option<&'static str>,
    /// The label of the secret that matched.
    pub secret_label: Option<String>,
    /// The published key that a `pending` verdict waits for, or that `unsupported` could not have.
    pub wanted: Option<WantedKey>,
    /// The signed id of a genuine request whose body the signature does not pin down: another body under the same id
    /// is forged, though its signature holds.
    pub single_use: Option<String>,
}

impl Judgement {
    pub(crate) fn plain(verdict: Verdict, scheme: Option<&'static str>) -> Self {
        Self::with(verdict, scheme, Vec::new())
    }

    pub(crate) fn with(verdict: Verdict, scheme: Option<&'static str>, causes: Vec<Cause>) -> Self {
        Self { verdict, causes, scheme, secret_label: None, wanted: None, single_use: None }
    }
}

impl<'a> Inquiry<'a> {
    /// The scheme that a person chose: for this inquiry, or in the source's settings.
    pub(crate) fn chosen_scheme(&self) -> Option<&'a str> {
        let set = || {
            let (_, id) = self.params.iter().find(|(name, _)| name == "scheme")?;
            self.provider?.scheme(id).map(|_| id.as_str())
        };
        self.scheme.or_else(set)
    }
}

/// Judges a request's signature.
///
/// The path to a verdict hashes the body once for each secret tried and copies nothing of it. Why a signature does not
/// hold is found out by [`explain`](crate::explain), later.
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
            // Versions of one scheme share a name (SNS); what the request announces decides between them.
            let same = |other: &&Scheme| other.id == scheme.id || other.is_called(chosen.unwrap_or_default());
            let called: Vec<_> = provider.schemes.iter().filter(same).cloned().collect();
            judge_by(inquiry, &called, &provider.name, name_of)
        }
        Some(None) => Judgement::plain(Verdict::Unsupported, None),
        _ => {
            let judgement = judge_by(inquiry, provider.usual_schemes(), &provider.name, name_of);
            let unsigned = judgement.verdict == Verdict::Unsigned;
            let older = unsigned.then(|| named::only_older(inquiry, provider)).flatten();
            older.unwrap_or(judgement)
        }
    }
}

/// What a request is that has no signature of any of these schemes.
fn without_signature(
    inquiry: &Inquiry<'_>,
    schemes: &[Scheme],
    sender: &str,
    id_of: impl Fn(&str) -> &'static str,
) -> Judgement {
    let scheme = schemes.first().map(|scheme| id_of(&scheme.id));
    let view = View::of(inquiry);
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
    let mut found = candidates(View::of(inquiry), schemes);
    let Some(first) = found.first() else { return without_signature(inquiry, schemes, sender, id_of) };
    let refused = named::refusal(inquiry, first, sender).map(|cause| (id_of(&first.scheme.id), cause));
    found.retain(|signed| named::refusal(inquiry, signed, sender).is_none());
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
    let inquiry = match key_source::look(inquiry, first, sender) {
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
    causes.extend(clock::off(inquiry, judged, sender));
    Judgement::with(Verdict::Invalid, Some(id_of(&judged.scheme.id)), causes)
}

/// The signature that an inquiry is about: the first that one of its secrets may have made, else the first.
pub(crate) fn judged<'a>(inquiry: &Inquiry<'_>, view: View<'a>, schemes: &'a [Scheme]) -> Option<Signed<'a>> {
    let mut found = candidates(view, schemes);
    let suited = |signed: &Signed<'_>| inquiry.secrets.iter().any(|secret| secret.suits(signed.scheme));
    let at = found.iter().position(suited).unwrap_or(0);
    (at < found.len()).then(|| found.swap_remove(at))
}

fn genuine(
    inquiry: &Inquiry<'_>,
    signed: &Signed<'_>,
    sender: &str,
    scheme: &'static str,
    secret: &Secret,
) -> Judgement {
    let announced = named::announced_otherwise(signed.scheme, &signed.parts.view).map(|condition| {
        cause::announced_otherwise(sender, &condition.place.words(), signed.scheme.algorithm.words())
    });
    let late = announced
        .or_else(|| token::refused(inquiry, signed, sender))
        .or_else(|| key_source::objection(inquiry, signed, secret, sender))
        .or_else(|| clock::off(inquiry, signed, sender));
    let verdict = if late.is_some() { Verdict::Invalid } else { Verdict::Valid };
    Judgement {
        verdict,
        causes: late.into_iter().collect(),
        scheme: Some(scheme),
        secret_label: Some(secret.label.clone()),
        wanted: None,
        single_use: uncovered::single_use(signed).filter(|_| verdict == Verdict::Valid),
    }
}

/// Where the one scheme that is asked about would be told by another header beside its signature, and that is gone.
fn companion_missing(view: View<'_>, schemes: &[Scheme], sender: &str) -> Option<Cause> {
    let [scheme] = schemes else { return None };
    let signed = scheme.signature.iter().any(|place| place.read(&view).is_some());
    let absent = scheme.when.iter().find(|condition| condition.lacks_header(&view)).filter(|_| signed)?;
    Some(cause::companion_missing(sender, &absent.place))
}

/// The schemes whose conditions hold and that read the first signature that is there; those whose version tag it holds
/// come first.
pub(crate) fn candidates<'a>(view: View<'a>, schemes: &'a [Scheme]) -> Vec<Signed<'a>> {
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

/// An envelope of SNS that is signed in a way that nobody knows, or doesn't say in which.
fn unknown_version(view: View<'_>, schemes: &[Scheme], sender: &str) -> Option<Cause> {
    let mut envelopes = schemes.iter().filter(|scheme| scheme.special == Some(Special::Sns));
    envelopes.find_map(|scheme| Signed::find(scheme, view)).map(|_| cause::unknown_version(sender))
}

fn part_missing(signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let scheme = signed.scheme;
    if scheme.format == Format::Fields && fields(scheme, signed.raw()).next().is_none() {
        return None; // no field at all: the format is the finding
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
