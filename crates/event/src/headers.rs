//! Header lines exactly as they were received.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize, de::Error as _, ser::SerializeSeq};

/// Header lines as they were received: order, case, repeats and inner spacing are kept.
///
/// They are stored as the received block (`Name: value\r
/// ` …), so that capture copies no names and forwarding sends the same lines.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct HeaderLines(Bytes);

/// One header line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderLine<'a> {
    /// The name, in the case in which it was received.
    pub name: &'a str,
    /// The value without the white space around it. It may hold any bytes except CR, LF and NUL.
    pub value: &'a [u8],
    /// The whole line without its line end.
    pub line: &'a [u8],
}

impl HeaderLine<'_> {
    /// Returns what follows `Name:` without the usual one space. Any other white space around the value is kept.
    pub fn spaced_value(&self) -> &[u8] {
        let rest = &self.line[self.name.len() + 1..];
        rest.strip_prefix(b" ").unwrap_or(rest)
    }
}

/// The reason why a header line cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The name has characters that header names may not contain (RFC 9110, 5.6.2).
    #[error("not a header name: {0:?}")]
    Name(String),
    /// The value contains a line break or a NUL, and would break out of its line.
    #[error("the value of {0} contains a line break or a NUL")]
    Value(String),
    /// The line has no colon.
    #[error("a header line without a colon")]
    Line,
}

impl HeaderLines {
    /// Reads header lines from a block in which CRLF or LF ends each line. The block does not include the empty line
    /// that ends a head.
    ///
    /// # Errors
    /// Returns a [`HeaderError`] if a line has no colon, or if its name or value is not allowed.
    pub fn from_wire(block: Bytes) -> Result<Self, HeaderError> {
        let mut ends_in_crlf = true;
        for line in split_lines(&block) {
            let colon = line.text.iter().position(|byte| *byte == b':').ok_or(HeaderError::Line)?;
            check(&line.text[..colon], &line.text[colon + 1..])?;
            ends_in_crlf &= line.crlf;
        }
        Ok(Self(if ends_in_crlf { block } else { with_crlf(&block) }))
    }

    /// Makes header lines from names and values. Each line is written `Name: value`.
    ///
    /// # Errors
    /// Returns a [`HeaderError`] if a name or value cannot be sent.
    pub fn from_pairs<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, HeaderError> {
        let mut block = BytesMut::new();
        for (name, value) in pairs {
            check(name.as_ref(), value.as_ref())?;
            block.put_slice(name.as_ref());
            block.put_slice(b": ");
            block.put_slice(value.as_ref());
            block.put_slice(b"\r\n");
        }
        Ok(Self(block.freeze()))
    }

    /// Returns the lines in order.
    pub fn iter(&self) -> impl Iterator<Item = HeaderLine<'_>> {
        split_lines(&self.0).filter_map(|line| {
            let colon = line.text.iter().position(|byte| *byte == b':')?;
            let name = std::str::from_utf8(&line.text[..colon]).ok()?;
            Some(HeaderLine { name, value: trim(&line.text[colon + 1..]), line: line.text })
        })
    }

    /// Returns the value of the first line with this name. Case is ignored.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        split_lines(&self.0).find_map(|line| value_of(line.text, name.as_bytes()))
    }

    /// Like [`get`](Self::get), but returns `None` if the value is not UTF-8.
    pub fn get_str(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// Returns the values of all lines with this name, in order. Case is ignored.
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        split_lines(&self.0).filter_map(|line| value_of(line.text, name.as_bytes()))
    }

    /// Returns whether there is a line with this name. Case is ignored.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Splits the lines in two: those whose name `beside` rejects come first, those whose name it accepts second. Each
    /// line stays as it was received, in order.
    #[must_use]
    pub fn parted(&self, beside: impl Fn(&str) -> bool) -> (Self, Self) {
        let mut parts = [BytesMut::with_capacity(self.0.len()), BytesMut::new()];
        for line in self.iter() {
            let part = &mut parts[usize::from(beside(line.name))];
            part.put_slice(line.line);
            part.put_slice(b"\r\n");
        }
        let [own, beside] = parts.map(|part| Self(part.freeze()));
        (own, beside)
    }

    /// Returns the block as it is stored and sent: every line ends in CRLF.
    pub fn as_wire(&self) -> &Bytes {
        &self.0
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Returns whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

struct Line<'a> {
    text: &'a [u8],
    crlf: bool,
}

