//! Splits a JSON text into tokens and writes it in another style.

use super::json_style::{Ascii, Html, Layout, Letters, Writing};

/// One token as a slice of the text. Strings are without their quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Mark(u8),
    Text(&'a str),
    Number(&'a str),
    Word(&'a str),
    Space(&'a str),
}

/// A JSON text in tokens.
#[derive(Debug, Clone)]
pub(crate) struct JsonText<'a> {
    tokens: Vec<Token<'a>>,
    /// The strings without escapes, in order.
    strings: Vec<String>,
}

impl<'a> JsonText<'a> {
    /// Splits a text into tokens; `None` if it isn't enough like JSON to be written again.
    pub(crate) fn read(text: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let mut tokens = Vec::new();
        let mut strings = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.bytes().next() {
            let length = match first {
                b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
                b'"' => string_length(rest)?,
                _ => rest.find(|letter| ends(letter, first)).unwrap_or(rest.len()),
            };
            let (slice, tail) = rest.split_at_checked(length.max(1))?;
            tokens.push(match first {
                b'"' => {
                    strings.push(serde_json::from_str(slice).ok()?);
                    Token::Text(&slice[1..slice.len() - 1])
                }
                b' ' | b'\n' | b'\r' | b'\t' => Token::Space(slice),
                b'-' | b'0'..=b'9' => Token::Number(slice),
                _ if length == 1 && !first.is_ascii_alphabetic() => Token::Mark(first),
                _ => Token::Word(slice),
            });
            rest = tail;
        }
        matches!(tokens.first(), Some(Token::Mark(_) | Token::Space(_))).then_some(Self { tokens, strings })
    }

    /// Returns the text with the keys of every object sorted, as some serialisers write them; `None` if they are sorted
    /// already.
    pub(crate) fn sorted(&self) -> Option<Self> {
        let tokens = self.tokens.iter().filter(|token| !matches!(token, Token::Space(_)));
        let mut strings = self.strings.iter();
        let mut pairs: Vec<(Token<'a>, Option<&String>)> = Vec::new();
        for token in tokens {
            let text = matches!(token, Token::Text(_)).then(|| strings.next()).flatten();
            pairs.push((*token, text));
        }
        let mut out = Vec::with_capacity(pairs.len());
        let end = sort_value(&pairs, 0, 0, &mut out)?;
        let changed = end == pairs.len() && out.iter().zip(&pairs).any(|(own, other)| own.0 != other.0);
        changed.then(|| Self {
            tokens: out.iter().map(|(token, _)| *token).collect(),
            strings: out.iter().filter_map(|(_, text)| text.cloned()).collect(),
        })
    }

    /// Iterates over the numbers in order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = &'a str> {
        self.tokens
            .iter()
            .filter_map(|token| if let Token::Number(text) = token { Some(*text) } else { None })
    }

    /// Whether any string contains such a character.
    pub(crate) fn any_letter(&self, like: impl Fn(char) -> bool) -> bool {
        self.strings.iter().any(|text| text.chars().any(&like))
    }

    /// Writes the text in the given style.
    pub(crate) fn write(&self, writing: Writing<'_>) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.tokens.len() * 8);
        let mut strings = self.strings.iter();
        let mut numbers = writing.numbers.iter();
        let mut depth = 0;
        let mut opened = false;
        for token in &self.tokens {
            let closes = matches!(token, Token::Mark(b'}' | b']'));
            if let (Token::Space(space), Layout::Seen) = (token, writing.layout) {
                out.extend_from_slice(space.as_bytes());
            }
            if matches!(token, Token::Space(_)) {
                continue;
            }
            depth -= usize::from(closes && depth > 0);
            if opened != closes {
                writing.layout.line(&mut out, depth);
            }
            match token {
                Token::Mark(mark) => writing.layout.mark(&mut out, *mark, depth),
                Token::Text(seen) => {
                    let plain = strings.next().map_or("", String::as_str);
                    writing.letters.write(&mut out, seen, plain);
                }
                Token::Number(seen) => {
                    out.extend_from_slice(numbers.next().map_or(*seen, String::as_str).as_bytes());
                }
                Token::Word(text) | Token::Space(text) => out.extend_from_slice(text.as_bytes()),
            }
            opened = matches!(token, Token::Mark(b'{' | b'['));
            depth += usize::from(opened);
        }
        out
    }
}

/// Deeper values are not sorted.
const DEEPEST: usize = 64;

/// Appends the value that begins at a token, with sorted keys, and returns the index after its end.
fn sort_value<'t, 's>(
    tokens: &[(Token<'t>, Option<&'s String>)],
    at: usize,
    depth: usize,
    out: &mut Vec<(Token<'t>, Option<&'s String>)>,
) -> Option<usize> {
    let first = *tokens.get(at)?;
    let Token::Mark(open @ (b'{' | b'[')) = first.0 else {
        out.push(first);
        return Some(at + 1);
    };
    let close = Token::Mark(if open == b'{' { b'}' } else { b']' });
    let mut members = Vec::new();
    let mut next = at + 1;
    while tokens.get(next)?.0 != close && depth < DEEPEST {
        let mut member = Vec::new();
        let key = tokens.get(next)?.1.filter(|_| open == b'{');
        if open == b'{' {
            member.extend([*tokens.get(next)?, *tokens.get(next + 1)?]);
            next += 2;
        }
        next = sort_value(tokens, next, depth + 1, &mut member)?;
        members.push((key, member));
        next += usize::from(tokens.get(next)?.0 == Token::Mark(b','));
    }
    if open == b'{' {
        members.sort_by_key(|(key, _)| *key);
    }
    out.push(first);
    for (at, (_, member)) in members.into_iter().enumerate() {
        if at > 0 {
            out.push((Token::Mark(b','), None));
        }
        out.extend(member);
    }
    out.push(*tokens.get(next).filter(|token| token.0 == close)?);
    Some(next + 1)
}

/// Returns the text in the commonest other styles.
pub(crate) fn usual(body: &[u8]) -> Vec<Vec<u8>> {
    let Some(text) = JsonText::read(body.trim_ascii()) else { return Vec::new() };
    let raw = Letters::Written { ascii: Ascii::Raw, slash: false, html: Html::Plain };
    let escaped = Letters::Written { ascii: Ascii::Lower, slash: false, html: Html::Plain };
    let compact = Layout::Line { comma: ",", colon: ":" };
    let spaced = Layout::Line { comma: ", ", colon: ": " };
    let pretty = Layout::Lines { indent: "  ", colon: ": " };
    let all = [compact, spaced, pretty]
        .into_iter()
        .flat_map(|layout| [raw, escaped].map(|letters| (layout, letters)));
    all.map(|(layout, letters)| text.write(Writing { layout, letters, numbers: &[] })).collect()
}

/// Returns the keys of the outermost object in their order.
pub(crate) fn keys(body: &[u8]) -> Option<Vec<String>> {
    let text = JsonText::read(body.trim_ascii())?;
    let mut strings = text.strings.iter();
    let mut depth = 0;
    let mut keys = Vec::new();
    let mut last: Option<&String> = None;
    for token in &text.tokens {
        match token {
            Token::Mark(b'{' | b'[') => depth += 1,
            Token::Mark(b'}' | b']') => depth -= 1,
            Token::Mark(b':') if depth == 1 => keys.extend(last.take().cloned()),
            Token::Text(_) => last = strings.next(),
            _ => {}
        }
    }
    Some(keys)
}

/// Whether `letter` ends a run that began with `first`. White space ends every other run; anything else ends white
/// space.
fn ends(letter: char, first: u8) -> bool {
    let space = |letter: char| matches!(letter, ' ' | '\n' | '\r' | '\t');
    if space(char::from(first)) { !space(letter) } else { space(letter) || "{}[],:\"".contains(letter) }
}

fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return Some(at + 1),
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: Letters = Letters::Written { ascii: Ascii::Raw, slash: false, html: Html::Plain };
    const COMPACT: Layout = Layout::Line { comma: ",", colon: ":" };
    const PRETTY: Layout = Layout::Lines { indent: "  ", colon: ": " };

    fn written(text: &str, layout: Layout, letters: Letters, numbers: &[String]) -> String {
        let read = JsonText::read(text.as_bytes()).unwrap();
        String::from_utf8(read.write(Writing { layout, letters, numbers })).unwrap()
    }

    #[test]
    fn a_text_is_written_in_other_styles() {
        let seen = r#"{"a": [1,{}],"b":"x\/\u00eb<","c":[ ]}"#;
        assert_eq!(written(seen, Layout::Seen, Letters::Seen, &[]), seen);
        assert_eq!(written(seen, COMPACT, WRITTEN, &[]), r#"{"a":[1,{}],"b":"x/ë<","c":[]}"#);
        let pretty = "{\n  \"a\": [\n    1.0,\n    {}\n  ],\n  \"b\": \"x\\/\\u00eb<\",\n  \"c\": []\n}";
        assert_eq!(written(seen, PRETTY, Letters::Seen, &["1.0".to_owned()]), pretty);
        let php = Letters::Written { ascii: Ascii::Lower, slash: true, html: Html::Plain };
        assert_eq!(written(r#"["ë🚀/"]"#, COMPACT, php, &[]), r#"["\u00eb\ud83d\ude80\/"]"#);
        let go = Letters::Written { ascii: Ascii::Raw, slash: false, html: Html::Lower };
        assert_eq!(written(r#"["<ë>"]"#, COMPACT, go, &[]), r#"["\u003cë\u003e"]"#);
    }

    #[test]
    fn what_is_no_json_is_left_alone() {
        for text in [&b"hello"[..], b"\xff", b"", b"\"open", b"{\"\\ud800\":1}"] {
            assert!(JsonText::read(text).is_none(), "{text:?}");
        }
    }
}
