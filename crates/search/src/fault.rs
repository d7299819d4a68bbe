//! Faults in a search, told so that they can be mended.

use std::ops::Range;

use hookmitt_event::{Explain, Plain, near};

use crate::keys::{KEYS, Kind};

/// Why a text is no query, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize)]
#[error("column {column}: {message}")]
pub struct SearchError {
    /// Where the fault begins, in characters from 1.
    pub column: usize,
    /// The same place as a range of bytes.
    pub place: Range<usize>,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to do about it, as a sentence fragment; empty if the message says it.
    pub hint: String,
}

impl Explain for SearchError {
    fn code(&self) -> &'static str {
        "bad-search"
    }

    fn hint(&self) -> Option<String> {
        (!self.hint.is_empty()).then(|| self.hint.clone())
    }
}

/// What is wrong with a part of a search whose place is known to the caller.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    message: String,
    hint: String,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: String::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Gives the fault its place in a text.
    pub(crate) fn at(self, text: &str, place: Range<usize>) -> SearchError {
        let column = text[..place.start].chars().count() + 1;
        SearchError { column, place, message: self.message, hint: self.hint }
    }

    /// There is no such key. `name` comes with its colon.
    pub(crate) fn unknown_key(name: &str) -> Self {
        let like = near(name.trim_end_matches(':'), KEYS.map(|key| key.name.trim_end_matches([':', '.'])));
        let like = like.first().and_then(|like| KEYS.iter().find(|key| key.name.starts_with(like)));
        let means = match like {
            Some(key) => format!("Did you mean {}?", key.name),
            None => format!("Use {}.", listed(&KEYS.map(|key| key.name))),
        };
        Self::new(format!("There is no filter {}. {means}", shown(name)))
            .hint("put it in quotes to search for it as text")
    }

    /// A rule can't look at that.
    pub(crate) fn not_for_rules(what: &str) -> Self {
        let keys: Vec<_> = KEYS.iter().filter(|key| key.kind.is_of_request()).map(|key| key.name).collect();
        Self::new(format!("A rule can’t {what}. It looks at the request only: use {}.", listed(&keys)))
    }

    /// The key has no such value. `words` are those it has.
    pub(crate) fn unknown_word(kind: Kind, typed: &str, words: &[&str]) -> Self {
        let thing = match kind {
            Kind::Verdict => "verdict",
            Kind::Status => "status",
            Kind::Via => "way in",
            _ => "mark",
        };
        Self::new(format!("No {thing} is called {}. Use {}.", shown(typed), listed(words)))
    }
}

/// Puts what was typed between quotation marks: cut where it is long, and safe to print.
pub(crate) fn shown(typed: &str) -> String {
    const LONGEST: usize = 40;
    match typed.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("‘{}…’", Plain(&typed[..cut])),
        None => format!("‘{}’", Plain(typed)),
    }
}

/// Lists words: `a, b or c`.
fn listed(words: &[&str]) -> String {
    match words {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
