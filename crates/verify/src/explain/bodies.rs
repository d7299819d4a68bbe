//! Finds the body that the sender may have signed, starting from the body that arrived.

use crate::{
    place::Place,
    sample,
    scheme::{Scheme, Special},
    signature::Signed,
};

use super::{charset, coded, finding::Finding, forms, json_form, trial::Trial};

/// For larger bodies, only changes at the end are tried. In bytes.
const LARGEST: usize = 4 << 20;

/// Whether a scheme covers the body, or something derived from it.
pub(crate) fn covers(scheme: &Scheme) -> bool {
    scheme.content.has_body()
        || scheme.body_hash.is_some()
        || scheme.special.is_some_and(|special| special != Special::Sns && special != Special::Adyen)
        || scheme.jwt.as_ref().is_some_and(|rules| rules.body_hash.is_some())
}

/// Whether parts of what is signed stand in the body, so that they are lost if the body changes.
pub(crate) fn holds_parts(scheme: &Scheme) -> bool {
    let inside = |place: &Place| matches!(place, Place::Json(..) | Place::Form(_));
    let mut places = scheme.timestamp.iter().chain(&scheme.message_id).chain(scheme.content.places());
    places.any(inside)
}

/// Looks for a body that matches the signature.
pub(crate) fn find(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    if !covers(signed.scheme) {
        return None;
    }
    let body = signed.parts.view.body;
    let at_the_end = at_the_end(trial, signed, body);
    if at_the_end.is_some() || body.len() > LARGEST {
        return at_the_end;
    }
    let finders = [line_ends, mark, charset::find, coded::find, forms::find, between_items, json_form::find];
    trial.first(signed, &finders)
}

/// Describes a body with changed line ends; `how` says how to undo the change.
pub(crate) fn newline(sender: &str, how: &str, body: Vec<u8>) -> Finding {
    Finding::proven("newline_changed", format!("The signature matches once {how}"))
        .saying(
            format!("{sender} signed other line endings: the signature matches once {how}."),
            "Pass the body on as raw bytes: no trim(), no text mode, no editor or template on the way.",
        )
        .sentence("the line endings of the body were changed on its way here")
        .detail(format!(
            "The signature matches once {how}. Secret and sender are right; only the bytes changed."
        ))
        .fitting("With the original line endings")
        .body(body)
}

fn at_the_end(trial: &mut Trial<'_>, signed: &Signed<'_>, body: &[u8]) -> Option<Finding> {
    let sender = trial.sender;
    let of_batches = trial.inquiry.provider.is_some_and(sample::ends_with_crlf);
    let shorter: [(&str, &str, Option<&[u8]>); 3] = [
        (
            "the trailing newline is removed",
            "Trailing newline added",
            body.strip_suffix(b"\r\n").or_else(|| body.strip_suffix(b"\n")),
        ),
        ("the trailing whitespace is removed", "Trailing whitespace added", Some(body.trim_ascii_end())),
        ("the whitespace around it is removed", "Whitespace added", Some(body.trim_ascii())),
    ];
    for (how, title, shorter) in shorter {
        if let Some(shorter) = shorter.filter(|shorter| shorter.len() < body.len())
            && trial.fits_body(signed, shorter)
        {
            return Some(newline(sender, how, shorter.to_vec()).titled(title));
        }
    }
    let longer: [(&str, &[u8]); 3] = [
        ("the trailing line feed is restored", b"\n"),
        ("the trailing CRLF is restored", b"\r\n"),
        ("two trailing line feeds are restored", b"\n\n"),
    ];
    for (how, end) in longer {
        let longer = [body, end].concat();
        if trial.fits_body(signed, &longer) {
            let found = newline(sender, how, longer.clone()).titled("Trailing newline removed");
            return Some(if end == b"\r\n" && of_batches && json_form::is_compact_list(body) {
                // Trimming does not explain a compact list that should end in CRLF: a parser and a serialiser rewrote
                // it.
                let mut first = json_form::finding(
                    sender,
                    "the trailing CRLF is restored",
                    "the same JSON with its CRLF",
                    longer,
                );
                first.also = Some(Box::new(found));
                first
            } else {
                found
            });
        }
    }
    None
}

