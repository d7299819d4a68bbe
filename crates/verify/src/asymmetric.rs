//! Why a signature of a private key does not hold, where its own look or another reading tells.

use hookmitt_event::Cause;

use crate::{
    Secret, Signing,
    cause::cause,
    check::{decoded, message, signing},
    place::Place,
    scheme::{Algorithm, Encoding, Scheme},
    signature::Signed,
    view::View,
};

/// The cause, where it can be told.
pub(crate) fn cause_of(signed: &Signed<'_>, secrets: &[Secret], sender: &str) -> Option<Cause> {
    let place = signed.place_words();
    let given = signed.accepted().next()?;
    let keys: Vec<_> = secrets.iter().filter(|secret| secret.suits(signed.scheme)).collect();
    let length = keys
        .iter()
        .find_map(|secret| secret.as_public()?.signature_length(signing(signed.scheme.algorithm)?, None));
    misshapen(signed.scheme, given, length, sender, &place)
        .or_else(|| other_hash(signed, &keys, sender))
        .or_else(|| other_crc(signed, &keys, sender))
        .or_else(|| simulator(signed, &keys, sender))
}

fn misshapen(
    scheme: &Scheme,
    given: &[u8],
    length: Option<usize>,
    sender: &str,
    place: &str,
) -> Option<Cause> {
    let whole = |encoding: Encoding| {
        let bytes = decoded(encoding, given);
        bytes.is_some_and(|bytes| length.or_else(|| der_length(&bytes)) == Some(bytes.len()))
    };
    if whole(scheme.encoding) {
        return None;
    }
    if [Encoding::Hex, Encoding::Base64, Encoding::Base64url].into_iter().any(whole) {
        return Some(cause(
            "signature_encoding",
            format!("The signature in {place} is whole, and not in the encoding that {sender} writes."),
            format!("Pass {place} on exactly as {sender} sent it."),
        ));
    }
    Some(cause(
        "signature_truncated",
        format!("The signature in {place} is not whole: {sender}'s have another length."),
        format!("Look for a length limit on {place} in a proxy, log or database column on the way."),
    ))
}

/// How long a DER sequence says that it is.
fn der_length(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0x30, length, ..] if *length < 0x80 => Some(usize::from(*length) + 2),
        _ => None,
    }
}

/// The same key with the other hash: SHA-1 announced as SHA-256, or the other way round.
fn other_hash(signed: &Signed<'_>, keys: &[&Secret], sender: &str) -> Option<Cause> {
    let (other, words) = match signed.scheme.algorithm {
        Algorithm::RsaSha256 => (Signing::RsaSha1, "SHA-1"),
        Algorithm::RsaSha1 => (Signing::RsaSha256, "SHA-256"),
        _ => return None,
    };
    let text = message(signed.scheme, &signed.parts);
    verifies(signed, keys, other, &text).then(|| {
        cause(
            "algorithm_mismatch",
            format!(
                "The signature is {sender}'s, made with {words}, but the request announces {}.",
                signed.scheme.algorithm.words()
            ),
            "Check what on the way changes the header or field that names the algorithm.",
        )
    })
}

/// The checksum of the body in hex, as most libraries print it, where it is signed in decimal.
fn other_crc(signed: &Signed<'_>, keys: &[&Secret], sender: &str) -> Option<Cause> {
    let text = String::from_utf8(message(signed.scheme, &signed.parts)).ok()?;
    let (start, checksum) = text.rsplit_once('|')?;
    let checksum: u32 = checksum.parse().ok()?;
    let hex = [
        format!("{checksum:08x}"),
        format!("{checksum:x}"),
        format!("{checksum:08X}"),
        format!("{checksum:X}"),
    ];
    let way = signing(signed.scheme.algorithm)?;
    hex.iter().any(|hex| verifies(signed, keys, way, format!("{start}|{hex}").as_bytes())).then(|| {
        cause(
            "signature_encoding",
            format!("The CRC-32 of the body was signed in hex; {sender} signs it as a decimal number."),
            "Write the checksum as an unsigned decimal number.",
        )
    })
}

/// PayPal's simulator signs with the words WEBHOOK_ID in place of the webhook's id.
fn simulator(signed: &Signed<'_>, keys: &[&Secret], sender: &str) -> Option<Cause> {
    const LITERAL: &str = "WEBHOOK_ID";
    let signs_id =
        signed.scheme.content.places().any(|place| *place == Place::Param("webhook_id".to_owned()));
    if !signs_id {
        return None;
    }
    let params = [("webhook_id".to_owned(), LITERAL.to_owned())];
    let view = View { params: &params, ..signed.parts.view };
    let text = message(signed.scheme, &signed.parts.seen_as(view));
    verifies(signed, keys, signing(signed.scheme.algorithm)?, &text).then(|| {
        cause(
            "wrong_configuration",
            format!("This comes from {sender}'s webhook simulator, which signs with the id {LITERAL} instead of yours."),
            format!("Set webhook_id to {LITERAL} for the simulator's events, or send a real one from the sandbox."),
        )
    })
}

fn verifies(signed: &Signed<'_>, keys: &[&Secret], way: Signing, text: &[u8]) -> bool {
    let mut signatures = signed.accepted().filter_map(|given| decoded(signed.scheme.encoding, given));
    signatures.any(|signature| {
        let mut keys = keys.iter().filter_map(|secret| secret.as_public());
        keys.any(|key| key.verifies(way, None, text, &signature))
    })
}
