//! What is signed, what was sent and what would be right: the parts of a signature as they are shown to people.

use hookmitt_event::{ContentKind, ContentPart, Fitting, SecretFit};

use crate::{
    algorithm::Algorithm,
    candidates,
    content::Piece,
    inquiry::Inquiry,
    judge::judge,
    judgement::Judgement,
    place::Place,
    scheme::{Format, Scheme, Special},
    secret::Secret,
    signature::Signed,
};

use super::{
    finding::Finding,
    trial::{self, Trial},
};

/// A signature as it is shown.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) content: Vec<ContentPart>,
    pub(crate) got: Vec<String>,
    pub(crate) expected: Option<String>,
    /// Whether the URL is part of the signed content.
    pub(crate) signs_url: bool,
}

/// Returns the signature of a request for display.
pub(crate) fn signature(trial: &Trial<'_>, judgement: &Judgement) -> Shown {
    let id = judgement.scheme.unwrap_or_default();
    let scheme = trial.schemes.iter().find(|scheme| scheme.id == id).or(trial.schemes.first());
    let signed = candidates::likeliest(trial.inquiry, trial.schemes);
    let Some(scheme) = signed.as_ref().map(|signed| signed.scheme).or(scheme) else {
        return Shown::default();
    };
    let (content, signs_url) = (content(scheme), scheme.content.has_url());
    let Some(signed) = signed else { return Shown { content, signs_url, ..Shown::default() } };
    let hidden = scheme.algorithm == Algorithm::Token;
    let mut got: Vec<_> = signed.accepted().map(|given| framed(scheme, &signed, &text(given))).collect();
    if got.is_empty() {
        got = signed.raws.iter().map(|raw| text(raw)).collect();
    }
    let expected = chosen(trial, scheme).filter(|_| !hidden).and_then(|secret| {
        let tag = trial::mac(&signed, secret)?.finish(scheme.encoding);
        Some(framed(scheme, &signed, &text(tag.as_bytes())))
    });
    Shown { content, got, expected, signs_url }
}

fn chosen<'a>(trial: &Trial<'a>, scheme: &'a Scheme) -> Option<&'a Secret> {
    let named = |secret: &&Secret| trial.context.chosen.is_some_and(|label| secret.label == label);
    let found = trial.secrets(scheme).find(named);
    found.or_else(|| trial.secrets(scheme).next())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a signature with its prefix.
fn framed(scheme: &Scheme, signed: &Signed<'_>, signature: &str) -> String {
    match scheme.format {
        Format::Plain => {
            let raw = signed.raw();
            let mut prefixes: Vec<_> = scheme.all_prefixes().collect();
            prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
            let prefix = prefixes.into_iter().find(|prefix| raw.starts_with(prefix.as_bytes()));
            format!("{}{signature}", prefix.unwrap_or_default())
        }
        Format::Fields => format!("{}={signature}", scheme.version),
        Format::List => format!("{},{signature}", scheme.version),
    }
}

/// Returns what matches, for display beside what was sent.
pub(crate) fn fitting(first: &Finding, got: &[String]) -> Option<Fitting> {
    let label = first.fitting.clone().filter(|_| first.is_proven())?;
    Some(Fitting { label, value: got.first()?.clone() })
}

/// Returns which of the source's secrets match.
pub(crate) fn secrets(trial: &Trial<'_>, judgement: &Judgement) -> Vec<SecretFit> {
    let genuine = judgement.secret_label.as_deref();
    let fits = |secret: &Secret| {
        let alone = Inquiry { secrets: std::slice::from_ref(secret), ..*trial.inquiry };
        genuine == Some(secret.label.as_str()) || genuine.is_some() && judge(&alone).secret_label.is_some()
    };
    let all = trial.inquiry.secrets.iter();
    all.map(|secret| SecretFit { label: secret.label.clone(), fits: fits(secret) }).collect()
}

fn place(text: impl Into<String>) -> ContentPart {
    ContentPart { text: text.into(), kind: ContentKind::Place }
}

fn literal(text: &str) -> ContentPart {
    ContentPart { text: text.replace('\n', "⏎"), kind: ContentKind::Literal }
}

/// Returns what a scheme signs, in order.
fn content(scheme: &Scheme) -> Vec<ContentPart> {
    match scheme.special {
        Some(Special::Adyen) => return joined(&ADYEN, ":"),
        Some(Special::Contentful) => {
            return joined(&["method", "path and query", "signed headers", "body"], "\n");
        }
        Some(Special::Sns) => {
            return joined(&["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"], "\n");
        }
        _ if scheme.algorithm.is_jwt() => return joined(&["header", "claims"], "."),
        _ => {}
    }
    scheme.content.pieces().iter().map(|piece| part(scheme, piece)).collect()
}

const ADYEN: [&str; 8] = [
    "pspReference",
    "originalReference",
    "merchantAccountCode",
    "merchantReference",
    "value",
    "currency",
    "eventCode",
    "success",
];

fn joined(names: &[&str], between: &str) -> Vec<ContentPart> {
    let mut parts = Vec::new();
    for name in names {
        if !parts.is_empty() {
            parts.push(literal(between));
        }
        parts.push(place(*name));
    }
    parts
}

fn part(scheme: &Scheme, piece: &Piece) -> ContentPart {
    let first = |places: &[Place], other: &str| {
        let name = places.first().map(|place| match place {
            Place::Field(name) => name.clone(),
            other => other.words(),
        });
        place(name.unwrap_or_else(|| other.to_owned()))
    };
    match piece {
        Piece::Text(text) => literal(text),
        Piece::Id => first(&scheme.message_id, "id"),
        Piece::Timestamp => first(&scheme.timestamp, "timestamp"),
        Piece::Body => place("body"),
        Piece::Url => place("url"),
        Piece::PathAndQuery => place("path and query"),
        Piece::Secret => place("secret"),
        Piece::Crc32 | Piece::HexCrc32 => place("CRC-32 of the body"),
        Piece::Payload => place("payload"),
        Piece::SortedForm => place("sorted form fields"),
        Piece::At(at) => place(at.words()),
    }
}
