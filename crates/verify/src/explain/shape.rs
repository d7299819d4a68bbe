//! Mistakes in how signatures are written: encoding, length, algorithm, prefix.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

use hookmitt_event::CauseState;

use crate::{
    algorithm::{Algorithm, Encoding},
    check, jwt_scheme,
    mac::{Mac, constant_time_eq},
    scheme::{Format, Scheme},
    secret::Secret,
    signature::Signed,
};

use super::{
    finding::Finding,
    public_shape,
    slip::{SHORTEST_PIECE, Slip, unpadded},
    trial::{self, Trial},
};

/// Finds a mistake that explains everything, because the configured secret makes this very signature.
pub(crate) fn proven(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let scheme = signed.scheme;
    if scheme.algorithm.is_jwt() {
        let told = jwt_scheme::cause_of(signed, trial.inquiry.secrets, trial.sender);
        let told = told.map(|cause| Finding::of_cause(&cause, CauseState::Proven));
        return told
            .filter(|told| told.cause.code != "signature_format")
            .or_else(|| bare_token(trial, signed));
    }
    if scheme.algorithm == Algorithm::Token {
        return bare_token(trial, signed);
    }
    if scheme.takes_public_key() {
        return trial.first(signed, &[public_shape::written_otherwise, made_otherwise]);
    }
    let secrets: Vec<_> = trial.secrets(scheme).collect();
    for secret in secrets {
        let Some(mac) = trial::mac(signed, secret) else { continue };
        if let Some(slip) = in_words(signed, &mac, scheme) {
            return Some(slip.finding(trial.sender, signed, true));
        }
    }
    made_otherwise(trial, signed)
}

/// Finds a text that can't be a signature of this scheme, whatever the secret.
pub(crate) fn misshapen(trial: &Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let scheme = signed.scheme;
    let given: Vec<_> = signed.accepted().collect();
    if scheme.algorithm == Algorithm::Token || scheme.algorithm.is_jwt() {
        return given.is_empty().then(|| Slip::Format.finding(trial.sender, signed, false));
    }
    let slip = match given.first() {
        None => no_signature(scheme, signed.raw()),
        Some(first) => {
            if given.iter().any(|given| slip_of(trial, scheme, given).is_none()) {
                return None;
            }
            slip_of(trial, scheme, first)?
        }
    };
    Some(slip.finding(trial.sender, signed, false))
}

/// Finds a token that is right except for its missing prefix or format.
fn bare_token(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let bare = Scheme {
        prefix: String::new(),
        prefixes: Vec::new(),
        format: Format::Plain,
        ..signed.scheme.clone()
    };
    let given = signed.accepted().next().is_some();
    let view = signed.parts.view;
    if signed.scheme.all_prefixes().all(str::is_empty) {
        return None;
    }
    let fits = !given && trial.fits(&bare, view);
    fits.then(|| Slip::Format.finding(trial.sender, signed, true))
}

/// Splits a header at the separators of any format, and returns the parts that are long enough.
fn words(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    raw.split(|byte| matches!(byte, b',' | b' ' | b'=' | b';' | b':' | b'.' | b'"' | b'\'' | b'|' | b'&'))
        .filter(|word| word.len() >= SHORTEST_PIECE)
}

/// Returns how the words of a header differ from the expected keyed hash; `None` if no word resembles it.
fn in_words(signed: &Signed<'_>, mac: &Mac, scheme: &Scheme) -> Option<Slip> {
    let [hex, base64] = [Encoding::Hex, Encoding::Base64].map(|encoding| mac.clone().finish(encoding));
    let (hex, base64) = (hex.as_bytes(), unpadded(base64.as_bytes()));
    let url = to_url(base64);
    let own = match scheme.encoding {
        Encoding::Hex => hex,
        Encoding::Base64 => base64,
        Encoding::Base64url => &url,
    };
    let raws = || signed.raws.iter().flat_map(|raw| words(raw));
    if let Some(word) = raws().find(|word| constant_time_eq(word, own)) {
        let counted: Vec<_> = signed.accepted().filter(|given| unpadded(given) == word).collect();
        let exact = mac.clone().finish(scheme.encoding);
        return match counted.iter().any(|given| exact.is(given)) {
            true => None, // the signature is right, so the mistake is elsewhere
            false => Some(if counted.is_empty() { Slip::Format } else { Slip::Encoding }),
        };
    }
    let twice = STANDARD.encode(hex);
    let lower = base64.to_ascii_lowercase();
    let elsewhere = |word: &[u8]| {
        let small = word.to_ascii_lowercase();
        constant_time_eq(&small, hex)
            || constant_time_eq(&small, &lower)
            || constant_time_eq(word, &url)
            || constant_time_eq(word, unpadded(twice.as_bytes()))
    };
    if raws().any(elsewhere) {
        return Some(Slip::Encoding);
    }
    let begins = |word: &[u8]| {
        [own, hex, base64]
            .iter()
            .any(|whole| word.len() < whole.len() && constant_time_eq(word, &whole[..word.len()]))
    };
    raws().any(begins).then_some(Slip::Truncated)
}

