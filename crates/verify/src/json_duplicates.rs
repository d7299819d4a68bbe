//! Finds JSON objects that repeat a name. Readers differ in which value they take, so one value could be signed and
//! another one read.

use std::{collections::HashSet, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Whether some object in a JSON text repeats a name. With `fold`, names that differ only in ASCII letter case count as
/// the same (as in Go's decoder). Returns `false` for a text that isn't JSON.
pub(crate) fn has_duplicate_names(json: &[u8], fold: bool) -> bool {
    let read = if fold {
        serde_json::from_slice::<Twice<true>>(json).map(|found| found.0)
    } else {
        serde_json::from_slice::<Twice<false>>(json).map(|found| found.0)
    };
    read.unwrap_or(false)
}

struct Twice<const FOLD: bool>(bool);

impl<'de, const FOLD: bool> Deserialize<'de> for Twice<FOLD> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Look::<FOLD>).map(Self)
    }
}

struct Look<const FOLD: bool>;

impl<'de, const FOLD: bool> Visitor<'de> for Look<FOLD> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let (mut names, mut twice) = (HashSet::new(), false);
        while let Some((name, Twice(inside))) = map.next_entry::<String, Twice<FOLD>>()? {
            let name = if FOLD { name.to_ascii_lowercase() } else { name };
            twice |= inside | !names.insert(name);
        }
        Ok(twice)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let mut twice = false;
        while let Some(Twice(inside)) = list.next_element::<Twice<FOLD>>()? {
            twice |= inside;
        }
        Ok(twice)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_stands_twice_in_one_object_is_seen_at_any_depth() {
        let table = [
            (r#"{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}"#, false, false),
            (r#"{"a":1,"b":null,"a":2}"#, true, true),
            (r#"{"b":[1.5,{"a":true,"\u0061":-1}]}"#, true, true),
            (r#"{"Message":"x","message":"y"}"#, false, true),
            ("no json", false, false),
        ];
        for (text, exact, folded) in table {
            assert_eq!(has_duplicate_names(text.as_bytes(), false), exact, "{text}");
            assert_eq!(has_duplicate_names(text.as_bytes(), true), folded, "{text}");
        }
    }
}
