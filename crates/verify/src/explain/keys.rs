//! Finds mistakes in how a secret was copied or decoded.

use std::borrow::Cow;

use crate::{
    algorithm::Algorithm,
    form::{self, Style},
    key_bytes::{decode_base64, key_bytes},
    mac::constant_time_eq,
    scheme::KeyMode,
    signature::Signed,
};

use super::{finding::Finding, trial::Trial};

const PREFIX: &[u8] = b"whsec_";

/// Looks for another reading of a configured secret with which the signature matches.
pub(crate) fn find(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    if signed.scheme.takes_public_key() {
        return None;
    }
    let secrets: Vec<_> = trial.inquiry.secrets.iter().filter(|it| it.suits(signed.scheme)).collect();
    for secret in &secrets {
        let (label, text) = (&secret.label, secret.value().expose());
        let bare = trimmed(text);
        if bare.len() < text.len() && trial.fits_text(signed, bare) {
            return Some(white_space(trial.sender, label, text.len() - bare.len()));
        }
        if let Some(how) = in_text(trial, signed, bare).or_else(|| in_key(trial, signed, bare)) {
            return Some(reading(trial.sender, label, how));
        }
    }
    None
}

/// Finds configured secrets of which none can be read as a key of this scheme.
pub(crate) fn unreadable(trial: &Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let mode = signed.scheme.key;
    let secrets: Vec<_> = trial.inquiry.secrets.iter().filter(|it| it.suits(signed.scheme)).collect();
    let reads = |secret: &[u8]| key_bytes(secret, mode).is_some();
    if signed.scheme.takes_public_key()
        || secrets.is_empty()
        || secrets.iter().any(|it| reads(it.value().expose()))
    {
        return None;
    }
    let first = secrets[0];
    if reads(trimmed(first.value().expose())) {
        return Some(white_space(trial.sender, &first.label, 1));
    }
    let wanted = match mode {
        KeyMode::Hex => "hex",
        KeyMode::WhsecRequired => "base64 after whsec_",
        _ => "base64",
    };
    let sender = trial.sender;
    Some(Finding::proven("secret_encoding", format!("The secret {} isn't {wanted}", first.label)).saying(
        format!("The configured secret can't be a {sender} key: it isn't {wanted}."),
        format!("Copy the complete signing secret from {sender} again, with its prefix."),
    ))
}

fn white_space(sender: &str, label: &str, more: usize) -> Finding {
    let characters = if more == 1 { "1 byte".to_owned() } else { format!("{more} bytes") };
    Finding::proven("secret_whitespace", format!("{label} fits without {characters} of whitespace"))
        .saying(
            format!("The configured secret starts or ends with whitespace; without it, {sender}'s signature matches."),
            "Set the secret again without the space or line break (use `printf %s` instead of `echo`).",
        )
        .sentence("the configured secret starts or ends with whitespace")
        .detail("Body and sender are right; only the secret was copied with whitespace around it.")
        .fitting("For the secret without whitespace")
}

fn reading(sender: &str, label: &str, how: &str) -> Finding {
    Finding::proven("secret_encoding", format!("{label} fits: {how}"))
        .saying(
            format!(
                "{sender} uses the configured secret differently: {how}."
            ),
            format!(
                "Set the secret exactly as {sender} shows it, with its prefix, and decode it only where {sender} does."
            ),
        )
        .sentence("the secret is right, but it is read differently than the sender reads it")
        .detail(format!("The difference: {how}. Body and sender are right."))
        .fitting("For that reading")
}

