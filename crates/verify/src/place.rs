//! Places in a request, and conditions on their values: the small language of the catalogue.

use std::borrow::Cow;

use serde::Deserialize;

use crate::{form, pluck, request_view::RequestView};

/// A place in a request: `header:Name`, `header:Name-*` (any ending), `/json/pointer`, `form:field`, `query:name`,
/// `field:t` (of the signature header), `param:name` (the source's configuration), `method`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Place {
    /// The header of that name.
    Header(String),
    /// Every header whose name begins with this text.
    HeadersLike(String),
    /// A value in a JSON body.
    Json(pluck::Tree, String),
    /// A field of a form-encoded body.
    Form(String),
    /// A parameter of the query.
    Query(String),
    /// A field of the signature header.
    Field(String),
    /// A setting in the source's configuration.
    Param(String),
    /// The request's method.
    Method,
}

/// A text that names no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} isn't a place: use a JSON pointer such as /data/id, header:Name, form:field or query:name")]
pub struct PlaceError(pub(crate) String);

impl TryFrom<String> for Place {
    type Error = PlaceError;

    fn try_from(text: String) -> Result<Self, PlaceError> {
        if text == "method" {
            return Ok(Self::Method);
        }
        if text.starts_with('/') {
            let mut tree = pluck::Tree::default();
            return if tree.add(&text, 0) { Ok(Self::Json(tree, text)) } else { Err(PlaceError(text)) };
        }
        let place = text.split_once(':').filter(|(_, name)| !name.is_empty()).and_then(|(kind, name)| {
            let name = name.to_owned();
            Some(match kind {
                "header" => match name.strip_suffix('*') {
                    Some(start) => Self::HeadersLike(start.to_owned()),
                    None => Self::Header(name),
                },
                "form" => Self::Form(name),
                "query" => Self::Query(name),
                "field" => Self::Field(name),
                "param" => Self::Param(name),
                _ => return None,
            })
        });
        place.ok_or(PlaceError(text))
    }
}

impl Place {
    /// Returns the first value at the place that is not empty. A field of the signature header is always `None` here:
    /// the code that parses that header reads it.
    pub(crate) fn read<'a>(&self, view: &RequestView<'a>) -> Option<Cow<'a, [u8]>> {
        self.read_all(view).into_iter().next()
    }

    /// Returns all values at the place that are not empty.
    pub(crate) fn read_all<'a>(&self, view: &RequestView<'a>) -> Vec<Cow<'a, [u8]>> {
        match self {
            Self::Header(name) => lines(view, |known| known.eq_ignore_ascii_case(name)),
            Self::HeadersLike(start) => lines(view, |known| {
                known.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
            }),
            Self::Json(tree, _) => {
                let mut slots = [None];
                tree.pluck(view.body, &mut slots);
                let [found] = slots;
                let whole = found.filter(|found| !found.cut && !found.text.is_empty());
                whole.map(|found| Cow::Owned(found.text.into_bytes())).into_iter().collect()
            }
            Self::Form(name) => fields(view.body, name),
            Self::Query(name) => fields(view.query().unwrap_or_default().as_bytes(), name),
            Self::Param(name) => {
                view.param(name).map(|value| Cow::Borrowed(value.as_bytes())).into_iter().collect()
            }
            Self::Method => vec![Cow::Borrowed(view.method.as_bytes())],
            Self::Field(_) => Vec::new(),
        }
    }

    /// Returns the name of the header, or the start of its name, if the place is one.
    pub(crate) fn header(&self) -> Option<&str> {
        match self {
            Self::Header(name) | Self::HeadersLike(name) => Some(name),
            _ => None,
        }
    }

    /// Describes the place in words, such as `X-Signature` or `/signature/token in the body`.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Header(name) => name.clone(),
            Self::HeadersLike(start) => format!("{start}1"),
            Self::Json(_, pointer) => format!("{pointer} in the body"),
            Self::Form(name) => format!("the form field {name}"),
            Self::Query(name) => format!("the query parameter {name}"),
            Self::Field(name) => format!("the {name}= element"),
            Self::Param(name) => format!("the setting {name}"),
            Self::Method => "the method".to_owned(),
        }
    }
}

