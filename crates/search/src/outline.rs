//! A search as the page shows it: cut into terms, with its first fault.

use std::ops::Range;

use hookmitt_event::Timestamp;
use serde::Serialize;

use crate::{Query, SearchError, Test, words::words};

/// A search as it was typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outline {
    /// The terms, in order. Together with the blanks between them they are the whole text.
    pub terms: Vec<TypedTerm>,
    /// The first fault, if the text is no query.
    pub fault: Option<SearchError>,
    /// The folded texts that are to be marked in what was found.
    pub marks: Vec<String>,
}

/// A term as it was typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TypedTerm {
    /// Where it stands in the text, in bytes.
    pub place: Range<usize>,
    /// Whether it begins with `-`.
    pub negated: bool,
    /// Its key, with its colon if it has one: `source:`, `body./id>`. `None` for a word without a key.
    pub key: Option<String>,
    /// What follows the key, as it was typed.
    pub value: String,
}

/// Takes a search apart. It does so with any text, also with one that is half typed.
pub fn outline(text: &str, now: Timestamp) -> Outline {
    let words = words(text).into_iter().take(Query::MOST);
    let terms = words.map(|word| TypedTerm {
        place: word.place,
        negated: word.negated,
        key: word.key.map(|key| key.typed),
        value: text[word.rest].to_owned(),
    });
    let (query, fault) = match Query::parse(text, now) {
        Ok(query) => (query, None),
        Err(fault) => (Query::default(), Some(fault)),
    };
    Outline { terms: terms.collect(), fault, marks: query.marks() }
}

impl Query {
    /// Returns the folded texts that are to be marked in an event that the query finds.
    pub fn marks(&self) -> Vec<String> {
        let tests = self.terms.iter().filter(|term| !term.negated).flat_map(|term| &term.any);
        let text = |test: &Test| match test {
            Test::Text(text) => Some(text.folded().to_owned()),
            _ => None,
        };
        tests.filter_map(text).collect()
    }
}
