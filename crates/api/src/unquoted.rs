//! Removes quoted values from serde's error messages, because a quoted value may be a secret in the wrong place.

/// The kinds of values that serde quotes, each with the characters before and after the quotation.
const QUOTED: [(&str, char, char); 7] = [
    ("string ", '"', '"'),
    ("character ", '`', '`'),
    ("boolean ", '`', '`'),
    ("integer ", '`', '`'),
    ("floating point ", '`', '`'),
    ("unknown field ", '`', '`'),
    ("unknown variant ", '`', '`'),
];

/// The longest name of an unknown field that stays in a message, in bytes. Secrets are longer, or have digits or
/// capital letters.
const LONGEST_NAME: usize = 24;

/// Returns the message without the values from the request. What was expected instead stays, and so does the unknown
/// name if it looks like a field's name.
pub(crate) fn unquoted(message: &str) -> String {
    let found = QUOTED.iter().filter_map(|&(kind, open, close)| {
        let start = message.find(&format!("{kind}{open}"))? + kind.len();
        Some((start, kind, close))
    });
    let Some((start, kind, close)) = found.min() else { return message.to_owned() };
    let inside = &message[start + 1..];
    let end = end_of(inside, close);
    let is_named = kind.starts_with("unknown") && is_plain_name(&inside[..end]);
    if is_named {
        return message.to_owned();
    }
    let rest = inside.get(end + 1..).unwrap_or_default();
    format!("{}{rest}", message[..start].trim_end())
}

/// Returns where a quotation ends. Quoted text is escaped as in Rust. A quoted name may contain backquotes, so it ends
/// at the last backquote before the words about what was expected.
fn end_of(inside: &str, close: char) -> usize {
    if close == '`' {
        let quoted = inside.rfind("`, expected").or_else(|| inside.rfind("`, there are no"));
        return quoted.or_else(|| inside.rfind('`')).unwrap_or(inside.len());
    }
    let mut escaped = false;
    for (place, letter) in inside.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == close => return place,
            _ => {}
        }
    }
    inside.len()
}

fn is_plain_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Order {
        #[expect(dead_code, reason = "it is only read")]
        value: Option<String>,
        #[expect(dead_code, reason = "it is only read")]
        kind: Option<Kind>,
        #[expect(dead_code, reason = "it is only read")]
        count: Option<u8>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Relay,
        Smee,
    }

    fn said(json: &str) -> String {
        unquoted(&serde_json::from_str::<Order>(json).unwrap_err().to_string())
    }

    #[test]
    fn promise_7_no_value_of_a_request_is_repeated() {
        for (json, words) in [
            (r#""SECRET""#, "invalid type: string, expected struct Order at line 1 column 8"),
            (r#""SEC\", expected `RET""#, "invalid type: string, expected struct Order"),
            (r#"{"value":["SECRET"]}"#, "invalid type: sequence, expected a string"),
            (r#"{"value":123456}"#, "expected a string"),
            (r#"{"count":"SECRET"}"#, "invalid type: string, expected u8"),
            (r#"{"count":123456}"#, "expected u8"),
            (r#"{"kind":"SECRET"}"#, "unknown variant, expected `relay` or `smee`"),
            (r#"{"kind":"SEC`, expected `RET"}"#, "unknown variant, expected `relay` or `smee`"),
            (r#"{"SECRET":1}"#, "unknown field, expected one of `value`, `kind`, `count`"),
            (r#"{"value":"SECRET"#, "EOF while parsing a string"),
            (r#"{"value":"\uD800SECRET"}"#, "column"),
            ("SECRET", "expected value at line 1 column 1"),
        ] {
            let said = said(json);
            assert!(said.contains(words), "{json}: {said}");
            for part in ["SEC", "RET", "123456"] {
                assert!(!said.contains(part), "{json}: {said}");
            }
        }
    }

    #[test]
    fn a_field_that_is_misspelt_is_named() {
        assert!(said(r#"{"vallue":1}"#).starts_with("unknown field `vallue`, expected one of"));
        assert!(said(r#"{"kind":"relays"}"#).starts_with("unknown variant `relays`, expected"));
    }
}
