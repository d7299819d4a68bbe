//! Templates for a provider's event facts, and how they are filled from a request.

use std::borrow::Cow;

use hookmitt_event::Request;
use serde::Deserialize;

use crate::{lookup::Lookup, money::in_words, place::PlaceError, pluck::Found};

/// The catalogue's lists of templates. In each list, the first template whose places all have a value wins.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FactTemplates {
    pub(crate) id: Vec<String>,
    #[serde(rename = "type")]
    pub(crate) kind: Vec<String>,
    pub(crate) time: Vec<String>,
    pub(crate) object: Vec<String>,
    pub(crate) title: Vec<String>,
    pub(crate) form_json: Option<String>,
}

/// One provider's parsed templates, with the places that they read.
#[derive(Debug, Clone, Default)]
pub(crate) struct FactPlan {
    lookup: Lookup,
    pub(crate) id: Vec<Template>,
    pub(crate) kind: Vec<Template>,
    pub(crate) time: Vec<Template>,
    pub(crate) object: Vec<Template>,
    pub(crate) title: Vec<Template>,
}

/// A template with placeholders, such as `{/repository/full_name}#{/issue/number}`.
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
    FirstLine,
    /// The part before the first occurrence of a character.
    Until(char),
    /// The part after the last occurrence of a character.
    After(char),
    /// The value without `refs/heads/` or `refs/tags/`.
    Branch,
    /// A condition: the template applies only if there is a value. It writes nothing.
    There,
    Money {
        currency: usize,
    },
}

impl FactPlan {
    pub(crate) fn new(facts: &FactTemplates) -> Result<Self, PlaceError> {
        let mut plan = Self { lookup: Lookup::new(facts.form_json.clone()), ..Self::default() };
        plan.id = plan.templates(&facts.id)?;
        plan.kind = plan.templates(&facts.kind)?;
        plan.time = plan.templates(&facts.time)?;
        plan.object = plan.templates(&facts.object)?;
        plan.title = plan.templates(&facts.title)?;
        Ok(plan)
    }

    fn templates(&mut self, texts: &[String]) -> Result<Vec<Template>, PlaceError> {
        texts.iter().map(|text| self.template(text)).collect()
    }

    fn template(&mut self, text: &str) -> Result<Template, PlaceError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((literal, tail)) = rest.split_once('{') {
            let (place, tail) = tail.split_once('}').ok_or_else(|| PlaceError(text.to_owned()))?;
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            pieces.push(self.piece(place)?);
            rest = tail;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        Ok(Template(pieces))
    }

    fn piece(&mut self, place: &str) -> Result<Piece, PlaceError> {
        let (place, change) = place.split_once('|').unwrap_or((place, ""));
        let slot = self.lookup.slot(place)?;
        let change = match change {
            "" => Change::None,
            "first_line" => Change::FirstLine,
            "until_slash" => Change::Until('/'),
            "until_dot" => Change::Until('.'),
            "after_slash" => Change::After('/'),
            "after_colon" => Change::After(':'),
            "branch" => Change::Branch,
            "there" => Change::There,
            other => match other.split_once(':') {
                Some(("money", currency)) => Change::Money { currency: self.lookup.slot(currency)? },
                Some(("is", text)) => {
                    let slot = self.lookup.slot(place)?;
                    return Ok(Piece::Only { slot, is: text.to_owned() });
                }
                _ => return Err(PlaceError(other.to_owned())),
            },
        };
        Ok(Piece::Place { slot, change })
    }

    /// Reads the values at all places of this request.
    pub(crate) fn gather(&self, request: &Request) -> Vec<Option<Found>> {
        self.lookup.gather(request)
    }
}

impl Template {
    /// Returns the template with its placeholders filled in; `None` if a value is missing or a condition fails.
    pub(crate) fn fill(&self, slots: &[Option<Found>]) -> Option<Found> {
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
            out.text.push_str(&change.of(&found.text, slots)?);
            out.cut |= found.cut;
        }
        Some(out)
    }
}

impl Change {
    fn of<'t>(self, text: &'t str, slots: &[Option<Found>]) -> Option<Cow<'t, str>> {
        let changed = match self {
            Self::None => text.into(),
            Self::FirstLine => text.lines().next().unwrap_or_default().trim().into(),
            Self::Until(letter) => text.split(letter).next().unwrap_or_default().into(),
            Self::After(letter) => text.rsplit(letter).next().unwrap_or_default().into(),
            Self::Branch => {
                let short = text.strip_prefix("refs/heads/").or_else(|| text.strip_prefix("refs/tags/"));
                short.unwrap_or(text).into()
            }
            Self::There => "".into(),
            Self::Money { currency } => in_words(text, &slots.get(currency)?.as_ref()?.text)?.into(),
        };
        Some(changed)
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_event::HeaderLines;

    use super::*;

    fn read(template: &str, body: &'static str) -> Option<String> {
        let facts = FactTemplates { title: vec![template.to_owned()], ..FactTemplates::default() };
        let plan = FactPlan::new(&facts).unwrap();
        let headers = HeaderLines::from_pairs([("X-Topic", "orders/paid")]).unwrap();
        let request = Request {
            method: "POST".to_owned(),
            path: String::new(),
            query: None,
            version: hookmitt_event::HttpVersion::Http11,
            headers,
            body: body.into(),
        };
        plan.title[0].fill(&plan.gather(&request)).map(|found| found.text)
    }

    #[test]
    fn texts_are_filled_from_headers_and_body() {
        let table = [
            ("{header:x-topic}", "", Some("orders/paid")),
            ("{header:X-Topic|until_slash}/{/id}", r#"{"id":7}"#, Some("orders/7")),
            ("{/r|branch} {/r|after_slash}", r#"{"r":"refs/heads/a/b"}"#, Some("a/b b")),
            ("{/a|there}x{/b|is:2}", r#"{"a":"1","b":2}"#, Some("x")),
            ("{/a|there}x{/b|is:3}", r#"{"a":"1","b":2}"#, None),
            ("{/a}: {/b|first_line}", r#"{"a":"x","b":"one\ntwo"}"#, Some("x: one")),
            ("{/n|money:/c}", r#"{"n":1999,"c":"usd"}"#, Some("19.99 USD")),
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
            let facts = FactTemplates { id: vec![place.to_owned()], ..FactTemplates::default() };
            assert!(FactPlan::new(&facts).is_err(), "{place}");
        }
    }
}
