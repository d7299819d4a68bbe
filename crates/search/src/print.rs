//! Writes a query as text that reads as the same query.

use std::fmt;

use crate::{
    Compared, Pattern, Query, Term, Test,
    keys::Kind,
    spans::{LATENCY, RESPONSE, SIZE},
};

impl fmt::Display for Query {
    /// Writes the terms with spaces between them. Text that was typed in another way is written in one way: times as
    /// RFC 3339, bounds as inclusive ones. The tests of a term must all be of one key, as those that were parsed are.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, term) in self.terms.iter().enumerate() {
            write!(out, "{}{term}", if place > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.any.first().map(key).unwrap_or_default();
        let values: Vec<_> = self.any.iter().map(value).collect();
        write!(out, "{}{key}{}", if self.negated { "-" } else { "" }, values.join(","))
    }
}

fn key(test: &Test) -> String {
    let kind = match test {
        Test::Text(_) | Test::Number(_) => return String::new(),
        Test::Header(name, _) => return format!("header.{name}:"),
        Test::Body(body) => return format!("body.{}:", pointer(&body.at.0)),
        Test::Word(key, _) => Kind::Word(*key),
        Test::Verdict(_) => Kind::Verdict,
        Test::Status(_) => Kind::Status,
        Test::Via(_) => Kind::Via,
        Test::Is(_) => Kind::Is,
        Test::Size(_) => Kind::Size,
        Test::Response(_) => Kind::Response,
        Test::Latency(_) => Kind::Latency,
        Test::Received { from: Some(_), .. } => Kind::After,
        Test::Received { .. } => Kind::Before,
    };
    kind.name().to_owned()
}

fn value(test: &Test) -> String {
    match test {
        Test::Text(text) => words(text.folded()),
        Test::Header(_, like) | Test::Word(_, like) => pattern(like),
        Test::Body(body) => match &body.is {
            Compared::Like(like) => pattern(like),
            Compared::Above(number, equal) => {
                format!("{}{}", if *equal { ">=" } else { ">" }, number.as_str())
            }
            Compared::Below(number, equal) => {
                format!("{}{}", if *equal { "<=" } else { "<" }, number.as_str())
            }
        },
        Test::Verdict(_) | Test::Status(_) | Test::Via(_) | Test::Is(_) => fixed(test).to_owned(),
        Test::Size(span) => SIZE.write(*span),
        Test::Response(span) => RESPONSE.write(*span),
        Test::Latency(span) => LATENCY.write(*span),
        Test::Received { from: Some(from), to: Some(to) } => format!("{from} before:{to}"),
        Test::Received { from, to } => from.or(*to).unwrap_or_default().to_string(),
        Test::Number(span) if span.min == span.max => format!("#{}", span.min),
        Test::Number(span) => format!("#{}..#{}", span.min, span.max),
    }
}

/// Returns the name of a fixed word.
fn fixed(test: &Test) -> &'static str {
    let all =
        [Kind::Verdict, Kind::Status, Kind::Via, Kind::Is].into_iter().filter_map(Kind::words).flatten();
    all.into_iter().find(|(_, word)| word == test).map_or("", |(name, _)| name)
}

fn pointer(text: &str) -> String {
    let is_part = |letter: char| letter.is_whitespace() || matches!(letter, ':' | '<' | '>' | '"');
    if text.contains(is_part) { quoted(text) } else { text.to_owned() }
}

fn pattern(pattern: &Pattern) -> String {
    if pattern.as_str().is_empty() {
        return "\"\"".to_owned();
    }
    let needs_quotes = |piece: &str| {
        piece.starts_with(['<', '>'])
            || piece.contains(|letter: char| letter.is_whitespace() || matches!(letter, ',' | '"' | '*'))
    };
    let pieces = pattern.typed_pieces();
    let pieces: Vec<_> =
        pieces.map(|piece| if needs_quotes(piece) { quoted(piece) } else { piece.to_owned() }).collect();
    pieces.join("*")
}

/// Writes a text without a key. What could be read as anything else is quoted.
fn words(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | '@');
    let is_safe = !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain);
    if is_safe { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
