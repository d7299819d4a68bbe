//! Bodies that would match: what the sender may have signed, worked back from what arrived.

use hookmitt_event::HeaderLines;

use crate::{
    form::{self, Style},
    json_form,
    probe::Probe,
};

/// What happened to a body on its way, as `once …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyFinding {
    /// Line ends or white space at the end.
    Newline(&'static str),
    /// A byte order mark.
    Bom(&'static str),
    /// The encoding of a form.
    Form(&'static str),
    /// The writing of a JSON text.
    Json(&'static str),
}

/// Larger bodies are tried with and without a line end only.
const LARGEST: usize = 1 << 20;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Looks for a body over which the signature holds.
pub(crate) fn find(probe: &mut Probe<'_>, headers: &HeaderLines) -> Option<BodyFinding> {
    let scheme = probe.signed.scheme;
    let in_token = scheme.jwt.as_ref().is_some_and(|rules| rules.body_hash.is_some());
    if !scheme.content.has_body() && !in_token {
        return None;
    }
    let body = probe.signed.parts.view.body;
    let found = at_the_end(probe, body).map(BodyFinding::Newline);
    if body.len() > LARGEST {
        return found;
    }
    found
        .or_else(|| line_ends(probe, body).map(BodyFinding::Newline))
        .or_else(|| mark(probe, body).map(BodyFinding::Bom))
        .or_else(|| form_writing(probe, body, form::is_form(headers)).map(BodyFinding::Form))
        .or_else(|| json_form::find(probe, body).map(BodyFinding::Json))
}

fn at_the_end(probe: &mut Probe<'_>, body: &[u8]) -> Option<&'static str> {
    let shorter: [(&str, Option<&[u8]>); 2] = [
        ("the line end at the end is gone", body.strip_suffix(b"\r\n").or_else(|| body.strip_suffix(b"\n"))),
        ("the white space at the end is gone", Some(body.trim_ascii_end())),
    ];
    for (how, shorter) in shorter {
        if shorter.is_some_and(|shorter| shorter.len() < body.len() && probe.holds_over(shorter)) {
            return Some(how);
        }
    }
    let longer: [(&str, &[u8]); 2] =
        [("a line feed is back at the end", b"\n"), ("a CRLF is back at the end", b"\r\n")];
    longer.into_iter().find(|(_, end)| probe.holds_over(&[body, end].concat())).map(|(how, _)| how)
}

fn line_ends(probe: &mut Probe<'_>, body: &[u8]) -> Option<&'static str> {
    if !body.contains(&b'\n') {
        return None;
    }
    let plain = without_cr(body);
    let mut dos = Vec::with_capacity(plain.len() + 64);
    for line in plain.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n");
        dos.extend_from_slice(text.unwrap_or(line));
        dos.extend_from_slice(if text.is_some() { b"\r\n" } else { b"" });
    }
    let dos_ended = [&dos[..], b"\r\n"].concat();
    let tries = [
        ("its line feeds are CRLF again", &dos),
        ("its line feeds are CRLF again, at the end too", &dos_ended),
        ("its CRLFs are line feeds again", &plain),
    ];
    tries.into_iter().find(|(_, other)| other[..] != *body && probe.holds_over(other)).map(|(how, _)| how)
}

fn without_cr(body: &[u8]) -> Vec<u8> {
    let next = |at: usize| body.get(at + 1) == Some(&b'\n');
    let keep = |(at, byte): &(usize, &u8)| !(**byte == b'\r' && next(*at));
    body.iter().enumerate().filter(keep).map(|(_, byte)| *byte).collect()
}

fn mark(probe: &mut Probe<'_>, body: &[u8]) -> Option<&'static str> {
    match body.strip_prefix(BOM) {
        Some(rest) => probe.holds_over(rest).then_some("the mark in front of the body is gone"),
        None => probe.holds_over(&[BOM, body].concat()).then_some("the mark that was cut off is back"),
    }
}

/// The fields under which providers send a JSON text in a form.
const JSON_FIELD: &[u8] = b"payload";

fn form_writing(probe: &mut Probe<'_>, body: &[u8], is_form: bool) -> Option<&'static str> {
    let trimmed = body.trim_ascii_start();
    if trimmed.starts_with(b"{") || trimmed.starts_with(b"[") {
        let holds = |style| probe.holds_over(&field(JSON_FIELD, body, style));
        return Style::all().any(holds).then_some("it is the encoded field of a form again");
    }
    if !is_form && !body.contains(&b'=') {
        return None;
    }
    for (name, value) in form::pairs(body) {
        if name == JSON_FIELD && probe.holds_over(&form::decode(value)) {
            return Some("only its decoded payload field is taken");
        }
    }
    if Style::all().any(|style| probe.holds_over(&rewritten(body, style))) {
        return Some("its fields are encoded as before");
    }
    // A form that was decoded as a whole: what follows the first `=` was one value.
    let equals = body.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (&body[..equals], &body[equals + 1..]);
    let holds = |style| probe.holds_over(&field(name, value, style));
    Style::all().any(holds).then_some("its value is percent-encoded again")
}

fn field(name: &[u8], value: &[u8], style: Style) -> Vec<u8> {
    let mut out = [name, b"="].concat();
    style.encode(value, &mut out);
    out
}

/// A form with the same fields, written by another serialiser.
fn rewritten(body: &[u8], style: Style) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 64);
    for (name, value) in form::pairs(body) {
        if !out.is_empty() {
            out.push(b'&');
        }
        style.encode(&form::decode(name), &mut out);
        out.push(b'=');
        style.encode(&form::decode(value), &mut out);
    }
    out
}
