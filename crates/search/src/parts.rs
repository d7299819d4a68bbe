//! The parts of a body at JSON pointers, found in one pass over it.

use std::{borrow::Cow, cmp::Ordering, fmt};

use hookmitt_event::{HeaderLines, Request};
use serde::de::{Deserialize as _, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Compared, Number, Pattern, Pointer};

/// A part of a body.
#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    Number(Number),
    /// `true`, `false` or `null`.
    Word(&'static str),
    /// An object or a list.
    Whole,
    /// The field of a form, which may be meant as a text or as a number.
    Field(String),
}

impl Part {
    pub(crate) fn compares(&self, compared: &Compared) -> bool {
        let order = |bound: &Number| self.number().map(|number| number.compare(bound));
        let equals = |equal: bool| equal.then_some(Ordering::Equal);
        match compared {
            Compared::Like(pattern) => self.is_like(pattern),
            Compared::Above(bound, equal) => {
                order(bound).is_some_and(|order| order.is_gt() || equals(*equal) == Some(order))
            }
            Compared::Below(bound, equal) => {
                order(bound).is_some_and(|order| order.is_lt() || equals(*equal) == Some(order))
            }
        }
    }

    /// Whether the part's text matches a pattern. A number also matches another way to write it.
    fn is_like(&self, pattern: &Pattern) -> bool {
        match self {
            Self::Text(text) | Self::Field(text) => pattern.matches(text),
            Self::Word(word) => pattern.matches(word),
            Self::Whole => pattern.is_anything(),
            Self::Number(number) => {
                let wanted = pattern.exact().and_then(Number::new);
                wanted
                    .map_or_else(|| pattern.matches(number.as_str()), |wanted| wanted.compare(number).is_eq())
            }
        }
    }

    fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(number.clone()),
            Self::Field(text) => Number::new(text),
            _ => None,
        }
    }
}

/// Returns the parts of a request's body at these pointers, each with the number of its pointer. There are several for
/// a pointer if a name is repeated. A form has its fields at the top, and what is in a field if that is JSON.
pub(crate) fn parts(request: &Request, pointers: &[&Pointer]) -> Vec<(usize, Part)> {
    let paths: Vec<_> = pointers.iter().map(|pointer| names(&pointer.0)).collect();
    let paths: Vec<_> = paths.iter().map(Vec::as_slice).enumerate().collect();
    let mut found =
        std::str::from_utf8(&request.body).map_or_else(|_| Vec::new(), |body| of_json(body, &paths));
    if is_form(&request.headers) {
        for (field, value) in url::form_urlencoded::parse(&request.body) {
            let (whole, inside): (Vec<_>, Vec<_>) =
                below(&paths, &field).into_iter().partition(|(_, rest)| rest.is_empty());
            found.extend(whole.into_iter().map(|(at, _)| (at, Part::Field(value.to_string()))));
            found.extend(of_json(&value, &inside));
        }
    }
    found
}

/// Returns the names in a pointer, unescaped.
fn names(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect()
}

fn is_form(headers: &HeaderLines) -> bool {
    const KIND: &[u8] = b"application/x-www-form-urlencoded";
    let kind = headers.get("content-type").and_then(|value| value.get(..KIND.len()));
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(KIND))
}

/// What is left of a pointer below some place, with the pointer's number.
type Path<'p> = (usize, &'p [String]);

/// Returns the paths that go on below a name.
fn below<'p>(paths: &[Path<'p>], name: &str) -> Vec<Path<'p>> {
    let below = |(at, path): &Path<'p>| match *path {
        [first, rest @ ..] if first == name => Some((*at, rest)),
        _ => None,
    };
    paths.iter().filter_map(below).collect()
}

/// Returns the parts of a JSON text; none if it isn't JSON.
fn of_json(text: &str, paths: &[Path<'_>]) -> Vec<(usize, Part)> {
    let mut found = Vec::new();
    if paths.is_empty() {
        return found;
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Seek { paths, found: &mut found }.deserialize(&mut reader).and_then(|()| reader.end());
    if read.is_err() {
        found.clear();
    }
    found
}

/// Looks for the ends of paths in a JSON value, and passes over all that is beside them.
struct Seek<'p, 'f> {
    paths: &'f [Path<'p>],
    found: &'f mut Vec<(usize, Part)>,
}

impl<'de> DeserializeSeed<'de> for Seek<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        let (ends, inside): (Vec<_>, Vec<_>) = self.paths.iter().partition(|(_, path)| path.is_empty());
        if ends.is_empty() {
            return input.deserialize_any(self);
        }
        let text = <&RawValue>::deserialize(input)?.get();
        self.found.extend(ends.into_iter().map(|(at, _)| (at, part(text))));
        self.found.extend(of_json(text, &inside));
        Ok(())
    }
}

/// A name in an object.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for Seek<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            match below(self.paths, &name).as_slice() {
                [] => map.next_value::<IgnoredAny>().map(drop)?,
                paths => map.next_value_seed(Seek { paths, found: self.found })?,
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let last = self.paths.iter().filter_map(|(_, path)| path.first()?.parse::<usize>().ok()).max();
        for place in 0_usize.. {
            let paths = if Some(place) <= last { below(self.paths, &place.to_string()) } else { Vec::new() };
            let more = match paths.as_slice() {
                [] => list.next_element::<IgnoredAny>()?.map(drop),
                paths => list.next_element_seed(Seek { paths, found: self.found })?,
            };
            if more.is_none() {
                break;
            }
        }
        Ok(())
    }

    // Paths go on here, but there is nothing below.
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Reads a value where a path ends. `text` is valid JSON without blanks around it.
fn part(text: &str) -> Part {
    match text.as_bytes().first() {
        Some(b'"') => Part::Text(serde_json::from_str(text).unwrap_or_else(|_| text.to_owned())),
        Some(b'{' | b'[') => Part::Whole,
        Some(b't') => Part::Word("true"),
        Some(b'f') => Part::Word("false"),
        Some(b'n') => Part::Word("null"),
        _ => Number::new(text).map_or_else(|| Part::Text(text.to_owned()), Part::Number),
    }
}
