//! Finds names that are like the one that somebody typed.

/// How many similar names are suggested.
const OFFERED: usize = 5;

/// Returns the most similar names, nearest first; at most five. A name that contains the typed one, or is contained in
/// it, counts as nearest.
pub fn nearest<'a>(typed: &str, all: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    ranked(typed, all).into_iter().map(|(_, name)| name).take(OFFERED).collect()
}

/// Like [`nearest`], but leaves out names of which the typed one is hardly a misspelling.
pub fn near<'a>(typed: &str, all: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let length = typed.chars().count();
    let slips = (length / 3).max(2).min(length.saturating_sub(1));
    let ranked = ranked(typed, all).into_iter().filter(|(distance, _)| *distance <= slips);
    ranked.map(|(_, name)| name).take(OFFERED).collect()
}

fn ranked<'a>(typed: &str, all: impl IntoIterator<Item = &'a str>) -> Vec<(usize, &'a str)> {
    let typed: String = typed.chars().take(64).flat_map(char::to_lowercase).collect();
    let mut ranked: Vec<_> = all
        .into_iter()
        .map(|name| {
            let within = !typed.is_empty() && (name.contains(&typed) || typed.contains(name));
            (if within { 0 } else { distance(&typed, name) }, name)
        })
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    ranked
}

/// Returns how many characters must be inserted, deleted or replaced to turn one text into the other (Levenshtein
/// distance).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (column, wanted) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let all = ["github", "gitlab", "stripe", "slack", "standardwebhooks", "shopify"];
        assert_eq!(nearest("gihtub", all)[..2], ["github", "gitlab"]);
        assert_eq!(nearest("Strip", all)[0], "stripe");
        assert_eq!(nearest("standard-webhooks", all)[0], "standardwebhooks");
        assert_eq!(nearest("", all).len(), 5);
    }

    #[test]
    fn only_what_may_be_meant_is_near() {
        let all = ["github", "gitlab", "shop", "demo", "demo"];
        assert_eq!(near("gihtub", all), ["github"]);
        assert_eq!(near("shpo", all), ["shop"]);
        assert_eq!(near("demo-2", all), ["demo"], "and once");
        assert!(near("nosuch", all).is_empty() && near("x", all).is_empty());
    }
}
