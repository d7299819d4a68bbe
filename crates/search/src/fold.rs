//! Letters without case: texts and patterns are compared as folded.

use std::borrow::Cow;

/// Folds a text: each character becomes its lower-case form, whatever stands beside it.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_onto(text, &mut folded);
    folded
}

/// Folds a text and appends it to `out`. ASCII, which most of a large text is, is folded many bytes at a time.
pub(crate) fn fold_onto(text: &str, out: &mut String) {
    let mut left = text;
    while !left.is_empty() {
        let (ascii, rest) = left.split_at(ascii_length(left.as_bytes()));
        let start = out.len();
        out.push_str(ascii);
        out[start..].make_ascii_lowercase();
        let (others, rest) = rest.split_at(rest.find(|letter: char| letter.is_ascii()).unwrap_or(rest.len()));
        out.extend(others.chars().flat_map(char::to_lowercase));
        left = rest;
    }
}

/// Returns how many bytes from the beginning are ASCII.
fn ascii_length(bytes: &[u8]) -> usize {
    const BLOCK: usize = 32;
    let whole = bytes.chunks(BLOCK).take_while(|block| block.is_ascii()).count() * BLOCK;
    let (whole, rest) = bytes.split_at(whole.min(bytes.len()));
    whole.len() + rest.iter().take_while(|byte| byte.is_ascii()).count()
}

/// A text to look for, folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// Folds a text.
    pub fn new(text: &str) -> Self {
        Self(fold(text))
    }

    /// Returns the folded text.
    pub fn folded(&self) -> &str {
        &self.0
    }
}

/// A value in which `*` stands for anything. Letters match in either case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    /// Where the stars that stand for anything are, in bytes.
    stars: Vec<usize>,
    /// The folded texts between the stars; at least one.
    pieces: Vec<String>,
}

impl Pattern {
    /// Makes a pattern in which each `*` stands for anything.
    pub fn new(text: &str) -> Self {
        Self::with_stars(text, text.match_indices('*').map(|(at, _)| at).collect())
    }

    /// Makes a pattern in which only these stars stand for anything. `stars` are places in `text`, ascending.
    pub(crate) fn with_stars(text: &str, stars: Vec<usize>) -> Self {
        let pieces = pieces(text, &stars).map(fold).collect();
        Self { text: text.to_owned(), stars, pieces }
    }

    /// Returns the pattern as it was typed, without quotes.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the only value that matches, apart from case. `None` if a star stands for anything.
    pub fn exact(&self) -> Option<&str> {
        self.stars.is_empty().then_some(self.as_str())
    }

    /// Whether a value matches as a whole.
    pub fn matches(&self, value: &str) -> bool {
        let value = folded(value);
        let [first, rest @ ..] = self.pieces.as_slice() else { return false };
        let Some((last, middle)) = rest.split_last() else { return *value == **first };
        let Some(mut left) = value.strip_prefix(first.as_str()) else { return false };
        for piece in middle {
            let Some(at) = memchr::memmem::find(left.as_bytes(), piece.as_bytes()) else { return false };
            left = &left[at + piece.len()..];
        }
        left.ends_with(last.as_str())
    }

    /// Whether a value contains the pattern, or matches it as a whole if the pattern has a star.
    pub(crate) fn is_in(&self, value: &str) -> bool {
        match self.pieces.as_slice() {
            [only] => folded(value).contains(only.as_str()),
            _ => self.matches(value),
        }
    }

    /// Whether the beginning of a value up to a dot matches.
    pub(crate) fn begins(&self, value: &str) -> bool {
        let value = folded(value);
        let [first, rest @ ..] = self.pieces.as_slice() else { return false };
        let Some(mut left) = value.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = rest.split_last() else { return left.starts_with('.') };
        for piece in middle {
            let Some(at) = left.find(piece.as_str()) else { return false };
            left = &left[at + piece.len()..];
        }
        left.contains(&format!("{last}."))
    }

    /// Whether every value matches.
    pub(crate) fn is_anything(&self) -> bool {
        !self.stars.is_empty() && self.pieces.iter().all(String::is_empty)
    }

    /// Iterates over the texts between the stars, as they were typed.
    pub(crate) fn typed_pieces(&self) -> impl Iterator<Item = &str> {
        pieces(&self.text, &self.stars)
    }
}

fn pieces<'a>(text: &'a str, stars: &'a [usize]) -> impl Iterator<Item = &'a str> {
    let starts = std::iter::once(0).chain(stars.iter().map(|star| star + 1));
    let ends = stars.iter().copied().chain([text.len()]);
    starts.zip(ends).map(|(start, end)| &text[start..end])
}

/// Folds a value, unless it is folded already.
fn folded(value: &str) -> Cow<'_, str> {
    let is_folded = value.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_folded { Cow::Borrowed(value) } else { Cow::Owned(fold(value)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_character_is_folded_by_itself(text in "([a-zA-Z ]{0,70}[ÄäÉИΣσİK中ß]{0,3}){0,4}") {
            let by_itself: String = text.chars().flat_map(char::to_lowercase).collect();
            prop_assert_eq!(fold(&text), by_itself);
        }
    }

    #[test]
    fn a_star_stands_for_anything_and_case_for_nothing() {
        for (pattern, value, holds) in [
            ("shop", "SHOP", true),
            ("shop", "shops", false),
            ("SHOP*", "shops", true),
            ("*", "", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*ab*ab*", "xabab", true),
            ("*ab*ab*", "xaba", false),
            ("ÄPFEL*", "äpfel.gekauft", true),
            ("k", "\u{212a}", true), // the sign for kelvin
            ("**", "x", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(value), holds, "{pattern} {value}");
        }
        assert!(!Pattern::with_stars("a*", vec![]).matches("ab"));
    }
}
