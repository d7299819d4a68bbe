//! Indents JSON without changing its content: numbers, the order of keys and duplicate keys stay as they are.

use serde::de::IgnoredAny;

/// Returns the JSON text indented by two spaces for each level, or `None` if it is not JSON.
pub(crate) fn indented(json: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(json).ok()?; // this also limits the depth
    let mut layout = Layout::default();
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                layout.out.push('"');
                while let Some(inner) = letters.next() {
                    layout.out.push(inner);
                    match inner {
                        '\\' => layout.out.extend(letters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '{' | '[' => {
                while letters.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                layout.out.push(letter);
                match letters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => layout.out.push(end),
                    None => layout.line(1),
                }
            }
            '}' | ']' => {
                layout.line(-1);
                layout.out.push(letter);
            }
            ',' => {
                layout.out.push(',');
                layout.line(0);
            }
            ':' => layout.out.push_str(": "),
            blank if blank.is_ascii_whitespace() => {}
            other => layout.out.push(other),
        }
    }
    Some(layout.out)
}

#[derive(Default)]
struct Layout {
    out: String,
    depth: usize,
}

impl Layout {
    fn line(&mut self, deeper: isize) {
        self.depth = self.depth.saturating_add_signed(deeper);
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says_stays_as_it_came() {
        let json = r#" {"b":1.0e400,"a":[ ],"b":{"x":"q\"{,:}\\"},"c":[1, {}]}"#;
        let expected = "{\n  \"b\": 1.0e400,\n  \"a\": [],\n  \"b\": {\n    \"x\": \"q\\\"{,:}\\\\\"\n  },\n  \
                        \"c\": [\n    1,\n    {}\n  ]\n}";
        assert_eq!(indented(json).unwrap(), expected);
    }

    #[test]
    fn what_is_not_json_is_left_alone() {
        assert_eq!(indented("a=1&b=2"), None);
        assert_eq!(indented(&"[".repeat(100_000)), None);
        assert_eq!(indented("{} x"), None);
    }
}
