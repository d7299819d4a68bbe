//! Templates with placeholders, such as `{/repository/full_name}#{/issue/number}`, and how they are filled from a
//! request.

use std::borrow::Cow;

use crate::{lookup::Lookup, place::PlaceError, plain, pluck::Found};

/// A template with placeholders.
#[derive(Debug, Clone)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Literal(String),
    Place {
        slot: usize,
        change: Change,
    },
    /// A condition: the template applies only if the value is exactly `is`. It writes nothing.
    Only {
        slot: usize,
        is: String,
    },
}

#[derive(Debug, Clone, Copy)]
enum Change {
    None,
    /// The part before the first occurrence of a character.
    Until(char),
    /// The part after the last occurrence of a character.
    After(char),
    /// The value without `refs/heads/` or `refs/tags/`.
    Branch,
    /// The plain words of a chat message with markup.
    Chat,
    /// A condition: the template applies only if there is a value. It writes nothing.
    There,
}

impl Template {
    /// Parses a template. The places that it reads are added to `lookup`.
    pub(crate) fn parse(text: &str, lookup: &mut Lookup) -> Result<Self, PlaceError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((literal, tail)) = rest.split_once('{') {
            let (place, tail) = tail.split_once('}').ok_or_else(|| PlaceError(text.to_owned()))?;
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            pieces.push(Piece::parse(place, lookup)?);
            rest = tail;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    /// Parses every template of a list.
    pub(crate) fn parse_all(texts: &[String], lookup: &mut Lookup) -> Result<Vec<Self>, PlaceError> {
        texts.iter().map(|text| Self::parse(text, lookup)).collect()
    }

    /// Returns the template with its placeholders filled in; `None` if a value is missing or a condition fails.
    pub(crate) fn fill(&self, slots: &[Option<Found>]) -> Option<Found> {
        self.fill_with(slots, |text| Some(text.into()))
    }

    /// Like [`Template::fill`], but writes what `write` makes of each value; `None` if it makes nothing of one.
    pub(crate) fn fill_with(
        &self,
        slots: &[Option<Found>],
        write: impl Fn(&str) -> Option<Cow<'_, str>>,
    ) -> Option<Found> {
        let mut out = Found { text: String::new(), cut: false };
        for piece in &self.0 {
            let (slot, change) = match piece {
                Piece::Literal(text) => {
                    out.text.push_str(text);
                    continue;
                }
                Piece::Place { slot, change } => (*slot, *change),
                Piece::Only { slot, is } => {
                    slots.get(*slot)?.as_ref().filter(|found| found.text == *is)?;
                    continue;
                }
            };
            let found = slots.get(slot)?.as_ref().filter(|found| !found.text.is_empty())?;
            if !matches!(change, Change::There) {
                out.text.push_str(&write(&change.of(&found.text))?);
                out.cut |= found.cut;
            }
        }
        Some(out)
    }
}

impl Piece {
    fn parse(place: &str, lookup: &mut Lookup) -> Result<Self, PlaceError> {
        let (place, change) = place.split_once('|').unwrap_or((place, ""));
        let slot = lookup.slot(place)?;
        let change = match change {
            "" => Change::None,
            "until_slash" => Change::Until('/'),
            "until_dot" => Change::Until('.'),
            "after_slash" => Change::After('/'),
            "after_colon" => Change::After(':'),
            "branch" => Change::Branch,
            "chat" => Change::Chat,
            "there" => Change::There,
            other => {
                let is = other.strip_prefix("is:").ok_or_else(|| PlaceError(other.to_owned()))?;
                return Ok(Self::Only { slot, is: is.to_owned() });
            }
        };
        Ok(Self::Place { slot, change })
    }
}

impl Change {
    fn of(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::None => text.into(),
            Self::Until(letter) => text.split(letter).next().unwrap_or_default().into(),
            Self::After(letter) => text.rsplit(letter).next().unwrap_or_default().into(),
            Self::Branch => {
                let short = text.strip_prefix("refs/heads/").or_else(|| text.strip_prefix("refs/tags/"));
                short.unwrap_or(text).into()
            }
            Self::Chat => plain::chat(text).into(),
            Self::There => "".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_event::{HeaderLines, Request};

    use super::*;

    fn read(template: &str, body: &'static str) -> Option<String> {
        let mut lookup = Lookup::default();
        let template = Template::parse(template, &mut lookup).unwrap();
        let headers = HeaderLines::from_pairs([("X-Topic", "orders/paid")]).unwrap();
        let request = Request {
            method: "POST".to_owned(),
            path: String::new(),
            query: None,
            version: hookmitt_event::HttpVersion::Http11,
            headers,
            body: body.into(),
        };
        template.fill(&lookup.gather(&request)).map(|found| found.text)
    }

    #[test]
    fn texts_are_filled_from_headers_and_body() {
        let table = [
            ("{header:x-topic}", "", Some("orders/paid")),
            ("{header:X-Topic|until_slash}/{/id}", r#"{"id":7}"#, Some("orders/7")),
            ("{/r|branch} {/r|after_slash}", r#"{"r":"refs/heads/a/b"}"#, Some("a/b b")),
            ("{/a|there}x{/b|is:2}", r#"{"a":"1","b":2}"#, Some("x")),
            ("{/a|there}x{/b|is:3}", r#"{"a":"1","b":2}"#, None),
            ("{/t|chat}!", r#"{"t":"hi <@U0ZOE|zoe>"}"#, Some("hi @zoe!")),
            ("{/a}{/missing}", r#"{"a":"x"}"#, None),
            ("{/a}", r#"{"a":""}"#, None),
        ];
        for (template, body, expected) in table {
            assert_eq!(read(template, body).as_deref(), expected, "{template}");
        }
    }

    #[test]
    fn a_text_without_a_place_is_refused() {
        for place in ["{nowhere}", "{header:}", "{/a|shout}", "{/a"] {
            assert!(Template::parse(place, &mut Lookup::default()).is_err(), "{place}");
        }
    }
}
