//! Where a provider's events say what they are: places in the request, and texts made of them.

use std::borrow::Cow;

use hookmitt_event::{HeaderLines, Request};
use serde::Deserialize;

use crate::{
    form,
    money::in_words,
    place::PlaceError,
    pluck::{Found, Tree},
    xml,
};

/// The catalogue's lists of texts, the first of each whose places are all there wins.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FactPlaces {
    pub(crate) id: Vec<String>,
    #[serde(rename = "type")]
    pub(crate) kind: Vec<String>,
    pub(crate) time: Vec<String>,
    pub(crate) object: Vec<String>,
    pub(crate) title: Vec<String>,
    pub(crate) form_json: Option<String>,
}

/// Larger bodies are not read for facts: their headers have to do.
const LARGEST_BODY: usize = 4 << 20;

/// The places that one provider's facts need, so that one pass over headers and body finds all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    places: Vec<String>,
    headers: Vec<(String, usize)>,
    forms: Vec<(String, usize)>,
    queries: Vec<(String, usize)>,
    elements: Vec<(String, usize)>,
    method: Option<usize>,
    tree: Tree,
    form_json: Option<String>,
    pub(crate) id: Vec<Text>,
    pub(crate) kind: Vec<Text>,
    pub(crate) time: Vec<Text>,
    pub(crate) object: Vec<Text>,
    pub(crate) title: Vec<Text>,
}

/// A text with places, such as `{/repository/full_name}#{/issue/number}`.
#[derive(Debug, Clone)]
pub(crate) struct Text(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Literal(String),
    Place {
        slot: usize,
        change: Change,
    },
    /// Only if it is that text; it writes nothing.
    Only {
        slot: usize,
        is: String,
    },
}

#[derive(Debug, Clone, Copy)]
enum Change {
    None,
    FirstLine,
    /// What comes before the first one of a letter.
    Until(char),
    /// What comes after the last one of a letter.
    After(char),
    /// Without `refs/heads/` or `refs/tags/`.
    Branch,
    /// Only if it is there; it writes nothing.
    There,
    Money {
        currency: usize,
    },
}

impl Plan {
    pub(crate) fn new(facts: &FactPlaces) -> Result<Self, PlaceError> {
        let mut plan = Self { form_json: facts.form_json.clone(), ..Self::default() };
        plan.id = plan.texts(&facts.id)?;
        plan.kind = plan.texts(&facts.kind)?;
        plan.time = plan.texts(&facts.time)?;
        plan.object = plan.texts(&facts.object)?;
        plan.title = plan.texts(&facts.title)?;
        Ok(plan)
    }

    fn texts(&mut self, templates: &[String]) -> Result<Vec<Text>, PlaceError> {
        templates.iter().map(|template| self.text(template)).collect()
    }