fn lines<'a>(view: &RequestView<'a>, named: impl Fn(&str) -> bool) -> Vec<Cow<'a, [u8]>> {
    let found = view.headers.iter().filter(|line| !line.value.is_empty() && named(line.name));
    found.map(|line| Cow::Borrowed(line.value)).collect()
}

fn fields<'a>(text: &'a [u8], name: &str) -> Vec<Cow<'a, [u8]>> {
    form::values(text, name).filter(|value| !value.is_empty()).collect()
}

/// A condition on the value at a place: `PLACE` (there is one), `PLACE=text`, `PLACE=start*`, or the opposite with `!`
/// in front. Letter case does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Condition {
    pub(crate) place: Place,
    pub(crate) test: Test,
    /// Whether the test has to fail.
    pub(crate) not: bool,
}

/// The test of a place's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Test {
    Present,
    Is(String),
    Starts(String),
}

impl TryFrom<String> for Condition {
    type Error = PlaceError;

    fn try_from(text: String) -> Result<Self, PlaceError> {
        let (not, rest) = text.strip_prefix('!').map_or((false, text.as_str()), |rest| (true, rest));
        let (place, test) = match rest.split_once('=') {
            None => (rest, Test::Present),
            Some((place, value)) => match value.strip_suffix('*') {
                Some(start) => (place, Test::Starts(start.to_owned())),
                None => (place, Test::Is(value.to_owned())),
            },
        };
        Ok(Self { place: place.to_owned().try_into()?, test, not })
    }
}

impl Condition {
    /// Whether the request meets the condition.
    pub(crate) fn holds(&self, view: &RequestView<'_>) -> bool {
        self.passes(self.place.read(view).as_deref())
    }

    /// Whether the condition needs a header that is missing.
    pub(crate) fn lacks_header(&self, view: &RequestView<'_>) -> bool {
        !self.not && self.place.header().is_some() && self.place.read(view).is_none()
    }

    /// Whether the condition holds, given the value at its place.
    pub(crate) fn passes(&self, value: Option<&[u8]>) -> bool {
        self.test.passes(value) != self.not
    }
}

impl Test {
    /// Whether a value passes the test. An absent value never does.
    pub(crate) fn passes(&self, value: Option<&[u8]>) -> bool {
        match (self, value) {
            (_, None) => false,
            (Self::Present, Some(_)) => true,
            (Self::Is(text), Some(value)) => value.eq_ignore_ascii_case(text.as_bytes()),
            (Self::Starts(start), Some(value)) => {
                value.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_event::HeaderLines;

    use super::*;

    #[test]
    fn places_and_conditions_are_read() {
        let headers =
            HeaderLines::from_pairs([("X-Kind", "ab"), ("X-Sig-1", "p"), ("X-Sig-2", "q")]).unwrap();
        let params = [("topic".to_owned(), "t".to_owned())];
        let view = RequestView {
            method: "POST",
            url: Some("https://example.com/in?x=1&y=a%20b"),
            query: None,
            headers: &headers,
            body: br#"{"a":{"b":[{"c":7}]}}"#,
            params: &params,
        };
        let read = |place: &str| {
            let place = Place::try_from(place.to_owned()).unwrap();
            place
                .read_all(&view)
                .iter()
                .map(|value| String::from_utf8_lossy(value).into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(read("header:x-kind"), ["ab"]);
        assert_eq!(read("header:X-Sig-*"), ["p", "q"]);
        assert_eq!(read("/a/b/*/c"), ["7"]);
        assert_eq!(read("query:y"), ["a b"]);
        assert_eq!(read("param:topic"), ["t"]);
        assert_eq!(read("form:a"), Vec::<String>::new());
        for (text, expected) in [
            ("header:X-Kind", true),
            ("header:X-Kind=AB", true),
            ("header:X-Kind=a*", true),
            ("header:X-Kind=b", false),
            ("!header:X-Kind", false),
            ("!header:X-Kind=a*", false),
            ("!header:X-Kind=b", true),
            ("!/z=1", true),
            ("!/z", true),
            ("method=POST", true),
        ] {
            assert_eq!(Condition::try_from(text.to_owned()).unwrap().holds(&view), expected, "{text}");
        }
        assert!(Place::try_from("nowhere".to_owned()).is_err());
    }
}
