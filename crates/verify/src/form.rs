//! Form-encoded bodies (`application/x-www-form-urlencoded`).

use std::{borrow::Cow, cmp::Ordering};

use hookmitt_event::HeaderLines;

/// Whether the headers say that the body is a form.
pub(crate) fn is_form(headers: &HeaderLines) -> bool {
    const KIND: &[u8] = b"application/x-www-form-urlencoded";
    let kind = headers.get("content-type").and_then(|value| value.get(..KIND.len()));
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(KIND))
}

/// The names and values of a form, still encoded.
pub(crate) fn pairs(body: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    body.split(|byte| *byte == b'&').filter(|field| !field.is_empty()).map(pair)
}

/// The name and the value of one field, still encoded.
fn pair(field: &[u8]) -> (&[u8], &[u8]) {
    let equals = field.iter().position(|byte| *byte == b'=');
    equals.map_or((field, &[][..]), |at| (&field[..at], &field[at + 1..]))
}

/// The decoded values of the fields of that name.
pub(crate) fn values<'a, 'n>(
    text: &'a [u8],
    name: &'n str,
) -> impl Iterator<Item = Cow<'a, [u8]>> + use<'a, 'n> {
    pairs(text).filter(move |(found, _)| *decode(found) == *name.as_bytes()).map(|(_, value)| decode(value))
}

/// The form with another value for a field: in the place of its first one, or at the end.
pub(crate) fn with_value(text: &[u8], name: &str, value: &str) -> Vec<u8> {
    let mut own = [name.as_bytes(), b"="].concat();
    if let Some(style) = Style::all().next() {
        style.encode(value.as_bytes(), &mut own);
    }
    let mut done = false;
    let mut fields: Vec<Vec<u8>> = Vec::new();
    for field in text.split(|byte| *byte == b'&').filter(|field| !field.is_empty()) {
        let found = field.split(|byte| *byte == b'=').next().unwrap_or_default();
        if *decode(found) != *name.as_bytes() {
            fields.push(field.to_vec());
        } else if !done {
            fields.push(own.clone());
            done = true;
        }
    }
    if !done {
        fields.push(own);
    }
    fields.join(&b'&')
}

/// Names in order, each before each of its different values in order (npm:twilio, `toFormUrlEncodedParam`).
pub(crate) fn sorted(text: &[u8]) -> Vec<u8> {
    // A sender may put millions of fields into a body: each costs a slice here, and nothing is decoded before it is fed.
    let mut fields: Vec<_> = text.split(|byte| *byte == b'&').filter(|field| !field.is_empty()).collect();
    fields.sort_unstable_by(|one, other| by_name_and_value(one, other));
    fields.dedup_by(|one, other| by_name_and_value(one, other).is_eq());
    let mut out = Vec::with_capacity(text.len());
    for field in fields {
        let (name, value) = pair(field);
        out.extend(decoded(name).chain(decoded(value)));
    }
    out
}

/// How two fields of a form stand to each other, decoded.
fn by_name_and_value(one: &[u8], other: &[u8]) -> Ordering {
    let ((name, value), (other_name, other_value)) = (pair(one), pair(other));
    let by_name = decoded(name).cmp(decoded(other_name));
    by_name.then_with(|| decoded(value).cmp(decoded(other_value)))
}

/// Undoes percent and plus encoding; a `%` that starts no escape stays.
pub(crate) fn decode(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.iter().any(|byte| matches!(byte, b'%' | b'+')) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(decoded(text).collect())
}

/// The bytes of [`decode`], one after the other.
fn decoded(text: &[u8]) -> impl Iterator<Item = u8> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let [first, tail @ ..] = rest else { return None };
        rest = tail;
        match (first, escape(tail)) {
            (b'+', _) => Some(b' '),
            (b'%', Some(byte)) => {
                rest = &tail[2..];
                Some(byte)
            }
            (other, _) => Some(*other),
        }
    })
}

fn escape(tail: &[u8]) -> Option<u8> {
    let digit = |at: usize| tail.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

/// How a form serialiser writes values; they differ in what they leave as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Punctuation that is not escaped.
    pub(crate) plain: &'static [u8],
    /// What a space becomes.
    pub(crate) space: &'static str,
    /// Escapes in lower-case hex.
    pub(crate) lower: bool,
}

impl Style {
    /// Every style that is worth trying, the commonest (the WHATWG URL standard's) first.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        const PLAIN: [&[u8]; 7] = [b"*-._", b"-._~", b"-_.!~*'()", b"-._", b"-._~/", b"-._~/:", b""];
        [false, true].into_iter().flat_map(|lower| {
            PLAIN.into_iter().flat_map(move |plain| {
                ["+", "%20"].into_iter().map(move |space| Self { plain, space, lower })
            })
        })
    }

    /// Encodes one name or value.
    pub(crate) fn encode(self, text: &[u8], out: &mut Vec<u8>) {
        let digits = if self.lower { b"0123456789abcdef" } else { b"0123456789ABCDEF" };
        for &byte in text {
            if byte == b' ' {
                out.extend_from_slice(self.space.as_bytes());
            } else if byte.is_ascii_alphanumeric() || self.plain.contains(&byte) {
                out.push(byte);
            } else {
                out.extend([b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_text_is_read_back() {
        for style in Style::all() {
            let text = "a b/ä&=%~'(\u{1f680})*".as_bytes();
            let mut out = Vec::new();
            style.encode(text, &mut out);
            assert_eq!(decode(&out), text, "{style:?}");
        }
    }

    #[test]
    fn stray_percent_signs_stay() {
        assert_eq!(&*decode(b"100%+%zz%4"), b"100% %zz%4");
    }

    #[test]
    fn pairs_are_split_at_the_first_equals_sign() {
        let found: Vec<_> = pairs(b"a=1&&b&c=d=e").collect();
        assert_eq!(found, [(&b"a"[..], &b"1"[..]), (b"b", b""), (b"c", b"d=e")]);
    }
}
