//! Mistakes in how a signature is written, in words.

use crate::{
    algorithm::{Algorithm, Encoding},
    scheme::{Format, Scheme},
    signature::Signed,
};

use super::finding::Finding;

/// Shorter pieces of a signature are no evidence. In bytes.
pub(crate) const SHORTEST_PIECE: usize = 8;

/// A mistake in how a signature is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slip {
    /// It has another encoding than the scheme's.
    Encoding,
    /// Its end is missing.
    Truncated,
    /// It was made with another algorithm than the scheme's.
    Algorithm,
    /// It has another prefix, separator or version.
    Format,
}

impl Slip {
    /// Describes the mistake.
    pub(crate) fn finding(self, sender: &str, signed: &Signed<'_>, proven: bool) -> Finding {
        let (scheme, place) = (signed.scheme, signed.place_words());
        let found = |code: &str, sure: &str, seems: &str| {
            if proven { Finding::proven(code, sure) } else { Finding::likely(code, seems) }
        };
        match self {
            Slip::Encoding => {
                let expected = encoding_words(scheme);
                let (sure, seems) = (
                    format!("The same bytes written as {expected} match"),
                    format!("{place} isn't {expected}"),
                );
                found("signature_encoding", &sure, &seems)
                .saying(
                    format!("{sender} encodes its signature as {expected}; {place} uses another encoding."),
                    format!(
                        "Encode the signature in {place} as {expected}, without changing letters or padding."
                    ),
                )
                .sentence(format!("the signature isn't encoded as {expected}"))
            }
            Slip::Truncated => truncated(&place, found),
            Slip::Algorithm => {
                let expected = scheme.algorithm.words();
                let sure = "It matches with another algorithm and the same secret";
                found("algorithm_mismatch", sure, "Its length or prefix is that of another algorithm")
                .saying(
                    format!("{sender} signs with {expected} in {place}; this signature was made with another algorithm."),
                    format!("Compare each signature header with its own algorithm: {place} carries {expected}."),
                )
                .sentence(format!("signed with an algorithm other than {expected}"))
            }
            Slip::Format => {
                let expected = format_words(scheme);
                let (sure, seems) = (
                    format!("It matches when written as {expected}"),
                    format!("It isn't written as {expected}"),
                );
                found("signature_format", &sure, &seems)
                    .saying(
                        format!("{place} isn't in {sender}'s format: {expected}."),
                        format!(
                            "Pass {place} on exactly as {sender} sent it, prefix and separators included."
                        ),
                    )
                    .sentence(format!("the signature isn't in {sender}'s format"))
            }
        }
    }
}

fn truncated(place: &str, found: impl Fn(&str, &str, &str) -> Finding) -> Finding {
    let sure = "It is the start of the right signature";
    found("signature_truncated", sure, "It is shorter than any signature of this scheme")
        .saying(
            format!("The end of the signature in {place} was cut off."),
            format!("Look for a length limit on {place} in a proxy, log or database column on the way."),
        )
        .sentence("the signature was cut off on its way here")
}

fn encoding_words(scheme: &Scheme) -> &'static str {
    match scheme.encoding {
        Encoding::Hex => "lower-case hex",
        Encoding::Base64 => "standard base64 with padding",
        Encoding::Base64url => "base64url without padding",
    }
}

fn format_words(scheme: &Scheme) -> String {
    let letters = match scheme.algorithm {
        Algorithm::Token => "<secret>",
        other if other.is_jwt() => "<token>",
        _ if scheme.encoding == Encoding::Hex => "<hex>",
        _ => "<base64>",
    };
    let (version, separator) = (&scheme.version, char::from(scheme.field_separator()));
    match scheme.format {
        Format::Plain => format!("{}{letters}", scheme.all_prefixes().next().unwrap_or_default()),
        Format::Fields => match scheme.timestamp_field() {
            Some(time) => format!("{time}=<time>{separator}{version}={letters}"),
            None => format!("{version}={letters}"),
        },
        Format::List => format!("{version},{letters}, several separated by spaces"),
    }
}

/// Returns base64 text without its padding.
pub(crate) fn unpadded(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at + 1);
    &text[..end]
}
