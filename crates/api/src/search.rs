//! What the page shows of a search while it is typed: its terms, its fault, and what can be completed.

use std::{ops::Range, sync::Arc};

use axum::{Json, extract::State};
use hookmitt_engine::Engine;
use hookmitt_event::Timestamp;
use hookmitt_search::{Completion, SearchError, TypedTerm, WordKey, outline, suggest};
use serde::{Deserialize, Serialize};

use crate::{Problem, input::Asked};

/// The text of a search. Places in it are counted in UTF-16 code units, as JavaScript does.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Typed {
    /// The text.
    q: String,
    /// Where the caret is. Without it, nothing is suggested.
    caret: Option<usize>,
}

/// A search as it was typed.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SearchJson {
    terms: Vec<TermJson>,
    /// The first fault, if the text is no search.
    fault: Option<FaultJson>,
    /// The texts to mark in what was found, in lower case.
    marks: Vec<String>,
    suggestions: Option<Suggestions>,
}

/// A term as it was typed.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TermJson {
    start: usize,
    end: usize,
    /// Whether it begins with `-`.
    negated: bool,
    /// Its key with its colon, or null for a word without a key.
    key: Option<String>,
    /// What follows the key.
    value: String,
}

/// Why a text is no search.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct FaultJson {
    start: usize,
    end: usize,
    message: String,
    hint: Option<String>,
}

/// What can stand where the caret is.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Suggestions {
    /// The part of the text that a suggestion replaces.
    start: usize,
    end: usize,
    items: Vec<Suggestion>,
}

/// Something that can stand where the caret is.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Suggestion {
    /// What replaces the begun key or value, quoted if need be.
    text: String,
    /// The key or value itself.
    label: String,
    /// What a key asks about.
    note: Option<&'static str>,
    /// How many events have the value.
    count: Option<u64>,
}

/// How many values are suggested.
const VALUES: usize = 12;

/// Takes a search apart as it is typed, and suggests how it can go on.
#[utoipa::path(get, operation_id = "typed_search", path = "/api/search", params(Typed), responses((status = 200, body = SearchJson), (status = 400, body = Problem)))]
pub(crate) async fn typed(
    State(engine): State<Arc<Engine>>,
    Asked(Typed { q, caret }): Asked<Typed>,
) -> Result<Json<SearchJson>, Problem> {
    let outline = outline(&q, Timestamp::now());
    let terms = outline.terms.into_iter().map(|term| term_json(&q, term)).collect();
    let fault = outline.fault.map(|fault| fault_json(&q, fault));
    let suggestions = match caret {
        Some(caret) => suggestions(&engine, &q, caret).await?,
        None => None,
    };
    Ok(Json(SearchJson { terms, fault, marks: outline.marks, suggestions }))
}

fn term_json(text: &str, term: TypedTerm) -> TermJson {
    let Range { start, end } = in_utf_16(text, &term.place);
    TermJson { start, end, negated: term.negated, key: term.key, value: term.value }
}

fn fault_json(text: &str, fault: SearchError) -> FaultJson {
    let Range { start, end } = in_utf_16(text, &fault.place);
    FaultJson { start, end, message: fault.message, hint: Some(fault.hint).filter(|hint| !hint.is_empty()) }
}

async fn suggestions(engine: &Engine, text: &str, caret: usize) -> Result<Option<Suggestions>, Problem> {
    let wanted = suggest(text, from_utf_16(text, caret));
    let items = match wanted.what {
        Completion::Keys { keys } => keys.iter().map(|hint| key(hint.key, hint.about)).collect(),
        Completion::Values { values } => values.into_iter().map(|word| value(word, None)).collect(),
        Completion::Words { key, prefix } => words(engine, key, &prefix).await?,
        Completion::Free => return Ok(None),
    };
    let Range { start, end } = in_utf_16(text, &wanted.place);
    Ok(Some(Suggestions { start, end, items }))
}

async fn words(engine: &Engine, key: WordKey, prefix: &str) -> Result<Vec<Suggestion>, Problem> {
    let words = engine.search.words(key, prefix, VALUES).await?;
    Ok(words.into_iter().map(|(word, count)| value(&word, Some(count))).collect())
}

fn key(key: &'static str, about: &'static str) -> Suggestion {
    Suggestion { text: key.to_owned(), label: key.to_owned(), note: Some(about), count: None }
}

fn value(word: &str, count: Option<u64>) -> Suggestion {
    let is_plain = !word.is_empty()
        && word.chars().all(|letter| letter.is_alphanumeric() || "._-/:".contains(letter))
        && !word.starts_with('-');
    let text = if is_plain {
        word.to_owned()
    } else {
        format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
    };
    Suggestion { text, label: word.to_owned(), note: None, count }
}

fn in_utf_16(text: &str, place: &Range<usize>) -> Range<usize> {
    let units = |at: usize| text[..text.floor_char_boundary(at)].encode_utf16().count();
    units(place.start)..units(place.end)
}

/// Returns the place in bytes; within a character it counts as before it.
fn from_utf_16(text: &str, units: usize) -> usize {
    let mut left = units;
    for (at, letter) in text.char_indices() {
        match left.checked_sub(letter.len_utf16()) {
            Some(rest) if left > 0 => left = rest,
            _ => return at,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_as_javascript_counts_them() {
        let text = "a😀ö b";
        assert_eq!(in_utf_16(text, &(0..5)), 0..3);
        assert_eq!(in_utf_16(text, &(5..text.len())), 3..6);
        let back: Vec<_> = (0..8).map(|units| from_utf_16(text, units)).collect();
        assert_eq!(back, [0, 1, 1, 5, 7, 8, 9, 9]);
    }

    #[test]
    fn a_value_is_quoted_only_if_it_must_be() {
        for (word, text) in
            [("push", "push"), ("a b", "\"a b\""), ("-x", "\"-x\""), ("a\"*\\", "\"a\\\"*\\\\\"")]
        {
            assert_eq!(value(word, None).text, text);
        }
    }
}