/// Tries another algorithm of the same kind, in any encoding.
fn made_otherwise(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    use Algorithm::{HmacSha1, HmacSha256, HmacSha512, RsaSha1, RsaSha256, Sha256};
    let own = signed.scheme.algorithm;
    let others: &[Algorithm] = match own {
        HmacSha1 | HmacSha256 | HmacSha512 => &[HmacSha256, HmacSha1, HmacSha512],
        Sha256 => &[HmacSha256],
        RsaSha256 => &[RsaSha1],
        RsaSha1 => &[RsaSha256],
        _ => &[],
    };
    for algorithm in others.iter().filter(|algorithm| **algorithm != own) {
        let scheme = Scheme { algorithm: *algorithm, ..signed.scheme.clone() };
        if trial.fits(&scheme, signed.parts.view) {
            return Some(Slip::Algorithm.finding(trial.sender, signed, true));
        }
        let mut other = signed.clone();
        other.scheme = &scheme;
        let secrets: Vec<_> = trial.secrets(signed.scheme).collect();
        let macs = secrets.iter().filter(|_| !scheme.takes_public_key());
        if macs
            .filter_map(|secret| trial::mac(&other, secret))
            .any(|mac| in_words(&other, &mac, &scheme).is_some())
        {
            return Some(Slip::Algorithm.finding(trial.sender, signed, true));
        }
    }
    None
}

fn to_url(base64: &[u8]) -> Vec<u8> {
    let letter = |byte: &u8| match byte {
        b'+' => b'-',
        b'/' => b'_',
        other => *other,
    };
    base64.iter().map(letter).collect()
}

/// Returns the mistake in a header that has no signature of the scheme's format.
fn no_signature(scheme: &Scheme, raw: &[u8]) -> Slip {
    const NAMES: [&[u8]; 5] = [b"sha1=", b"sha256=", b"sha384=", b"sha512=", b"md5="];
    let names_another = NAMES.iter().any(|name| raw.starts_with(name)) && scheme.prefix.starts_with("sha");
    if names_another { Slip::Algorithm } else { Slip::Format }
}

/// Returns the possible lengths of a signature in bytes.
fn sizes(trial: &Trial<'_>, scheme: &Scheme) -> Vec<usize> {
    let keys = trial.inquiry.secrets.iter().filter_map(Secret::as_public);
    let lengths = check::signing(scheme.algorithm)
        .map(|way| keys.filter_map(|key| key.signature_length(way, None)).collect());
    match scheme.algorithm {
        _ if lengths.as_ref().is_some_and(|lengths: &Vec<usize>| !lengths.is_empty()) => {
            lengths.unwrap_or_default()
        }
        Algorithm::HmacSha1 => vec![20],
        Algorithm::HmacSha512 | Algorithm::Ed25519 => vec![64],
        Algorithm::RsaSha1 | Algorithm::RsaSha256 => vec![128, 256, 384, 512],
        Algorithm::EcdsaP256Sha256 => (66..=72).collect(),
        _ => vec![32],
    }
}

/// Returns the mistake in a text that can't be a signature of this scheme, whatever the secret; `None` if it can be
/// one.
fn slip_of(trial: &Trial<'_>, scheme: &Scheme, given: &[u8]) -> Option<Slip> {
    let sizes = sizes(trial, scheme);
    let text = unpadded(given);
    let is_hex = text.len() == given.len() && given.iter().all(u8::is_ascii_hexdigit);
    let hex_size = given.len() / 2;
    let even = given.len().is_multiple_of(2);
    let decoded = STANDARD_NO_PAD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text)).ok();
    let bytes = decoded.as_ref().map(Vec::len);
    let is_base64 =
        bytes.is_some() || text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte));
    let longest = sizes.iter().copied().max().unwrap_or_default();
    let macs = [20, 32, 64];
    let keyed = !scheme.takes_public_key();
    match scheme.encoding {
        Encoding::Hex if is_hex && even && sizes.contains(&hex_size) => {
            (!scheme.upper && given.iter().any(u8::is_ascii_uppercase)).then_some(Slip::Encoding)
        }
        Encoding::Hex if is_hex && even && keyed && macs.contains(&hex_size) => Some(Slip::Algorithm),
        Encoding::Hex if is_hex && hex_size < longest => Some(Slip::Truncated),
        Encoding::Hex if bytes.is_some_and(|bytes| sizes.contains(&bytes)) => Some(Slip::Encoding),
        Encoding::Base64 | Encoding::Base64url if bytes.is_some_and(|bytes| sizes.contains(&bytes)) => {
            let well = match scheme.encoding {
                Encoding::Base64 => {
                    STANDARD.decode(given).is_ok() || (!keyed && STANDARD_NO_PAD.decode(text).is_ok())
                }
                _ => URL_SAFE_NO_PAD.decode(given).is_ok(),
            };
            let short = decoded.as_deref().is_some_and(|bytes| is_cut_der(scheme, bytes));
            if short { Some(Slip::Truncated) } else { (!well).then_some(Slip::Encoding) }
        }
        Encoding::Base64 | Encoding::Base64url if is_hex && even && sizes.contains(&hex_size) => {
            Some(Slip::Encoding)
        }
        Encoding::Base64 | Encoding::Base64url
            if is_hex && even && keyed && macs.contains(&hex_size) && given.len() >= 40 =>
        {
            Some(Slip::Algorithm)
        }
        Encoding::Base64 | Encoding::Base64url
            if keyed && bytes.is_some_and(|bytes| macs.contains(&bytes)) =>
        {
            Some(Slip::Algorithm)
        }
        Encoding::Base64 | Encoding::Base64url if is_base64 && text.len() < (longest * 4).div_ceil(3) => {
            Some(Slip::Truncated)
        }
        _ => Some(Slip::Format),
    }
}

/// Whether the bytes are the beginning of a DER sequence that announces a greater length.
fn is_cut_der(scheme: &Scheme, bytes: &[u8]) -> bool {
    scheme.algorithm == Algorithm::EcdsaP256Sha256
        && bytes.len() > 2
        && bytes[0] == 0x30
        && usize::from(bytes[1]) + 2 > bytes.len()
}
