//! The texts of an event that the full text consists of.

use std::borrow::Cow;

use hookmitt_event::HeaderLine;

use crate::{Seen, fold::fold_onto};

/// Iterates over the texts in which a text without a key is looked for: type, title, path with query, note, header lines
/// as `Name: value`, and body. A body of JSON that has escapes such as `\u00e9` or `\/` comes a second time with these
/// decoded. Bytes that are not UTF-8 become U+FFFD.
pub fn texts<'a>(seen: &Seen<'a>) -> impl Iterator<Item = Cow<'a, str>> {
    let event = seen.event;
    let request = &event.request;
    let called = match &request.query {
        Some(_) => Cow::Owned(request.path_and_query()),
        None => Cow::Borrowed(request.path.as_str()),
    };
    let [kind, title, note] =
        [&event.event_type, &event.title, &event.note].map(|text| text.as_deref().map(Cow::Borrowed));
    let facts = [kind, title, Some(called), note];
    let body = (!request.body.is_empty()).then(|| as_text(&request.body));
    let decoded = decoded(&request.body).map(Cow::Owned);
    let facts = facts.into_iter().flatten().filter(|text| !text.is_empty());
    facts.chain(request.headers.iter().map(line)).chain(body).chain(decoded)
}

/// Appends the [`texts`] of an event, folded, each followed by a line feed. An index of this text finds every event that
/// a query finds, and more: it doesn't see where a text ends if the text that is looked for has a line feed.
pub fn folded_texts(seen: &Seen<'_>, out: &mut String) {
    for text in texts(seen) {
        fold_onto(&text, out);
        out.push('\n');
    }
}

/// Like [`String::from_utf8_lossy`], which takes longer over a text that needs no replacement.
fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

fn line(line: HeaderLine<'_>) -> Cow<'_, str> {
    Cow::Owned(format!("{}: {}", line.name, String::from_utf8_lossy(line.value)))
}

/// Decodes escapes such as `\u00e9`, and `\/`, of a JSON text. `None` if there are none, or if it isn't JSON.
fn decoded(body: &[u8]) -> Option<String> {
    let has_escape = memchr::memchr_iter(b'\\', body).any(|at| matches!(body.get(at + 1), Some(b'u' | b'/')));
    if !has_escape || serde_json::from_slice::<serde::de::IgnoredAny>(body).is_err() {
        return None;
    }
    let text = std::str::from_utf8(body).ok()?;
    let mut decoded = String::with_capacity(text.len());
    let mut left = text;
    while let Some(at) = memchr::memchr(b'\\', left.as_bytes()) {
        decoded.push_str(&left[..at]);
        left = &left[at..];
        let (letter, length) = escape(left.as_bytes());
        match letter {
            Some(letter) => decoded.push(letter),
            None => decoded.push_str(&left[..length]),
        }
        left = &left[length..];
    }
    decoded.push_str(left);
    (decoded != text).then_some(decoded)
}

/// Returns the letter for which the escape at the beginning stands, if that is to be decoded, and the escape's length.
fn escape(text: &[u8]) -> (Option<char>, usize) {
    match text.get(1) {
        Some(b'/') => (Some('/'), 2),
        Some(b'u') => {
            let units = [unit(text), text.get(6..).and_then(unit)];
            let units = units.into_iter().map_while(|unit| unit);
            let letter = char::decode_utf16(units).next().and_then(Result::ok);
            let length = letter.map_or(6, |letter| 6 * letter.len_utf16());
            (letter, length.min(text.len()))
        }
        // Valid JSON has an ASCII letter after each backslash.
        _ => (None, 2.min(text.len())),
    }
}

fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_json_are_decoded_and_nothing_else_is() {
        for (body, expected) in [
            (r#"{"a":"Z\u00fcrich"}"#, Some(r#"{"a":"Zürich"}"#)),
            (r#"["https:\/\/x","\ud83d\ude80"]"#, Some(r#"["https://x","🚀"]"#)),
            (r#"["\\u0041\n\"\u0042"]"#, Some(r#"["\\u0041\n\"B"]"#)),
            (r#"["\ud83dx\u0041"]"#, Some(r#"["\ud83dxA"]"#)),
            (r#"["\ud83d\u0041"]"#, Some(r#"["\ud83dA"]"#)),
            (r#"["\\u0041"]"#, None),
            (r#"["\n"]"#, None),
            (r#"\u0041 is no JSON"#, None),
        ] {
            assert_eq!(decoded(body.as_bytes()).as_deref(), expected, "{body}");
        }
    }
}
