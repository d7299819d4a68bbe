//! Finds providers by the names that users type.

use hookmitt_event::Plain;
use hookmitt_verify::{Provider, provider, providers};

use crate::failure::CliError;

/// How many similar names are suggested.
const OFFERED: usize = 5;

/// Returns the provider or adopter with this id in the catalogue.
///
/// # Errors
/// Fails if there is none. The hint names similar ids.
pub(crate) fn find(id: &str) -> Result<&'static Provider, CliError> {
    provider(id).ok_or_else(|| {
        let message = format!("there is no provider {}", Plain(id));
        let near = near(id, providers().map(|provider| provider.id.as_str()));
        CliError::bad_input_with("unknown-provider", message, format!("near names: {}", near.join(", ")))
    })
}

/// Returns the most similar names, nearest first. A name that contains the typed one, or is contained in it, counts as
/// nearest.
fn near<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let name: String = name.chars().take(64).flat_map(char::to_lowercase).collect();
    let mut ranked: Vec<_> = all
        .map(|other| {
            let within = !name.is_empty() && (other.contains(&name) || name.contains(other));
            (if within { 0 } else { distance(&name, other) }, other)
        })
        .collect();
    ranked.sort();
    ranked.into_iter().take(OFFERED).map(|(_, other)| other).collect()
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
    fn near_names_are_offered() {
        let all = ["github", "gitlab", "stripe", "slack", "standardwebhooks", "shopify"];
        assert_eq!(near("gihtub", all.into_iter())[..2], ["github", "gitlab"]);
        assert_eq!(near("Strip", all.into_iter())[0], "stripe");
        assert_eq!(near("standard-webhooks", all.into_iter())[0], "standardwebhooks");
    }

    #[test]
    fn an_unknown_provider_is_bad_input() {
        let error = find("githbu").unwrap_err();
        assert_eq!((error.code(), error.exit() as u8), ("unknown-provider", 2));
        assert!(error.hint().unwrap().contains("github"));
    }
}
