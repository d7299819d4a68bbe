//! What is signed: a text with places for the body, the timestamp and the id.

use serde::Deserialize;

/// The parts of a request that a signature may cover.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Parts<'a> {
    pub(crate) id: &'a [u8],
    pub(crate) timestamp: &'a [u8],
    pub(crate) body: &'a [u8],
}

/// A template of signed content such as `{timestamp}.{body}`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct SignedContent(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Id,
    Timestamp,
    Body,
}

/// A template with a place that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the signed content has an unknown place {0}; use {{body}}, {{timestamp}} and {{id}}")]
pub struct ContentError(pub(crate) String);

impl SignedContent {
    /// Reads a template.
    pub(crate) fn parse(text: &str) -> Result<Self, ContentError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let Some(length) = rest[open..].find('}') else {
                return Err(ContentError(rest[open..].to_owned()));
            };
            let place = &rest[open..=open + length];
            let piece = match place {
                "{body}" => Piece::Body,
                "{timestamp}" => Piece::Timestamp,
                "{id}" => Piece::Id,
                other => return Err(ContentError(other.to_owned())),
            };
            if open > 0 {
                pieces.push(Piece::Text(rest[..open].to_owned()));
            }
            pieces.push(piece);
            rest = &rest[open + length + 1..];
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    /// Hands the signed bytes to `feed`, piece by piece: the body is never copied.
    pub(crate) fn feed(&self, parts: &Parts<'_>, mut feed: impl FnMut(&[u8])) {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => feed(text.as_bytes()),
                Piece::Id => feed(parts.id),
                Piece::Timestamp => feed(parts.timestamp),
                Piece::Body => feed(parts.body),
            }
        }
    }

    /// Whether the id is signed.
    pub(crate) fn has_id(&self) -> bool {
        self.0.contains(&Piece::Id)
    }

    /// Whether the timestamp is signed.
    pub(crate) fn has_timestamp(&self) -> bool {
        self.0.contains(&Piece::Timestamp)
    }

    /// Whether the body is signed.
    pub(crate) fn has_body(&self) -> bool {
        self.0.contains(&Piece::Body)
    }
}

impl TryFrom<String> for SignedContent {
    type Error = ContentError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(template: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let parts = Parts { id: b"id", timestamp: b"12", body: b"{}" };
        SignedContent::parse(template).unwrap().feed(&parts, |bytes| out.extend_from_slice(bytes));
        out
    }

    #[test]
    fn places_are_filled_in_order() {
        let table = [
            ("{body}", "{}"),
            ("{id}.{timestamp}.{body}", "id.12.{}"),
            ("v0:{timestamp}:{body}", "v0:12:{}"),
        ];
        for (template, expected) in table {
            assert_eq!(fed(template), expected.as_bytes(), "{template}");
        }
    }

    #[test]
    fn an_unknown_place_is_refused() {
        assert!(SignedContent::parse("{url}{body}").is_err());
        assert!(SignedContent::parse("{body").is_err());
    }
}
