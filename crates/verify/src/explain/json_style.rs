//! The styles in which serialisers write JSON: white space, escapes and numbers.

/// White space between tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As received.
    Seen,
    /// All on one line, with these texts for commas and colons.
    Line { comma: &'static str, colon: &'static str },
    /// No white space, except a CRLF after each item of the outermost list.
    Batch,
    /// One line for each member.
    Lines { indent: &'static str, colon: &'static str },
}

/// Escapes in strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    /// As received.
    Seen,
    /// Written again by these rules.
    Written { ascii: Ascii, slash: bool, html: Html },
}

/// How characters beyond ASCII are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ascii {
    /// As UTF-8.
    Raw,
    /// `\u00eb`
    Lower,
    /// `\u00EB`
    Upper,
}

/// How characters with a meaning in HTML are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Html {
    /// As they are.
    Plain,
    /// `<`, `>`, `&`, U+2028 and U+2029 as `\u003c` … (Go, Rails).
    Lower,
    /// `<`, `>`, `&`, `+`, quotes and backticks as `\u003C` … (.NET).
    Upper,
}

/// How a JSON text is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writing<'n> {
    pub(crate) layout: Layout,
    pub(crate) letters: Letters,
    /// The n-th text replaces the n-th number. Numbers after the end of the list stay as received.
    pub(crate) numbers: &'n [String],
}

impl Layout {
    /// Starts a new line after an opening mark or before a closing one.
    pub(crate) fn line(self, out: &mut Vec<u8>, depth: usize) {
        if let Self::Lines { indent, .. } = self {
            out.push(b'\n');
            // A limit, so that hostile nesting doesn't cause quadratic work.
            (0..depth.min(64)).for_each(|_| out.extend_from_slice(indent.as_bytes()));
        }
    }

    /// Writes a brace, bracket, comma or colon.
    pub(crate) fn mark(self, out: &mut Vec<u8>, mark: u8, depth: usize) {
        match (self, mark) {
            (Self::Line { colon, .. } | Self::Lines { colon, .. }, b':') => {
                out.extend_from_slice(colon.as_bytes())
            }
            (Self::Line { comma, .. }, b',') => out.extend_from_slice(comma.as_bytes()),
            (Self::Batch, b',') if depth == 1 => out.extend_from_slice(b",\r\n"),
            (Self::Lines { .. }, b',') => {
                out.push(b',');
                self.line(out, depth);
            }
            _ => out.push(mark),
        }
    }
}

impl Letters {
    /// Writes a string. `seen` is its text as received, `plain` its text without escapes.
    pub(crate) fn write(self, out: &mut Vec<u8>, seen: &str, plain: &str) {
        out.push(b'"');
        match self {
            Self::Seen => out.extend_from_slice(seen.as_bytes()),
            Self::Written { ascii, slash, html } => {
                let mut rest = plain;
                while let Some(at) = rest.find(|letter: char| !is_plain(letter)) {
                    let letter = rest[at..].chars().next().unwrap_or_default();
                    out.extend_from_slice(&rest.as_bytes()[..at]);
                    write_letter(out, letter, ascii, slash, html);
                    rest = &rest[at + letter.len_utf8()..];
                }
                out.extend_from_slice(rest.as_bytes());
            }
        }
        out.push(b'"');
    }
}

/// Whether every serialiser writes the character unescaped.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric()
        || matches!(letter, ' ' | '_' | '-' | '.' | ',' | ':' | ';' | '=' | '(' | ')')
}

fn write_letter(out: &mut Vec<u8>, letter: char, ascii: Ascii, slash: bool, html: Html) {
    let short = match letter {
        '"' if html == Html::Upper => "\\u0022",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '/' if slash => "\\/",
        _ => "",
    };
    let in_html = match html {
        Html::Plain => false,
        Html::Lower => matches!(letter, '<' | '>' | '&' | '\u{2028}' | '\u{2029}'),
        Html::Upper => matches!(letter, '<' | '>' | '&' | '\'' | '+' | '`'),
    };
    let upper = ascii == Ascii::Upper || html == Html::Upper;
    if !short.is_empty() {
        out.extend_from_slice(short.as_bytes());
    } else if letter < ' ' || in_html || (!letter.is_ascii() && ascii != Ascii::Raw) {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let escape = if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
            out.extend_from_slice(escape.as_bytes());
        }
    } else {
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
}
