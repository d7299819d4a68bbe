//! Forms that were decoded, encoded again or turned into JSON.

use serde_json::Value;

use crate::{
    form::{self, Style},
    scheme::Special,
    signature::Signed,
};

use super::{finding::Finding, json_text, trial::Trial};

/// The form field in which providers send JSON.
const JSON_FIELD: &[u8] = b"payload";
/// For longer bodies, only the commonest styles are tried. In bytes.
const LARGE: usize = 16 << 10;
/// Forms with more fields are not rebuilt from JSON.
const MOST_FIELDS: usize = 200;

/// Looks for a form that matches the signature.
pub(crate) fn find(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let body = signed.parts.view.body;
    let trimmed = body.trim_ascii_start();
    let (how, other) = if matches!(trimmed.first(), Some(b'{' | b'[')) {
        from_json(trial, signed, body)?
    } else if body.contains(&b'=') {
        from_form(trial, signed, body)?
    } else {
        return None;
    };
    let sender = trial.sender;
    Some(
        Finding::proven("form_changed", format!("The signature matches once {how}"))
            .saying(
                format!("{sender} signed another form encoding: the signature matches once {how}."),
                "Verify the raw form body, before anything decodes or re-encodes its fields.",
            )
            .sentence("the form was decoded and written again on its way here")
            .detail(format!(
                "The signature matches once {how}. Secret and sender are right; only the bytes changed."
            ))
            .fitting("For the original form")
            .body(other),
    )
}

type Found = Option<(&'static str, Vec<u8>)>;

fn each(
    trial: &mut Trial<'_>,
    signed: &Signed<'_>,
    how: &'static str,
    mut write: impl FnMut(Style) -> Vec<u8>,
) -> Found {
    let size = signed.parts.view.body.len();
    for style in Style::all().take(if size > LARGE { 4 } else { usize::MAX }) {
        let other = write(style);
        trial.spend(other.len());
        if other != signed.parts.view.body && trial.fits_body(signed, &other) {
            return Some((how, other));
        }
    }
    None
}

fn from_json(trial: &mut Trial<'_>, signed: &Signed<'_>, body: &[u8]) -> Found {
    let how = "it is put back into an encoded form field";
    if let found @ Some(_) = each(trial, signed, how, |style| field(JSON_FIELD, body, style)) {
        return found;
    }
    let other_texts = if body.len() > LARGE { Vec::new() } else { json_text::usual(body) };
    for text in other_texts {
        if let found @ Some(_) = each(trial, signed, how, |style| field(JSON_FIELD, &text, style)) {
            return found;
        }
    }
    let Value::Object(fields) = serde_json::from_slice(body).ok()? else { return None };
    if fields.len() > MOST_FIELDS {
        return None;
    }
    let order = json_text::keys(body)?;
    let pairs: Vec<(String, String)> = order
        .into_iter()
        .filter_map(|name| {
            let value = match fields.get(&name)? {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            Some((name, value))
        })
        .collect();
    each(trial, signed, "its fields are encoded as a form again", |style| {
        joined(pairs.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())), style)
    })
}

fn from_form(trial: &mut Trial<'_>, signed: &Signed<'_>, body: &[u8]) -> Found {
    if signed.scheme.special != Some(Special::Braintree) {
        for (name, value) in form::pairs(body) {
            let value = form::decode(value);
            if name == JSON_FIELD && trial.fits_body(signed, &value) {
                return Some(("only its decoded payload field is used", value.into_owned()));
            }
        }
    }
    let escaped: Vec<u8> = body
        .iter()
        .flat_map(|byte| if *byte == b'+' { &b"%2B"[..] } else { std::slice::from_ref(byte) }.to_vec())
        .collect();
    if escaped != body && trial.fits_body(signed, &escaped) {
        return Some(("its plus signs are percent-encoded", escaped));
    }
    let decoded = |pairs: Vec<(Vec<u8>, Vec<u8>)>| {
        move |style| joined(pairs.iter().map(|(name, value)| (&name[..], &value[..])), style)
    };
    let pairs = form::pairs(body)
        .map(|(name, value)| (form::decode(name).into_owned(), form::decode(value).into_owned()));
    if let found @ Some(_) =
        each(trial, signed, "the original encoding of its fields is restored", decoded(pairs.collect()))
    {
        return found;
    }
    // If a form was decoded as a whole, its values may contain `&` and `=`.
    let how = "its values are percent-encoded again";
    if let found @ Some(_) = each(trial, signed, how, decoded(merged(body))) {
        return found;
    }
    let equals = body.iter().position(|byte| *byte == b'=')?;
    each(trial, signed, how, |style| field(&body[..equals], &body[equals + 1..], style))
}

/// Splits a decoded form into fields. A part that doesn't begin like a field is added to the value before it.
fn merged(body: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for part in body.split(|byte| *byte == b'&') {
        let name = part.iter().position(|byte| *byte == b'=').map(|at| &part[..at]);
        let names = |name: &&[u8]| {
            !name.is_empty()
                && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.[]".contains(byte))
        };
        match (name.filter(names), pairs.last_mut()) {
            (Some(name), _) => pairs.push((name.to_vec(), part[name.len() + 1..].to_vec())),
            (None, Some((_, value))) => {
                value.push(b'&');
                value.extend_from_slice(part);
            }
            (None, None) => pairs.push((part.to_vec(), Vec::new())),
        }
    }
    pairs
}

fn field(name: &[u8], value: &[u8], style: Style) -> Vec<u8> {
    let mut out = [name, b"="].concat();
    style.encode(value, &mut out);
    out
}

fn joined<'p>(pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>, style: Style) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in pairs {
        if !out.is_empty() {
            out.push(b'&');
        }
        style.encode(name, &mut out);
        out.push(b'=');
        style.encode(value, &mut out);
    }
    out
}
