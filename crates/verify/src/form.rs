//! Form-encoded bodies (`application/x-www-form-urlencoded`).

use std::{borrow::Cow, cmp::Ordering};

use hookmitt_event::HeaderLines;

/// Whether the headers say that the body is a form.
pub(crate) fn is_form(headers: &HeaderLines) -> bool {
    const KIND: &[u8] = b"application/x-www-form-urlencoded";
    let kind = headers.get("content-type").and_then(|value| value.get(..KIND.len()));
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(KIND))
}

/// Iterates over the names and values of a form, still encoded.
pub(crate) fn pairs(body: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    body.split(|byte| *byte == b'&').filter(|field| !field.is_empty()).map(pair)
}

/// Splits one field into its name and value, still encoded.
fn pair(field: &[u8]) -> (&[u8], &[u8]) {
    let equals = field.iter().position(|byte| *byte == b'=');
    equals.map_or((field, &[][..]), |at| (&field[..at], &field[at + 1..]))
}

/// Iterates over the decoded values of all fields of that name.
pub(crate) fn values<'a, 'n>(
    text: &'a [u8],
    name: &'n str,
) -> impl Iterator<Item = Cow<'a, [u8]>> + use<'a, 'n> {
    pairs(text).filter(move |(found, _)| *decode(found) == *name.as_bytes()).map(|(_, value)| decode(value))
}

/// Replaces the fields of that name by one field with this value, in the place of the first one. Appends it if there is
/// none.
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

/// Returns the decoded fields sorted by name, then value, without repeats, as names and values in one text (npm:twilio,
/// `toFormUrlEncodedParam`).
pub(crate) fn sorted(text: &[u8]) -> Vec<u8> {
    // A body may hold millions of fields. Each costs only a slice here, because comparing decodes byte by byte.
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

/// Compares two fields of a form by their decoded names, then values.
fn by_name_and_value(one: &[u8], other: &[u8]) -> Ordering {
    let ((name, value), (other_name, other_value)) = (pair(one), pair(other));
    let by_name = decoded(name).cmp(decoded(other_name));
    by_name.then_with(|| decoded(value).cmp(decoded(other_value)))
}

/// Decodes percent escapes and plus signs. A `%` that starts no valid escape stays.
pub(crate) fn decode(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.iter().any(|byte| matches!(byte, b'%' | b'+')) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(decoded(text).collect())
}

/// Like [`decode`], but yields one byte at a time.
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

/// How a form serialiser encodes values. Serialisers differ in the characters that they leave as they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// Punctuation that is not escaped.
    pub(crate) plain: &'static [u8],
    /// What a space is written as.
    pub(crate) space: &'static str,
    /// Whether escapes use lower-case hex.
    pub(crate) lower: bool,
}

impl Style {
    /// Iterates over all styles worth trying. The commonest, that of the WHATWG URL standard, comes first.
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
