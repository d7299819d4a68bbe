//! The verdict on one request.

use std::time::Duration;

use hookmitt_event::{Cause, GenericScheme, Request, Timestamp, Verdict};

use crate::{
    Provider, Secret, cause, diagnosis, generic,
    probe::{self, Probe},
    scheme::{Format, Scheme},
    signature::{Signed, fields},
};

/// One request and everything that its signature is judged by.
#[derive(Debug, Clone, Copy)]
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
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is `invalid` or `unsigned`, likeliest first; else empty.
    pub causes: Vec<Cause>,
    /// The scheme that was judged; `generic` for a source's own one.
    pub scheme: Option<&'static str>,
    /// The label of the secret that matched.
    pub secret_label: Option<String>,
}

impl Judgement {
    fn plain(verdict: Verdict, scheme: Option<&'static str>) -> Self {
        Self { verdict, causes: Vec::new(), scheme, secret_label: None }
    }

    fn with(verdict: Verdict, scheme: Option<&'static str>, causes: Vec<Cause>) -> Self {
        Self { verdict, causes, scheme, secret_label: None }
    }
}

/// Judges a request's signature.
///
/// The path to `valid` hashes the body once for each secret tried and copies nothing of it; only a signature that does
/// not hold costs more, within fixed bounds.
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
    match inquiry.scheme.map(|id| provider.scheme(id)) {
        Some(Some(scheme)) if inquiry.scheme != Some(provider.id.as_str()) => {
            judge_by(inquiry, std::slice::from_ref(scheme), &provider.name, name_of)
        }
        Some(None) => Judgement::plain(Verdict::Unsupported, None),
        _ => judge_by(inquiry, &provider.schemes, &provider.name, name_of),
    }
}

fn judge_by(
    inquiry: &Inquiry<'_>,
    schemes: &[Scheme],
    sender: &str,
    id_of: impl Fn(&str) -> &'static str,
) -> Judgement {
    let found = candidates(inquiry, schemes);
    let Some(first) = found.first() else {
        let scheme = schemes.first().map(|scheme| id_of(&scheme.id));
        let names = schemes.iter().map(Scheme::signature_header);
        return Judgement::with(Verdict::Unsigned, scheme, vec![cause::unsigned(sender, names)]);
    };
    if found.iter().all(|signed| !signed.scheme.is_supported()) {
        return Judgement::plain(Verdict::Unsupported, Some(id_of(&first.scheme.id)));
    }
    if let Some(cause) = part_missing(first, sender) {
        return Judgement::with(Verdict::Invalid, Some(id_of(&first.scheme.id)), vec![cause]);
    }
    let suited = |signed: &&Signed<'_>| inquiry.secrets.iter().any(|secret| secret.suits(signed.scheme.key));
    let Some(judged) = found.iter().find(suited) else {
        return Judgement::plain(Verdict::NoSecret, Some(id_of(&first.scheme.id)));
    };
    for signed in found.iter().filter(suited) {
        let usable = inquiry.secrets.iter().filter(|secret| secret.suits(signed.scheme.key));
        if let Some(secret) = usable.into_iter().find(|secret| probe::holds(signed, secret)) {
            return genuine(inquiry, signed, sender, id_of(&signed.scheme.id), secret);
        }
    }
    let mut causes = diagnosis::causes(&mut Probe::new(*judged, inquiry.secrets), inquiry, sender);
    causes.extend(off_clock(inquiry, judged, sender));
    Judgement::with(Verdict::Invalid, Some(id_of(&judged.scheme.id)), causes)
}

fn genuine(
    inquiry: &Inquiry<'_>,
    signed: &Signed<'_>,
    sender: &str,
    scheme: &'static str,
    secret: &Secret,
) -> Judgement {
    let late = off_clock(inquiry, signed, sender);
    let verdict = if late.is_some() { Verdict::Invalid } else { Verdict::Valid };
    Judgement {
        verdict,
        causes: late.into_iter().collect(),
        scheme: Some(scheme),
        secret_label: Some(secret.label.clone()),
    }
}

/// The schemes that read the first signature header that is there; those whose version tag it holds come first.
fn candidates<'a>(inquiry: &'a Inquiry<'_>, schemes: &'a [Scheme]) -> Vec<Signed<'a>> {
    let request = inquiry.request;
    let signed =
        |scheme| Signed::find(scheme, &request.headers, &request.body).filter(|signed| !signed.is_bare());
    let mut found: Vec<Signed<'a>> = Vec::new();
    for signed in schemes.iter().filter_map(signed) {
        // A weaker legacy signature is looked at only where the strong one is absent.
        if found.first().is_none_or(|first| first.raw.as_ptr() == signed.raw.as_ptr()) {
            found.push(signed);
        }
    }
    if found.len() > 1 {
        found.sort_by_key(|signed| signed.accepted().next().is_none());
    }
    found
}

fn part_missing(signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let scheme = signed.scheme;
    if scheme.format == Format::Fields && fields(signed.raw).next().is_none() {
        return None; // no field at all: the format is the finding
    }
    let field = scheme.clock.as_ref().and_then(|clock| clock.field.as_deref());
    if scheme.content.has_timestamp() && signed.parts.timestamp.is_empty() {
        let header = scheme.headers.timestamp.first().map_or("", String::as_str);
        return Some(match field {
            Some(field) => cause::field_missing(sender, field, scheme.signature_header()),
            None => cause::header_missing(sender, "timestamp", header),
        });
    }
    if scheme.content.has_id() && signed.parts.id.is_empty() {
        let header = scheme.headers.id.first().map_or("", String::as_str);
        return Some(cause::header_missing(sender, "id", header));
    }
    None
}

/// Larger numbers of seconds lie beyond the year 5138: they are milliseconds.
pub(crate) const FIRST_MILLISECONDS: i64 = 100_000_000_000;

/// What is wrong with the signed timestamp, judged at the moment of receipt.
fn off_clock(inquiry: &Inquiry<'_>, signed: &Signed<'_>, sender: &str) -> Option<Cause> {
    let clock = signed.scheme.clock.as_ref();
    let tolerance = inquiry.tolerance.or_else(|| signed.scheme.tolerance())?;
    if !signed.scheme.content.has_timestamp() {
        return None;
    }
    let text = std::str::from_utf8(signed.parts.timestamp).unwrap_or_default();
    let Ok(stamp) = text.parse::<i64>() else { return Some(cause::timestamp_unreadable(sender, text)) };
    let limit = i64::try_from(tolerance.as_secs()).unwrap_or(i64::MAX);
    let age = inquiry.at.as_seconds().saturating_sub(stamp);
    if age > limit {
        return Some(cause::timestamp_old(sender, age, limit));
    }
    if age < limit.saturating_neg() && clock.is_none_or(|clock| clock.future_checked) {
        return Some(match stamp {
            FIRST_MILLISECONDS.. => cause::timestamp_in_milliseconds(sender, text),
            _ => cause::timestamp_future(sender, age.saturating_neg(), limit),
        });
    }
    None
}
