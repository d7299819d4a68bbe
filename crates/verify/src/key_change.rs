//! Secrets that would match if they were written or read otherwise.

use std::borrow::Cow;

use crate::{
    Secret,
    mac::same,
    probe::Probe,
    scheme::Algorithm,
    secret::{decode_base64, key_bytes, without_entities},
};

/// What is wrong with a secret as it is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyFinding {
    /// White space at its ends.
    WhiteSpace,
    /// It is used as text and should be decoded, or the other way round.
    Encoding(&'static str),
    /// It can't be read as a key of this scheme at all.
    Unreadable,
}

/// Looks for a reading of a configured secret under which the signature holds.
pub(crate) fn find(probe: &mut Probe<'_>, secrets: &[Secret]) -> Option<KeyFinding> {
    if probe.signed.scheme.takes_public_key() {
        return None;
    }
    let token = probe.signed.scheme.algorithm == Algorithm::Token;
    let mode = probe.signed.scheme.key;
    let scheme = probe.signed.scheme;
    let suited =
        || secrets.iter().filter(move |secret| secret.suits(scheme)).map(|secret| secret.value().expose());
    let certain =
        suited().find_map(|secret| if token { in_token(probe, secret) } else { in_key(probe, secret) });
    let unreadable = |secret: &[u8]| key_bytes(secret, mode).is_none();
    certain.or_else(|| {
        let mut broken = suited().filter(|secret| unreadable(secret)).peekable();
        broken.peek()?;
        (suited().all(unreadable)).then(|| {
            let trimmed = broken.all(|secret| !unreadable(secret.trim_ascii()));
            if trimmed { KeyFinding::WhiteSpace } else { KeyFinding::Unreadable }
        })
    })
}

fn in_token(probe: &Probe<'_>, secret: &[u8]) -> Option<KeyFinding> {
    let given = |own: &[u8]| !own.is_empty() && probe.given().iter().any(|given| same(given, own));
    let lower = secret.to_ascii_lowercase();
    if given(secret.trim_ascii()) {
        Some(KeyFinding::WhiteSpace)
    } else if probe.given().iter().any(|given| same(&given.to_ascii_lowercase(), &lower)) {
        Some(KeyFinding::Encoding("it has the right letters in another case"))
    } else if given(&unquoted(secret)) || given(&without_entities(secret)) {
        Some(KeyFinding::Encoding("it was copied with quotes or HTML entities"))
    } else {
        None
    }
}

fn in_key(probe: &mut Probe<'_>, secret: &[u8]) -> Option<KeyFinding> {
    const PREFIX: &[u8] = b"whsec_";
    let mode = probe.signed.scheme.key;
    let trimmed = secret.trim_ascii();
    if trimmed != secret && key_bytes(trimmed, mode).is_some_and(|key| probe.holds_with(&key)) {
        return Some(KeyFinding::WhiteSpace);
    }
    let bare = trimmed.strip_prefix(PREFIX).unwrap_or(trimmed);
    let readings: [(&'static str, Option<Cow<'_, [u8]>>); 8] = [
        ("the text itself is the key; it was decoded", Some(trimmed.into())),
        ("the key is what its base64 decodes to; it was used as text", decode_base64(bare).map(Into::into)),
        ("the key is the text after whsec_", Some(bare.into())),
        ("its whsec_ prefix was cut off", Some([PREFIX, bare].concat().into())),
        ("the key is what its hex decodes to; it was used as text", hex::decode(bare).ok().map(Into::into)),
        ("it was copied with quotes around it", key_bytes(&unquoted(trimmed), mode).map(owned)),
        ("it was copied with HTML entities in it", key_bytes(&without_entities(trimmed), mode).map(owned)),
        ("it has base64url letters", decode_url(bare).map(Into::into)),
    ];
    let holds = |(_, key): &(_, Option<Cow<'_, [u8]>>)| key.as_ref().is_some_and(|key| probe.holds_with(key));
    readings.into_iter().find(holds).map(|(why, _)| KeyFinding::Encoding(why))
}

fn owned(key: Cow<'_, [u8]>) -> Cow<'static, [u8]> {
    Cow::Owned(key.into_owned())
}

fn decode_url(text: &[u8]) -> Option<Vec<u8>> {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at + 1);
    URL_SAFE_NO_PAD.decode(&text[..end]).ok()
}

fn unquoted(secret: &[u8]) -> Vec<u8> {
    match secret {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner.to_vec(),
        other => other.to_vec(),
    }
}
