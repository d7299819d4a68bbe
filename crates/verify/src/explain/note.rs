//! Describes the difference between the signed and the received body in a few words.

/// Describes the change from the signed body to the received one.
pub(crate) fn between(signed: &[u8], received: &[u8]) -> String {
    let is_json = |body: &[u8]| serde_json::from_slice::<serde_json::Value>(body).ok();
    let values = is_json(signed).zip(is_json(received));
    let same_values = values.is_some_and(|(left, right)| left == right);
    if compact(signed) == compact(received) {
        let (before, after) = (signed.len(), received.len());
        return match (before, after) {
            _ if before == after => "Whitespace moved, no value changed".to_owned(),
            _ if after > before => format!("{} of whitespace added, no value changed", bytes(after - before)),
            _ => format!("{} of whitespace removed, no value changed", bytes(before - after)),
        };
    }
    let size = match received.len().cmp(&signed.len()) {
        std::cmp::Ordering::Less => format!("{} shorter", bytes(signed.len() - received.len())),
        std::cmp::Ordering::Equal => "Same length".to_owned(),
        std::cmp::Ordering::Greater => format!("{} longer", bytes(received.len() - signed.len())),
    };
    if same_values { format!("{size}, no value changed") } else { format!("{size} than what was signed") }
}

fn bytes(count: usize) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

/// Removes white space outside strings.
fn compact(body: &[u8]) -> Vec<u8> {
    let (mut inside, mut escaped) = (false, false);
    let keep = |byte: &u8| {
        let kept = inside || !byte.is_ascii_whitespace();
        match byte {
            b'"' if !escaped => inside = !inside,
            _ => {}
        }
        escaped = *byte == b'\\' && !escaped;
        kept
    };
    body.iter().copied().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        for (signed, received, note) in [
            ("{\"a\":\"b c\"}", "{ \"a\": \"b c\" }\n", "4 bytes of whitespace added, no value changed"),
            ("{}\n", "{}", "1 byte of whitespace removed, no value changed"),
            ("{\"a\":\"\\u00eb\"}", "{\"a\":\"ë\"}", "4 bytes shorter, no value changed"),
            ("a=1", "a=12", "1 byte longer than what was signed"),
        ] {
            assert_eq!(between(signed.as_bytes(), received.as_bytes()), note);
        }
    }
}
