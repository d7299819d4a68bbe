//! Tags: short names that people give to events.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::text::is_hostile;

/// The most tags that one event may have.
pub const MOST_TAGS: usize = 20;

/// The longest tag, in characters.
const LONGEST: usize = 40;

/// A tag as it was written: 1 to 40 characters, without commas and without characters that control a terminal. Two
/// tags that differ only in case are the same.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

/// Why a text is no tag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    /// It is empty, or too long.
    #[error("a tag has 1 to 40 characters")]
    Length,
    /// It contains a character that a tag may not contain.
    #[error("a tag may not contain {}", .0.escape_default())]
    Character(char),
}

impl Tag {
    /// Returns the tag as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the form by which tags are compared: in lower case.
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Tag {}

impl FromStr for Tag {
    type Err = TagError;

    fn from_str(text: &str) -> Result<Self, TagError> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > LONGEST {
            return Err(TagError::Length);
        }
        match text.chars().find(|letter| *letter == ',' || is_hostile(*letter)) {
            Some(letter) => Err(TagError::Character(letter)),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Tag {
    type Error = TagError;

    fn try_from(text: String) -> Result<Self, TagError> {
        text.parse()
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_short_and_controls_nothing() {
        let tag = |text: &str| text.parse::<Tag>();
        assert_eq!(tag("  Größe \u{1f680} ").unwrap().as_str(), "Größe \u{1f680}");
        assert_eq!(tag("GRÖSSE").unwrap(), tag("grösse").unwrap());
        assert!(tag(&"ä".repeat(40)).is_ok());
        for text in ["", "   ", &"a".repeat(41)] {
            assert_eq!(tag(text), Err(TagError::Length), "{text:?}");
        }
        for letter in [',', '\u{1b}', '\n', '\0', '\u{202e}', '\u{200b}'] {
            assert_eq!(tag(&format!("a{letter}b")), Err(TagError::Character(letter)), "{letter:?}");
        }
        assert!(!TagError::Character('\u{1b}').to_string().contains('\u{1b}'));
    }
}
