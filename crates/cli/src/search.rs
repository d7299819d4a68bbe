//! A search as it is typed: `source:shop verdict:invalid "two words"`. Its names are those of the page's search.

use std::{ops::Range, str::FromStr};

use hookmitt_event::{EventStatus, Plain, Slug, Verdict};

use crate::client::Address;

/// The names that a term may have.
const NAMES: &str = "source:, type:, verdict: and status:";

/// Which events are searched for. Without any term, all are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Search {
    /// The source.
    pub(crate) source: Option<Slug>,
    kind: Option<String>,
    verdict: Option<Verdict>,
    status: Option<EventStatus>,
    /// The words without a name. They are looked for as one text, as in the page.
    text: Option<String>,
}

impl Search {
    /// Adds the search to the address of a list.
    pub(crate) fn narrow(&self, address: Address) -> Address {
        address
            .with("source", self.source.as_ref().map(Slug::as_str))
            .with("type", self.kind.as_deref())
            .with("verdict", self.verdict.map(Verdict::as_str))
            .with("status", self.status.map(EventStatus::as_str))
            .with("q", self.text.as_deref())
    }

    fn add(&mut self, term: &Term<'_>) -> Result<(), String> {
        let value = term.value.as_str();
        match term.name {
            None => {
                let text = self.text.get_or_insert_default();
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(value);
                Ok(())
            }
            Some("source") => set(&mut self.source, term, value.parse().map_err(|error| format!("{error}"))),
            Some("type") => set(&mut self.kind, term, Ok(value.to_owned())),
            Some("verdict") => set(&mut self.verdict, term, value.parse()),
            Some("status") => set(&mut self.status, term, value.parse()),
            Some(other) => {
                Err(format!("there is no filter {other}: here; use {NAMES}, or put the text in quotes"))
            }
        }
    }
}

/// Sets the value of a term that may be there once.
fn set<T>(place: &mut Option<T>, term: &Term<'_>, value: Result<T, String>) -> Result<(), String> {
    let name = term.name.unwrap_or_default();
    if term.value.is_empty() {
        return Err(format!("{name}: needs a value"));
    }
    if place.is_some() {
        return Err(format!("{name}: is used twice"));
    }
    *place = Some(value.map_err(|why| format!("{}: {why}", term.value))?);
    Ok(())
}

impl FromStr for Search {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut search = Self::default();
        for place in terms(text) {
            let column = text[..place.start].chars().count() + 1;
            let wrong = |why: String| format!("column {column}: {}", Plain(&why));
            search.add(&Term::read(&text[place]).map_err(wrong)?).map_err(wrong)?;
        }
        Ok(search)
    }
}

/// A part of a search: `verdict:invalid`, or a word without a name.
struct Term<'t> {
    name: Option<&'t str>,
    value: String,
}

impl<'t> Term<'t> {
    fn read(text: &'t str) -> Result<Self, String> {
        if text.starts_with('-') {
            return Err("- isn't supported here; put the text in quotes to search for it".to_owned());
        }
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_' | b'-'))
        };
        let named = text.split_once(':').filter(|(name, value)| is_name(name) && !value.starts_with("//"));
        let (name, value) = named.map_or((None, text), |(name, value)| (Some(name), value));
        Ok(Self { name, value: unquoted(value)? })
    }
}

/// Returns the places of the terms: they are parted by blanks, except within quotes.
fn terms(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), None);
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        if letter.is_whitespace() && !quoted {
            found.extend(start.take().map(|start| start..at));
            continue;
        }
        start.get_or_insert(at);
        quoted ^= letter == '"' && !escaped;
        escaped = letter == '\\' && quoted && !escaped;
    }
    found.extend(start.map(|start| start..text.len()));
    found
}

/// Removes the quotes around a value, and the backslash before each letter in it that has one.
fn unquoted(value: &str) -> Result<String, String> {
    let Some(inner) = value.strip_prefix('"') else { return Ok(value.to_owned()) };
    let (mut text, mut letters) = (String::with_capacity(inner.len()), inner.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' if letters.as_str().is_empty() => return Ok(text),
            '"' => return Err("a space is missing after the quotes".to_owned()),
            '\\' => text.extend(letters.next()),
            other => text.push(other),
        }
    }
    Err("the quotes aren't closed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_and_words_become_what_a_list_is_asked_for() {
        let search: Search =
            r#"source:shop verdict:invalid pay "two  \"words\"" type:"a b" status:dead_letter http://x"#
                .parse()
                .unwrap();
        let expected = Search {
            source: Some("shop".parse().unwrap()),
            kind: Some("a b".to_owned()),
            verdict: Some(Verdict::Invalid),
            status: Some(EventStatus::DeadLetter),
            text: Some("pay two  \"words\" http://x".to_owned()),
        };
        assert_eq!(search, expected);
        assert_eq!("  ".parse(), Ok(Search::default()));
        assert_eq!("\"source:x\"".parse::<Search>().unwrap().text.as_deref(), Some("source:x"));
    }

    #[test]
    fn an_error_names_its_column() {
        for (typed, said) in [
            ("ö verdict:good", "column 3: good: not a verdict: use one of valid,"),
            ("a  b path:/x", "column 6: there is no filter path: here; use source:,"),
            ("type:", "column 1: type: needs a value"),
            ("source:a source:b", "column 10: source: is used twice"),
            ("source:A", "column 1: A: "),
            ("-push", "column 1: - isn't supported here"),
            ("x \"y z", "column 3: the quotes aren't closed"),
            ("\"x\"y", "column 1: a space is missing after the quotes"),
        ] {
            let error = typed.parse::<Search>().unwrap_err();
            assert!(error.starts_with(said), "{typed}: {error}");
        }
    }

    #[test]
    fn threat_2_a_hostile_search_is_escaped_where_it_is_repeated() {
        let error = "type:\u{1b} verdict:\u{1b}[2J".parse::<Search>().unwrap_err();
        assert!(error.contains(r"\u{1b}[2J") && !error.contains('\u{1b}'), "{error}");
    }
}
