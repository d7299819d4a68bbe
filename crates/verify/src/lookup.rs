//! Reads the values at many places of a request in one pass over its headers and body.

use hookmitt_event::{HeaderLines, Request};

use crate::{
    form,
    place::PlaceError,
    pluck::{Found, Tree},
    xml,
};

/// Larger bodies are not read; headers, query and method still are. In bytes.
const LARGEST_BODY: usize = 4 << 20;

/// The places to read, each with a slot for its value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lookup {
    places: Vec<String>,
    headers: Vec<(String, usize)>,
    forms: Vec<(String, usize)>,
    queries: Vec<(String, usize)>,
    elements: Vec<(String, usize)>,
    method: Option<usize>,
    tree: Tree,
    /// The field of a form that carries JSON.
    form_json: Option<String>,
}

impl Lookup {
    /// Creates a lookup without places. In a form body, JSON is read from the field `form_json`, if one is given.
    pub(crate) fn new(form_json: Option<String>) -> Self {
        Self { form_json, ..Self::default() }
    }

    /// Returns the slot of a place, and adds the place if it is new.
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

    /// Reads the values at all places of this request.
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
