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
                let (sure, seems) =
                    (format!("The same bytes as {expected} fit"), format!("{place} is not {expected}"));
                found("signature_encoding", &sure, &seems)
                .saying(
                    format!("{sender} writes its signature as {expected}; {place} has another encoding."),
                    format!(
                        "Write the signature in {place} as {expected}, without changing letters or padding."
                    ),
                )
                .sentence(format!("the signature is not written as {expected}"))
            }
            Slip::Truncated => truncated(&place, found),
            Slip::Algorithm => {
                let expected = scheme.algorithm.words();
                let sure = "Another algorithm with the same secret makes it";
                found("algorithm_mismatch", sure, "Its length or prefix is that of another algorithm")
                .saying(
                    format!("{sender} signs with {expected} in {place}; this signature was made with another algorithm."),
                    format!("Compare each signature header with its own algorithm: {place} carries {expected}."),
                )
                .sentence(format!("signed with another algorithm than {expected}"))
            }
            Slip::Format => {
                let expected = format_words(scheme);
                let (sure, seems) =
                    (format!("Written as {expected}, it fits"), format!("It is not written as {expected}"));
                found("signature_format", &sure, &seems)
                    .saying(
                        format!("{place} is not written as {sender} writes it: {expected}."),
                        format!(
                            "Pass {place} on exactly as {sender} sent it, prefix and separators included."
                        ),
                    )
                    .sentence(format!("the signature is not written as {sender} writes it"))
            }
        }
    }
}

fn truncated(place: &str, found: impl Fn(&str, &str, &str) -> Finding) -> Finding {
    let sure = "What is there is the beginning of the right one";
    found("signature_truncated", sure, "It is shorter than any signature of this scheme")
        .saying(
            format!("The signature in {place} is only the beginning of one: its end was cut off."),
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