/// Splits a block into lines. It uses `memchr` because capture looks up dozens of names per request.
fn split_lines(block: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut rest = block;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let text = &rest[..end];
        let crlf = end < rest.len() && text.ends_with(b"\r");
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(Line { text: if crlf { &text[..end - 1] } else { text }, crlf })
    })
}

/// Returns the line's value if the line has this name.
fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (found, rest) = line.split_at_checked(name.len())?;
    let value = rest.strip_prefix(b":")?;
    found.eq_ignore_ascii_case(name).then(|| trim(value))
}

fn with_crlf(block: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(block.len() + 64);
    for line in split_lines(block) {
        out.put_slice(line.text);
        out.put_slice(b"\r\n");
    }
    out.freeze()
}

fn check(name: &[u8], value: &[u8]) -> Result<(), HeaderError> {
    let shown = || String::from_utf8_lossy(name).into_owned();
    if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
        return Err(HeaderError::Name(shown()));
    }
    if value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
        return Err(HeaderError::Value(shown()));
    }
    Ok(())
}

/// Returns whether a byte may occur in a method or a header name (a `tchar` of RFC 9110, 5.6.2).
pub fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns the value without optional white space (space and tab, RFC 9110, 5.6.3) at both ends.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

impl fmt::Debug for HeaderLines {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.iter().map(|line| (line.name, String::from_utf8_lossy(line.value)));
        out.debug_list().entries(pairs).finish()
    }
}

/// A header value in JSON: a string, or `{"base64": …}` if the value is not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum HeaderValueJson {
    /// A value that is UTF-8.
    Text(String),
    /// A value that is not UTF-8.
    Bytes {
        /// The bytes in standard base64.
        base64: String,
    },
}

impl From<&[u8]> for HeaderValueJson {
    fn from(value: &[u8]) -> Self {
        match std::str::from_utf8(value) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Bytes { base64: STANDARD.encode(value) },
        }
    }
}

impl HeaderValueJson {
    /// Returns the bytes of the value.
    ///
    /// # Errors
    /// Returns an error if `base64` is not valid base64.
    pub fn to_bytes(&self) -> Result<Vec<u8>, base64::DecodeError> {
        match self {
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::Bytes { base64 } => STANDARD.decode(base64),
        }
    }
}

impl Serialize for HeaderLines {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut list = out.serialize_seq(None)?;
        for line in self.iter() {
            list.serialize_element(&(line.name, HeaderValueJson::from(line.value)))?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for HeaderLines {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let pairs = Vec::<(String, HeaderValueJson)>::deserialize(input)?;
        let mut decoded = Vec::with_capacity(pairs.len());
        for (name, value) in pairs {
            let value = value.to_bytes().map_err(D::Error::custom)?;
            decoded.push((name, value));
        }
        Self::from_pairs(decoded).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_case_repeats_and_spacing_are_kept() {
        let block = Bytes::from_static(b"X-A:1\r\nx-a:  two \r\nHost: h\r\n");
        let lines = HeaderLines::from_wire(block.clone()).unwrap();
        assert_eq!(lines.as_wire(), &block);
        assert_eq!(lines.get_all("X-a").collect::<Vec<_>>(), [&b"1"[..], b"two"]);
        assert_eq!(lines.iter().nth(1).unwrap().spaced_value(), b" two ");
    }

    #[test]
    fn bare_line_feeds_become_crlf() {
        let lines = HeaderLines::from_wire(Bytes::from_static(b"A: 1\nB: 2\r\n")).unwrap();
        assert_eq!(&lines.as_wire()[..], b"A: 1\r\nB: 2\r\n");
    }

    #[test]
    fn a_value_that_is_not_utf8_survives_json() {
        let lines = HeaderLines::from_pairs([("A", &b"\xff\xfe"[..]), ("B", b"text")]).unwrap();
        let json = serde_json::to_string(&lines).unwrap();
        assert_eq!(json, r#"[["A",{"base64":"//4="}],["B","text"]]"#);
        assert_eq!(serde_json::from_str::<HeaderLines>(&json).unwrap(), lines);
    }

    #[test]
    fn a_value_cannot_break_out_of_its_line() {
        assert!(matches!(HeaderLines::from_pairs([("A", "1\r\nB: 2")]), Err(HeaderError::Value(_))));
        assert!(matches!(HeaderLines::from_pairs([("A B", "1")]), Err(HeaderError::Name(_))));
    }
}
