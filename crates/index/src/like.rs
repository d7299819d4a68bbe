//! Whether a word matches a pattern.

use hookmitt_search::{Pattern, WordKey};

/// Whether a word that belongs to a key matches a pattern. Both are compared folded.
pub(crate) fn is_like(key: WordKey, pattern: &Pattern, word: &str) -> bool {
    let (pattern, word) = (folded(pattern.as_str()), folded(word));
    match key {
        WordKey::Target => matches(&format!("*{pattern}*"), &word),
        WordKey::Type => matches(&pattern, &word) || matches(&format!("{pattern}.*"), &word),
        _ => matches(&pattern, &word),
    }
}

pub(crate) fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Matches a folded word against a folded pattern, in which `*` stands for anything.
fn matches(pattern: &str, word: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = word.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, word) in [("a*c", "abc"), ("*", ""), ("a*", "a"), ("*b*b*", "abcb"), ("ab", "ab")] {
            assert!(matches(pattern, word), "{pattern} {word}");
        }
        for (pattern, word) in [("ab", "abc"), ("a*a", "a"), ("*b*b*", "abc"), ("", "a")] {
            assert!(!matches(pattern, word), "{pattern} {word}");
        }
    }

    #[test]
    fn a_type_is_found_by_its_beginning_and_a_target_by_any_part() {
        let like = |key, pattern: &str, word| is_like(key, &Pattern::new(pattern), word);
        assert!(like(WordKey::Type, "Invoice", "invoice.paid"));
        assert!(!like(WordKey::Type, "invo", "invoice.paid"));
        assert!(like(WordKey::Target, "3000", "http://localhost:3000/hooks"));
        assert!(!like(WordKey::Path, "hooks", "/hooks"));
    }
}
