//! Templates of signed content, with placeholders for parts of the request.

use std::borrow::Cow;

use serde::Deserialize;

use crate::{
    form,
    place::{Place, PlaceError},
    request_view::RequestView,
};

/// The parts of a request that a template refers to.
#[derive(Debug, Clone)]
pub(crate) struct Parts<'a> {
    pub(crate) view: RequestView<'a>,
    pub(crate) id: Cow<'a, [u8]>,
    pub(crate) timestamp: Cow<'a, [u8]>,
}

impl Parts<'_> {
    /// Keeps the id and timestamp, and takes the rest from another request.
    pub(crate) fn seen_as<'v>(&'v self, view: RequestView<'v>) -> Parts<'v> {
        Parts { view, id: Cow::Borrowed(&self.id), timestamp: Cow::Borrowed(&self.timestamp) }
    }
}

/// A template of signed content, such as `{timestamp}.{body}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct SignedContent(Vec<Piece>);

/// A literal or a placeholder in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Id,
    Timestamp,
    Body,
    Url,
    PathAndQuery,
    Secret,
    /// The CRC-32 of the body, in decimal.
    Crc32,
    /// The CRC-32 of the body in hex. No scheme uses it, but some senders write it by mistake.
    HexCrc32,
    /// The decoded field `payload` of a form or query, else the body.
    Payload,
    /// The sorted fields of a form, each name followed by its value (Twilio).
    SortedForm,
    At(Place),
}

/// A template with an unknown placeholder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown placeholder {0}: use {{body}}, {{timestamp}}, {{id}}, {{url}}, {{method}}, {{path_query}}, \
     {{header:Name}} or a JSON pointer such as {{/data/id}}"
)]
pub struct ContentError(pub(crate) String);

impl SignedContent {
    /// Parses a template. `\n` stands for a line feed.
    pub(crate) fn parse(text: &str) -> Result<Self, ContentError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        let literal = |text: &str| Piece::Text(text.replace("\\n", "\n"));
        while let Some(open) = rest.find('{') {
            let Some(length) = rest[open..].find('}') else {
                return Err(ContentError(rest[open..].to_owned()));
            };
            if open > 0 {
                pieces.push(literal(&rest[..open]));
            }
            pieces.push(Piece::parse(&rest[open + 1..open + length])?);
            rest = &rest[open + length + 1..];
        }
        if !rest.is_empty() {
            pieces.push(literal(rest));
        }
        Ok(Self(pieces))
    }

    /// Passes the signed bytes to `feed`, piece by piece, without copying the whole body.
    pub(crate) fn feed(&self, parts: &Parts<'_>, secret: &[u8], mut feed: impl FnMut(&[u8])) {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => feed(text.as_bytes()),
                Piece::Id => feed(&parts.id),
                Piece::Timestamp => feed(&parts.timestamp),
                Piece::Body => feed(parts.view.body),
                Piece::Secret => feed(secret),
                other => feed(&other.read(&parts.view)),
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

    /// Whether the body, or something derived from it, is signed.
    pub(crate) fn has_body(&self) -> bool {
        self.0
            .iter()
            .any(|piece| matches!(piece, Piece::Body | Piece::Crc32 | Piece::Payload | Piece::SortedForm))
    }

    /// Whether the exact body is signed.
    pub(crate) fn has_whole_body(&self) -> bool {
        self.0.contains(&Piece::Body)
    }

    /// Whether the fields of a form are signed.
    pub(crate) fn has_sorted_form(&self) -> bool {
        self.0.contains(&Piece::SortedForm)
    }

    /// Whether the decoded payload of a form is signed.
    #[cfg(test)]
    pub(crate) fn has_payload(&self) -> bool {
        self.0.contains(&Piece::Payload)
    }

    /// Whether a checksum of the body is signed.
    pub(crate) fn has_checksum(&self) -> bool {
        self.0.contains(&Piece::Crc32)
    }

    /// Whether the whole URL is signed.
    pub(crate) fn has_url(&self) -> bool {
        self.0.contains(&Piece::Url)
    }

    /// Whether the path and query are signed.
    pub(crate) fn has_path(&self) -> bool {
        self.0.contains(&Piece::PathAndQuery)
    }

    /// Whether the method is signed.
    pub(crate) fn has_method(&self) -> bool {
        self.0.contains(&Piece::At(Place::Method))
    }

    /// Returns the pieces in the order in which they are signed.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// Returns the template with the checksum in hex; `None` if it has no checksum.
    pub(crate) fn with_hex_checksum(&self) -> Option<Self> {
        let changed = |piece: &Piece| if *piece == Piece::Crc32 { Piece::HexCrc32 } else { piece.clone() };
        self.0.contains(&Piece::Crc32).then(|| Self(self.0.iter().map(changed).collect()))
    }

    /// Whether the secret itself is part of the hashed content.
    pub(crate) fn has_secret(&self) -> bool {
        self.0.contains(&Piece::Secret)
    }

    /// Iterates over the placeholders that name a place in the request or a setting.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::At(place) => Some(place),
            _ => None,
        })
    }
}