/// Removes white space at the ends, including that of web pages (no-break and zero-width spaces, byte order marks).
fn trimmed(secret: &[u8]) -> &[u8] {
    let Ok(text) = std::str::from_utf8(secret) else { return secret.trim_ascii() };
    let space = |letter: char| {
        letter.is_whitespace() || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    text.trim_matches(space).as_bytes()
}

/// Tries other texts of the secret, decoded as the scheme decodes secrets.
fn in_text(trial: &mut Trial<'_>, signed: &Signed<'_>, secret: &[u8]) -> Option<&'static str> {
    if signed.scheme.algorithm == Algorithm::Token {
        let lower = secret.to_ascii_lowercase();
        if signed.accepted().any(|given| constant_time_eq(&given.to_ascii_lowercase(), &lower)) {
            return Some("its upper and lower case letters are wrong");
        }
    }
    let texts: [(&'static str, Option<Cow<'_, [u8]>>); 11] = [
        ("it was copied with quotes around it", unquoted(secret).map(Into::into)),
        ("it was copied with HTML entities", Some(without_entities(secret).into())),
        ("it was percent-encoded", Some(form::decode(secret))),
        ("its plus signs became spaces", Some(replaced(secret, b' ', b'+').into())),
        ("it was base64-encoded once more", decode_base64(secret).map(Into::into)),
        ("it was hex-encoded once more", hex::decode(secret).ok().map(Into::into)),
        ("its whsec_ prefix was cut off", Some([PREFIX, secret].concat().into())),
        ("the whsec_ prefix isn't part of it", secret.strip_prefix(PREFIX).map(Into::into)),
        ("it must be in lower case", Some(secret.to_ascii_lowercase().into())),
        ("it must be in upper case", Some(secret.to_ascii_uppercase().into())),
        ("it must be percent-encoded", Some(percent_encoded(secret).into())),
    ];
    let other = |text: &Option<Cow<'_, [u8]>>| text.as_deref().is_some_and(|text| *text != *secret);
    let mut found = texts.into_iter().filter(|(_, text)| other(text));
    found
        .find(|(_, text)| text.as_ref().is_some_and(|text| trial.fits_text(signed, text)))
        .map(|(how, _)| how)
}

/// Tries other bytes as the key itself.
fn in_key(trial: &mut Trial<'_>, signed: &Signed<'_>, secret: &[u8]) -> Option<&'static str> {
    let bare = secret.strip_prefix(PREFIX).unwrap_or(secret);
    let keys: [(&'static str, Option<Cow<'_, [u8]>>); 6] = [
        ("the text itself is the key, but it was decoded", Some(secret.into())),
        ("the key is the decoded base64, but it was used as text", decode_base64(bare).map(Into::into)),
        ("the key is the text after whsec_", Some(bare.into())),
        ("the key is the decoded hex, but it was used as text", hex::decode(bare).ok().map(Into::into)),
        ("it is base64url", decode_url(bare).map(Into::into)),
        (
            "the key is its bytes written in hex",
            decode_base64(bare).map(|key| hex::encode(key).into_bytes().into()),
        ),
    ];
    let own = key_bytes(secret, signed.scheme.key);
    let mut found = keys.into_iter().filter(|(_, key)| key.is_some() && *key != own);
    found.find(|(_, key)| key.as_ref().is_some_and(|key| trial.fits_key(signed, key))).map(|(how, _)| how)
}

fn decode_url(text: &[u8]) -> Option<Vec<u8>> {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at + 1);
    URL_SAFE_NO_PAD.decode(&text[..end]).ok()
}

fn unquoted(secret: &[u8]) -> Option<&[u8]> {
    match secret {
        [first @ (b'"' | b'\'' | b'`'), inner @ .., last] if first == last => Some(inner),
        _ => None,
    }
}

fn replaced(text: &[u8], from: u8, to: u8) -> Vec<u8> {
    text.iter().map(|byte| if *byte == from { to } else { *byte }).collect()
}

fn percent_encoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(style) = Style::all().next() {
        style.encode(text, &mut out);
    }
    out
}

/// Decodes the entities that HTML serialisers write.
fn without_entities(secret: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(secret) else { return secret.to_vec() };
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity =
            rest.find(';').filter(|end| *end < 10).and_then(|end| Some((end, entity(&rest[1..end])?)));
        let (taken, letter) = entity.map_or((1, '&'), |(end, letter)| (end + 1, letter));
        out.push(letter);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out.into_bytes()
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        return char::from_u32(number.ok()?);
    }
    let table = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("nbsp", '\u{a0}'),
        ("plus", '+'),
        ("equals", '='),
        ("sol", '/'),
        ("excl", '!'),
        ("num", '#'),
        ("dollar", '$'),
        ("percnt", '%'),
        ("ast", '*'),
        ("lowbar", '_'),
        ("colon", ':'),
        ("semi", ';'),
        ("quest", '?'),
        ("commat", '@'),
        ("grave", '`'),
    ];
    table.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter)
}
