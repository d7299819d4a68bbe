//! A source's own signing scheme as a JSON file that people can share. The file never holds a secret.

use std::path::Path;

use hookmitt_event::GenericScheme;
use serde_json::{Map, Value, json};

use crate::failure::CliError;

/// Returns the content of the file for a source, or `None` if the source has no scheme of its own.
pub(crate) fn of(source: &Value) -> Option<Value> {
    let generic = source["generic"].as_object()?;
    let set: Map<_, _> = generic.iter().filter(|(_, value)| !value.is_null()).map(pair).collect();
    let mut scheme =
        Map::from_iter([("hookmitt_scheme".to_owned(), json!(1)), ("generic".to_owned(), json!(set))]);
    if let Some(tolerance) = source["tolerance_s"].as_u64() {
        scheme.insert("tolerance_s".to_owned(), json!(tolerance));
    }
    Some(Value::Object(scheme))
}

fn pair((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// Returns the changes that a file makes to a source. A file that holds only the scheme's settings is accepted, too.
pub(crate) fn read(path: &Path) -> Result<Map<String, Value>, CliError> {
    let bad = |why: String| {
        CliError::bad_input("bad-scheme-file", format!("{} isn't a signing scheme: {why}", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    let whole: Value = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let version = whole.get("hookmitt_scheme");
    if version.is_some_and(|version| version != 1) {
        return Err(bad("a newer hookmitt wrote it".to_owned()));
    }
    let generic = whole.get("generic").unwrap_or(&whole);
    let read: GenericScheme =
        serde_json::from_value(generic.clone()).map_err(|error| bad(error.to_string()))?;
    if read == GenericScheme::default() {
        return Err(bad("it sets nothing; `hookmitt source show SLUG --scheme` prints one".to_owned()));
    }
    let mut change = Map::from_iter([("generic".to_owned(), json!(read))]);
    if let Some(tolerance) = whole.get("tolerance_s").filter(|_| version.is_some()) {
        change.insert("tolerance_s".to_owned(), tolerance.clone());
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_what_is_read() {
        let source =
            json!({"slug": "a", "tolerance_s": 60, "generic": {"signature_header": "X-Sig", "prefix": null}});
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scheme.json");
        std::fs::write(&path, of(&source).unwrap().to_string()).unwrap();
        let change = read(&path).unwrap();
        assert_eq!(
            (&change["tolerance_s"], &change["generic"]["signature_header"]),
            (&json!(60), &json!("X-Sig"))
        );
        for (text, says) in [
            ("{", "EOF"),
            ("{}", "sets nothing"),
            (r#"{"hookmitt_scheme":2}"#, "newer"),
            (r#"{"signature":"X"}"#, "unknown field"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = format!("{:?}", read(&path).unwrap_err());
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(of(&json!({"generic": null})).is_none());
    }
}