fn line_ends(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let body = signed.parts.view.body;
    if !body.contains(&b'\n') && !body.contains(&b'\r') {
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
    let plain_ended = [&plain[..], b"\n"].concat();
    let from_cr: Vec<u8> = body.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect();
    let tries = [
        ("its line feeds are changed back to CRLF", dos),
        ("its line feeds are changed back to CRLF and a trailing CRLF is added", dos_ended),
        ("its CRLFs are changed back to line feeds", plain),
        ("its CRLFs are changed back to line feeds and a trailing line feed is added", plain_ended),
        ("its carriage returns are changed back to line feeds", from_cr),
    ];
    let mut tries = tries.into_iter().filter(|(_, other)| other[..] != *body);
    let (how, other) = tries.find(|(_, other)| trial.fits_body(signed, other))?;
    Some(newline(trial.sender, how, other).titled("Line endings changed"))
}

pub(crate) fn without_cr(body: &[u8]) -> Vec<u8> {
    let next = |at: usize| body.get(at + 1) == Some(&b'\n');
    let keep = |(at, byte): &(usize, &u8)| !(**byte == b'\r' && next(*at));
    body.iter().enumerate().filter(keep).map(|(_, byte)| *byte).collect()
}

/// Senders of batches put line ends between the items of a list, so these are tried.
fn between_items(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let body = signed.parts.view.body;
    let end = body.len() - body.trim_ascii_end().len();
    let items = json_form::items(body.trim_ascii())?;
    if items.len() < 2 {
        return None;
    }
    for between in [&b",\r\n"[..], b",\n", b","] {
        for tail in [&body[body.len() - end..], b"\r\n", b"\n", b""] {
            let joined = [b"[", &items.join(between)[..], b"]", tail].concat();
            if joined != body && trial.fits_body(signed, &joined) {
                let (sender, how) = (trial.sender, "the line endings between its items are restored");
                let found = newline(sender, how, joined.clone());
                if end > 0 || !json_form::is_compact_list(body) {
                    return Some(found);
                }
                let mut first =
                    json_form::finding(sender, how, "the same JSON with its line endings", joined);
                first.also = Some(Box::new(found));
                return Some(first);
            }
        }
    }
    None
}

fn mark(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let body = signed.parts.view.body;
    let (how, other) = match body.strip_prefix(charset::BOM) {
        Some(rest) => ("the mark at the start of the body is removed", rest.to_vec()),
        None => ("the missing mark is restored", [charset::BOM, body].concat()),
    };
    trial.fits_body(signed, &other).then(|| {
        Finding::proven("bom_added", format!("The signature matches once {how}"))
            .saying(
                format!(
                    "A byte order mark (EF BB BF) makes the difference: the signature matches once {how}."
                ),
                "Write the body without re-encoding it; use UTF-8 without BOM.",
            )
            .sentence("a byte order mark was added to the body, or removed from it")
            .detail("Secret and sender are right; only the three bytes of the mark differ.")
            .fitting("With the original mark")
            .body(other)
    })
}

/// Finds the text that JavaScript makes of a parsed body that is used as a string.
pub(crate) fn object_text(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    const TEXT: &[u8] = b"[object Object]";
    (signed.parts.view.body.trim_ascii() == TEXT).then(|| {
        Finding::likely("body_reserialized", "The body is the text [object Object]")
            .saying(
                format!(
                    "The body was parsed and then used as text, so nothing is left of what {} signed.",
                    trial.sender
                ),
                "Keep the raw request body, and verify and forward that.",
            )
            .sentence("the body was parsed and used as text on its way here")
            .detail("This is what JavaScript makes of a parsed object that is used as text.")
    })
}

/// Advice on where bodies lose their end.
const SIZE_LIMIT: &str =
    "Look for a size limit (proxy, body parser, log, database column) or a stream that was already read.";

/// Finds a body whose end is missing. This can't be proven, because the rest is gone.
pub(crate) fn cut_off(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let scheme = signed.scheme;
    if !covers(scheme) && scheme.special.is_none() && !holds_parts(scheme) {
        return None;
    }
    let view = &signed.parts.view;
    let size = view.body.len();
    let announced = view.headers.get_str("content-length").and_then(|length| length.parse::<usize>().ok());
    let sender = trial.sender;
    let said = |evidence: String, title: String| {
        Finding::likely("body_truncated", evidence)
            .titled(title)
            .saying(format!("Only the start of what {sender} signed arrived: {size} bytes."), SIZE_LIMIT)
            .sentence("the body was cut off on its way here")
            .detail("The rest can't be restored, so this can't be proven, but what arrived is incomplete.")
    };
    let title = format!("Body cut at {}", thousands(size));
    match announced {
        Some(announced) if announced > size && !is_encoded(view.headers) => {
            Some(said(format!("Content-Length says {announced} bytes, {size} arrived"), title))
        }
        _ if json_form::breaks_off(view.body) => {
            Some(said(format!("The JSON ends in the middle, after {size} bytes"), title))
        }
        _ => None,
    }
}

/// Like [`cut_off`], but proven, because the whole body came in at another time.
pub(crate) fn cut_short(trial: &Trial<'_>, body: &[u8], whole: &[u8]) -> Finding {
    let (size, sender) = (body.len(), trial.sender);
    Finding::proven("body_truncated", "It verifies with the complete body of another event")
        .titled(format!("Body cut at {}", thousands(size)))
        .saying(
            format!("Only the start of what {sender} signed arrived: {size} of {} bytes.", whole.len()),
            SIZE_LIMIT,
        )
        .sentence("the body was cut off on its way here")
        .fitting("With the complete body")
        .body(whole.to_vec())
}

/// Finds a body that is not compressed although its headers announce compression.
pub(crate) fn not_decoded(_: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let view = &signed.parts.view;
    let coding = view.headers.get_str("content-encoding").unwrap_or_default().trim().to_ascii_lowercase();
    let announced = matches!(coding.as_str(), "gzip" | "x-gzip" | "deflate" | "br" | "zstd");
    if !covers(signed.scheme) || !announced || coded::is_compressed(view.body) {
        return None;
    }
    Some(
        Finding::likely(
            "body_decoded",
            format!("Content-Encoding says {coding}, but the body isn't compressed"),
        )
        .saying(
            format!("The body was decompressed on its way here; the {coding} bytes may be what was signed."),
            "Verify the bytes as sent, before anything decompresses them.",
        )
        .sentence("the body was decompressed on its way here")
        .detail("Compressing it again wouldn't give the same bytes, so this can't be proven."),
    )
}

fn is_encoded(headers: &hookmitt_event::HeaderLines) -> bool {
    headers.get_str("content-encoding").is_some_and(|coding| !coding.eq_ignore_ascii_case("identity"))
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + " bytes"
}
