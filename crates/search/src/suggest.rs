//! What can be completed where the caret is.

use std::ops::Range;

use serde::Serialize;

use crate::{
    WordKey,
    fold::fold,
    keys::{KEYS, Kind},
    words::{Word, words},
};

/// What is being typed at the caret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wanted {
    /// What a chosen suggestion replaces, in bytes: the begun key or value.
    pub place: Range<usize>,
    /// What can stand there.
    pub what: Completion,
}

/// What can stand at the caret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Completion {
    /// One of these keys.
    Keys {
        /// The keys that begin with what was typed.
        keys: Vec<KeyHint>,
    },
    /// One of these values.
    Values {
        /// The fixed values of the key that begin with what was typed.
        values: Vec<&'static str>,
    },
    /// A value that occurs in the inbox.
    Words {
        /// Whose values they are.
        key: WordKey,
        /// What was typed of it, folded. The values begin with that.
        prefix: String,
    },
    /// Anything: there is nothing to suggest.
    Free,
}

/// A key and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KeyHint {
    /// The key with its colon, or with its dot if an argument follows: `source:`, `header.`.
    pub key: &'static str,
    /// What it asks about, in a few words.
    pub about: &'static str,
}

/// Says what can be completed where the caret is. `caret` is in bytes; within a character it counts as before it.
pub fn suggest(text: &str, caret: usize) -> Wanted {
    let caret = text.floor_char_boundary(caret);
    let typed = words(text).into_iter().find(|word| (word.place.start..=word.place.end).contains(&caret));
    typed.map_or_else(|| keys(caret..caret, ""), |word| in_word(text, caret, &word))
}

fn in_word(text: &str, caret: usize, word: &Word) -> Wanted {
    let start = word.place.start + usize::from(word.negated);
    let begun = &text[start..caret.max(start)];
    let value = word.values.iter().find(|value| caret <= value.place.end);
    match (&word.key, value) {
        (None, Some(first)) if first.place.start == start => {
            let whole = if word.values.len() == 1 { first.place.clone() } else { start..caret.max(start) };
            keys(whole, begun)
        }
        (Some(key), _) if caret < word.rest.start => keys(key.place.clone(), begun),
        (Some(key), Some(value)) => {
            let prefix = fold(text[value.place.start..caret].trim_matches('"'));
            Wanted { place: value.place.clone(), what: values(key.kind, prefix) }
        }
        _ => Wanted { place: caret..caret, what: Completion::Free },
    }
}

fn keys(place: Range<usize>, begun: &str) -> Wanted {
    let begun = begun.to_ascii_lowercase();
    let keys = KEYS.iter().filter(|key| key.name.starts_with(&begun));
    let keys: Vec<_> = keys.map(|key| KeyHint { key: key.name, about: key.about }).collect();
    let what = if keys.is_empty() { Completion::Free } else { Completion::Keys { keys } };
    Wanted { place, what }
}

fn values(kind: Option<Kind>, prefix: String) -> Completion {
    if let Some(Kind::Word(key)) = kind {
        return Completion::Words { key, prefix };
    }
    let words = kind.and_then(Kind::words).unwrap_or_default().into_iter().map(|(name, _)| name);
    let prefix = prefix.replace('-', "_");
    let values: Vec<_> = words.filter(|name| name.starts_with(&prefix)).collect();
    if values.is_empty() { Completion::Free } else { Completion::Values { values } }
}
