//! Folded words.

/// Folds a word, as patterns are folded.
pub(crate) fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}