impl Piece {
    fn parse(name: &str) -> Result<Self, ContentError> {
        Ok(match name {
            "body" => Self::Body,
            "timestamp" => Self::Timestamp,
            "id" => Self::Id,
            "url" => Self::Url,
            "path_query" => Self::PathAndQuery,
            "secret" => Self::Secret,
            "crc32" => Self::Crc32,
            "payload" => Self::Payload,
            "sorted_form" => Self::SortedForm,
            other => Self::At(
                Place::try_from(other.to_owned())
                    .map_err(|PlaceError(place)| ContentError(format!("{{{place}}}")))?,
            ),
        })
    }

    fn read<'a>(&self, view: &RequestView<'a>) -> Cow<'a, [u8]> {
        match self {
            Self::Url => Cow::Borrowed(view.url.unwrap_or_default().as_bytes()),
            Self::PathAndQuery => Cow::Borrowed(view.path_and_query().as_bytes()),
            Self::HexCrc32 => Cow::Owned(format!("{:08x}", crc32fast::hash(view.body)).into_bytes()),
            Self::Crc32 => Cow::Owned(crc32fast::hash(view.body).to_string().into_bytes()),
            Self::Payload => payload(view),
            Self::SortedForm if form::is_form(view.headers) => Cow::Owned(form::sorted(view.body)),
            Self::SortedForm => Cow::Borrowed(&[]),
            Self::At(place) => place.read(view).unwrap_or_default(),
            Self::Text(_) | Self::Id | Self::Timestamp | Self::Body | Self::Secret => Cow::Borrowed(&[]),
        }
    }
}

/// Returns the decoded `payload` field, because Gitea signs the JSON inside a form, or inside the query of a GET. Falls
/// back to the body.
fn payload<'a>(view: &RequestView<'a>) -> Cow<'a, [u8]> {
    const FIELD: &str = "payload";
    let in_form = || form::values(view.body, FIELD).next().filter(|_| form::is_form(view.headers));
    let in_query = || {
        let query = view.query().filter(|_| view.method == "GET")?;
        form::values(query.as_bytes(), FIELD).next()
    };
    in_form().or_else(in_query).unwrap_or(Cow::Borrowed(view.body))
}

impl TryFrom<String> for SignedContent {
    type Error = ContentError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_event::HeaderLines;

    use super::*;

    fn fed(template: &str, content_type: &str, body: &str) -> String {
        let headers = HeaderLines::from_pairs([("Content-Type", content_type), ("X-A", "b")]).unwrap();
        let url = Some("https://example.com/in?x=1");
        let view = RequestView {
            method: "POST",
            url,
            query: None,
            headers: &headers,
            body: body.as_bytes(),
            params: &[],
        };
        let parts = Parts { view, id: b"id".into(), timestamp: b"12".into() };
        let mut out = Vec::new();
        let content = SignedContent::parse(template).unwrap();
        content.feed(&parts, b"key", |bytes| out.extend_from_slice(bytes));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn places_are_filled_in_order() {
        let table = [
            ("{body}", "{}"),
            ("{id}.{timestamp}.{body}", "id.12.{}"),
            ("v0:{timestamp}:{body}", "v0:12:{}"),
            ("{method}{url}|{path_query}|{secret}", "POSThttps://example.com/in?x=1|/in?x=1|key"),
            ("{header:x-a}\\n{query:x}", "b\n1"),
            ("{crc32}", "2745614147"),
            ("{payload}{sorted_form}", "{}"),
        ];
        for (template, expected) in table {
            assert_eq!(fed(template, "application/json", "{}"), expected, "{template}");
        }
    }

    #[test]
    fn forms_are_taken_apart() {
        let form = "application/x-www-form-urlencoded; charset=utf-8";
        assert_eq!(fed("{sorted_form}", form, "B=2&A=x+y&B=1&B=2&"), "Ax yB1B2");
        assert_eq!(fed("{payload}", form, "payload=%7B%7D"), "{}");
    }

    #[test]
    fn an_unknown_place_is_refused() {
        assert!(SignedContent::parse("{uri}{body}").is_err());
        assert!(SignedContent::parse("{body").is_err());
    }
}
