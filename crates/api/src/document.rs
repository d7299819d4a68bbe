//! The OpenAPI document, made precise for type generators. `docs/openapi.json` is a copy of it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Fields that an answer may leave out. The document lists every other field of an answer as required; a field without
/// a value is null.
const ASKED_FOR: [&str; 8] = [
    "deleted_by",
    "deliveries",
    "forwarded",
    "glance",
    "handshake_answer",
    "handshake_note",
    "handshake_offer",
    "uncovered",
];

/// Returns the document that utoipa derived, with corrections for what utoipa cannot know.
pub(crate) fn exact(derived: &utoipa::openapi::OpenApi) -> Value {
    let mut document = serde_json::to_value(derived).unwrap_or_default();
    let sent = named(&document, "requestBody");
    if let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        for (name, schema) in schemas {
            loosen(schema);
            if !sent.contains(name) {
                require_all(schema);
            }
        }
    }
    document
}

/// Returns the names of the schemas to which this part of any operation refers, directly or not.
fn named(document: &Value, part: &str) -> BTreeSet<String> {
    let paths = document["paths"].as_object().into_iter().flat_map(Map::values);
    let operations = paths.filter_map(Value::as_object).flat_map(Map::values);
    let mut open: Vec<&Value> = operations.map(|operation| &operation[part]).collect();
    let mut found = BTreeSet::new();
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => open.extend(map.values()),
            Value::Array(list) => open.extend(list),
            Value::String(text) => {
                let name = text.strip_prefix("#/components/schemas/");
                if let Some(name) = name.filter(|name| found.insert((*name).to_owned())) {
                    open.push(&document["components"]["schemas"][name]);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

/// Removes `default`, because type generators take a field with a default for required although it may be left out.
/// Removes `additionalProperties: false`, because a schema with it cannot be part of a larger one.
fn loosen(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.remove("default");
            map.retain(|name, value| name != "additionalProperties" || *value != Value::Bool(false));
            map.values_mut().for_each(loosen);
        }
        Value::Array(list) => list.iter_mut().for_each(loosen),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn require_all(schema: &mut Value) {
    let Some(properties) = schema["properties"].as_object() else { return };
    let names = properties.keys().filter(|name| !ASKED_FOR.contains(&name.as_str()));
    schema["required"] = names.cloned().collect();
}

#[cfg(test)]
mod tests {
    /// `UPDATE_OPENAPI=1 cargo test -p hookmitt-api openapi` rewrites the copy.
    #[test]
    fn the_copy_of_the_openapi_document_is_current() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
        let current = format!("{:#}\n", crate::openapi());
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            std::fs::write(&path, &current).unwrap();
        }
        let copy = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            copy == current,
            "docs/openapi.json is stale: UPDATE_OPENAPI=1 cargo test -p hookmitt-api openapi"
        );
    }

    #[test]
    fn what_an_answer_always_holds_is_required() {
        let document = crate::openapi();
        let required = |name: &str| document["components"]["schemas"][name]["required"].to_string();
        assert!(required("EventJson").contains("\"title\"") && !required("EventJson").contains("deliveries"));
        assert!(!required("TargetChange").contains("paused"), "{}", required("TargetChange"));
    }
}
