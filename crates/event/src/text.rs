//! Makes untrusted text safe for a terminal, a log or a notification.

use std::fmt;

/// Prints untrusted text with control and bidirectional characters escaped (`\u{1b}`), so that it cannot control a
/// terminal, forge a log line or reorder the text on screen.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a>(pub &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            if is_hostile(letter) {
                write!(out, "{}", letter.escape_unicode())?;
            } else {
                fmt::Write::write_char(out, letter)?;
            }
        }
        Ok(())
    }
}

/// Prints JSON text with the same characters escaped as in JSON (`\u001b`), so that it still parses to the same value.
#[derive(Clone, Copy, Debug)]
pub struct PlainJson<'a>(pub &'a str);

impl fmt::Display for PlainJson<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            if is_hostile(letter) {
                let mut units = [0; 2];
                letter.encode_utf16(&mut units).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
            } else {
                fmt::Write::write_char(out, letter)?;
            }
        }
        Ok(())
    }
}

/// Returns whether the character is a control character, a line separator, or one that reorders or hides text
/// (Unicode's Bidi_Control and zero-width characters).
pub(crate) fn is_hostile(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_2_escape_sequences_and_bidi_marks_are_spelt_out() {
        assert_eq!(Plain("a\u{1b}[31mb\u{202e}c\r\n").to_string(), r"a\u{1b}[31mb\u{202e}c\u{d}\u{a}");
    }

    #[test]
    fn json_says_the_same_with_its_own_escapes() {
        let text = "\"a\u{9b}b\u{202e}\u{e0041}\u{7f}ë\"";
        let plain = PlainJson(text).to_string();
        assert_eq!(plain, r#""a\u009bb\u202e\udb40\udc41\u007fë""#);
        assert_eq!(serde_json::from_str::<String>(&plain).unwrap(), text.trim_matches('"'));
    }

    #[test]
    fn ordinary_letters_of_any_script_stay() {
        assert_eq!(Plain("Zoë 東京 🚀").to_string(), "Zoë 東京 🚀");
    }
}
