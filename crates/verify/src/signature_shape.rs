//! Signatures that are written wrongly: encoding, length, algorithm, prefix.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

use crate::{
    mac::same,
    probe::Probe,
    scheme::{Algorithm, Encoding, Format, Scheme},
};

/// What is wrong with a signature as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShapeFinding {
    /// Another encoding than the scheme's.
    Encoding { expected: &'static str },
    /// Its end is missing.
    Truncated,
    /// Another algorithm than the scheme's.
    Algorithm { expected: &'static str },
    /// Another prefix, separator or version.
    Format { expected: String },
}

/// A shorter piece of a signature is no evidence.
const SHORTEST_PIECE: usize = 8;

/// Looks for a slip in the writing: first for one that explains everything, then for what can't be a signature.
pub(crate) fn find(probe: &Probe<'_>) -> Option<ShapeFinding> {
    let scheme = probe.signed.scheme;
    if scheme.algorithm == Algorithm::Token {
        return (probe.given().is_empty()).then(|| format_of(scheme));
    }
    certain(probe).or_else(|| {
        let given = probe.given();
        let Some(first) = given.first() else { return Some(no_signature(scheme, probe.signed.raw())) };
        let well = |given: &&[u8]| misshapen(scheme, given).is_none();
        if given.iter().any(well) { None } else { misshapen(scheme, first) }
    })
}

fn expected_encoding(scheme: &Scheme) -> &'static str {
    match scheme.encoding {
        Encoding::Hex => "lower-case hex",
        Encoding::Base64 => "standard base64 with padding",
        Encoding::Base64url => "base64url without padding",
    }
}

fn expected_algorithm(scheme: &Scheme) -> &'static str {
    scheme.algorithm.words()
}

fn format_of(scheme: &Scheme) -> ShapeFinding {
    let letters = if scheme.encoding == Encoding::Hex { "<hex>" } else { "<base64>" };
    let version = &scheme.version;
    let expected = match scheme.format {
        Format::Plain => format!("{}{letters}", scheme.prefix),
        Format::Fields => format!("t=<seconds>,{version}={letters}"),
        Format::List => format!("{version},{letters}, several separated by spaces"),
    };
    ShapeFinding::Format { expected }
}

/// The words of a header: what is left between separators of any format.
fn words(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    raw.split(|byte| matches!(byte, b',' | b' ' | b'=' | b';' | b':' | b'.' | b'"' | b'|'))
        .filter(|word| word.len() >= SHORTEST_PIECE)
}

/// A finding that is proven by the configured secret.
fn certain(probe: &Probe<'_>) -> Option<ShapeFinding> {
    let scheme = probe.signed.scheme;
    let raw = probe.signed.raw();
    for mac in probe.tags() {
        let [hex, base64] = [Encoding::Hex, Encoding::Base64].map(|encoding| mac.clone().finish(encoding));
        let own = if scheme.encoding == Encoding::Hex { hex.as_bytes() } else { unpadded(base64.as_bytes()) };
        let counted = |word: &[u8]| probe.given().iter().any(|given| unpadded(given) == word);
        if let Some(word) = words(raw).find(|word| same(word, own)) {
            return Some(if counted(word) { encoding_of(scheme) } else { format_of(scheme) });
        }
        let hex_bytes = hex.as_bytes();
        let url = to_url(unpadded(base64.as_bytes()));
        let elsewhere = |word: &[u8]| {
            same(&word.to_ascii_lowercase(), hex_bytes)
                || same(word, unpadded(base64.as_bytes()))
                || same(word, &url)
        };
        if words(raw).any(elsewhere) {
            return Some(encoding_of(scheme));
        }
        if words(raw).any(|word| word.len() < own.len() && same(word, &own[..word.len()])) {
            return Some(ShapeFinding::Truncated);
        }
    }
    None
}

fn encoding_of(scheme: &Scheme) -> ShapeFinding {
    ShapeFinding::Encoding { expected: expected_encoding(scheme) }
}

fn unpadded(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at + 1);
    &text[..end]
}

fn to_url(base64: &[u8]) -> Vec<u8> {
    let letter = |byte: &u8| match byte {
        b'+' => b'-',
        b'/' => b'_',
        other => *other,
    };
    base64.iter().map(letter).collect()
}

/// What a header says whose signature does not count.
fn no_signature(scheme: &Scheme, raw: &[u8]) -> ShapeFinding {
    const NAMES: [&[u8]; 5] = [b"sha1=", b"sha256=", b"sha384=", b"sha512=", b"md5="];
    let names_another = NAMES.iter().any(|name| raw.starts_with(name)) && scheme.prefix.starts_with("sha");
    if names_another {
        return ShapeFinding::Algorithm { expected: expected_algorithm(scheme) };
    }
    format_of(scheme)
}

/// How long the bytes of a signature are.
fn size(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::HmacSha1 => 20,
        Algorithm::HmacSha512 | Algorithm::Ed25519 => 64,
        _ => 32,
    }
}

/// What a text is that can't be a signature of this scheme, whatever the secret.
fn misshapen(scheme: &Scheme, given: &[u8]) -> Option<ShapeFinding> {
    let size = size(scheme.algorithm);
    let text = unpadded(given);
    let is_hex = text.len() == given.len() && given.iter().all(u8::is_ascii_hexdigit);
    let bytes =
        STANDARD_NO_PAD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text)).ok().map(|bytes| bytes.len());
    let is_base64 =
        bytes.is_some() || text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte));
    let others = [20, 32, 64];
    let finding = match scheme.encoding {
        Encoding::Hex if is_hex && given.len() == size * 2 => {
            let upper = given.iter().any(u8::is_ascii_uppercase);
            return upper.then(|| encoding_of(scheme));
        }
        Encoding::Hex if is_hex && others.contains(&(given.len() / 2)) && given.len().is_multiple_of(2) => {
            algorithm_of(scheme)
        }
        Encoding::Hex if is_hex && given.len() < size * 2 => ShapeFinding::Truncated,
        Encoding::Hex if bytes == Some(size) => encoding_of(scheme),
        Encoding::Base64 if bytes == Some(size) => {
            let well = given.len() == size.div_ceil(3) * 4 && STANDARD_NO_PAD.decode(text).is_ok();
            return (!well).then(|| encoding_of(scheme));
        }
        Encoding::Base64 if is_hex && given.len() == size * 2 => encoding_of(scheme),
        Encoding::Base64 if is_hex && others.contains(&(given.len() / 2)) && given.len() >= 40 => {
            algorithm_of(scheme)
        }
        Encoding::Base64 if bytes.is_some_and(|bytes| others.contains(&bytes)) => algorithm_of(scheme),
        Encoding::Base64 if is_base64 && text.len() < size * 4 / 3 => ShapeFinding::Truncated,
        _ => format_of(scheme),
    };
    Some(finding)
}

fn algorithm_of(scheme: &Scheme) -> ShapeFinding {
    ShapeFinding::Algorithm { expected: expected_algorithm(scheme) }
}