    fn text(&mut self, template: &str) -> Result<Text, PlaceError> {
        let mut pieces = Vec::new();
        let mut rest = template;
        while let Some((literal, tail)) = rest.split_once('{') {
            let (place, tail) = tail.split_once('}').ok_or_else(|| PlaceError(template.to_owned()))?;
            if !literal.is_empty() {
                pieces.push(Piece::Literal(literal.to_owned()));
            }
            pieces.push(self.piece(place)?);
            rest = tail;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Literal(rest.to_owned()));
        }
        Ok(Text(pieces))
    }

    fn piece(&mut self, place: &str) -> Result<Piece, PlaceError> {
        let (place, change) = place.split_once('|').unwrap_or((place, ""));
        let slot = self.slot(place)?;
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
                Some(("money", currency)) => Change::Money { currency: self.slot(currency)? },
                Some(("is", text)) => {
                    let slot = self.slot(place)?;
                    return Ok(Piece::Only { slot, is: text.to_owned() });
                }
                _ => return Err(PlaceError(other.to_owned())),
            },
        };
        Ok(Piece::Place { slot, change })
    }

    /// The slot of a place, a new one where it was not asked for before.
    pub(crate) fn slot(&mut self, place: &str) -> Result<usize, PlaceError> {
        if let Some(slot) = self.places.iter().position(|known| known == place) {
            return Ok(slot);
        }
        let slot = self.places.len();
        self.places.push(place.to_owned());
        match place.split_once(':') {
            Some(("header", name)) if !name.is_empty() => self.headers.push((name.to_owned(), slot)),
            Some(("form", name)) => self.forms.push((name.to_owned(), slot)),
            Some(("query", name)) => self.queries.push((name.to_owned(), slot)),
            Some(("xml", name)) => self.elements.push((name.to_owned(), slot)),
            None if place == "method" => self.method = Some(slot),
            Some(("other_key", name)) => self.tree.add_other_key(name, slot),
            _ if self.tree.add(place, slot) => {}
            _ => return Err(PlaceError(place.to_owned())),
        }
        Ok(slot)
    }

    /// What stands at every place of this request.
    pub(crate) fn gather(&self, request: &Request) -> Vec<Option<Found>> {
        let mut slots = vec![None; self.places.len()];
        self.gather_headers(&request.headers, &mut slots);
        self.gather_target(request, &mut slots);
        let body = &request.body[..];
        if body.len() > LARGEST_BODY {
            return slots;
        }
        if form::is_form(&request.headers) && !matches!(body.trim_ascii_start().first(), Some(b'{' | b'[')) {
            self.gather_form(body, &mut slots);
        } else {
            self.tree.pluck(body, &mut slots);
        }
        self.gather_elements(body, &mut slots);
        slots
    }

    fn gather_target(&self, request: &Request, slots: &mut [Option<Found>]) {
        if let Some(slot) = self.method {
            slots[slot] = Some(Found::new(&request.method));
        }
        let query = request.query.as_deref().unwrap_or_default().as_bytes();
        for (name, slot) in &self.queries {
            let value = form::values(query, name).find(|value| !value.is_empty());
            slots[*slot] = value.and_then(|value| std::str::from_utf8(&value).ok().map(Found::new));
        }
    }

    fn gather_elements(&self, body: &[u8], slots: &mut [Option<Found>]) {
        if self.elements.is_empty() {
            return;
        }
        let Some(text) = xml::document(body) else { return };
        for (name, slot) in &self.elements {
            slots[*slot] = xml::text_of(&text, name).map(|text| Found::new(&text));
        }
    }

    fn gather_headers(&self, headers: &HeaderLines, slots: &mut [Option<Found>]) {
        if self.headers.is_empty() {
            return;
        }
        for line in headers.iter() {
            let wanted = self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(line.name));
            for (_, slot) in wanted {
                let text = std::str::from_utf8(line.value).ok().filter(|text| !text.is_empty());
                if slots[*slot].is_none() {
                    slots[*slot] = text.map(Found::new);
                }
            }
        }
    }

    fn gather_form(&self, body: &[u8], slots: &mut [Option<Found>]) {
        for (name, value) in form::pairs(body) {
            if self.form_json.as_ref().is_some_and(|field| name == field.as_bytes()) {
                self.tree.pluck(&form::decode(value), slots);
            }
            for (_, slot) in self.forms.iter().filter(|(field, _)| name == field.as_bytes()) {
                let decoded = form::decode(value);
                let text = std::str::from_utf8(&decoded).ok().filter(|text| !text.is_empty());
                slots[*slot] = text.map(Found::new);
            }
        }
    }
}

impl Text {
    /// The text with its places filled; `None` where one is missing.
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
    use super::*;

    fn read(template: &str, body: &'static str) -> Option<String> {
        let facts = FactPlaces { title: vec![template.to_owned()], ..FactPlaces::default() };
        let plan = Plan::new(&facts).unwrap();
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
            let facts = FactPlaces { id: vec![place.to_owned()], ..FactPlaces::default() };
            assert!(Plan::new(&facts).is_err(), "{place}");
        }
    }
}
