//! Cuts a text into words: `-`, a key and the values between commas. It reads any text, also one that is half typed.

use std::ops::Range;

use crate::keys::{self, Kind};

/// A term as it was typed.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) place: Range<usize>,
    pub(crate) negated: bool,
    pub(crate) key: Option<TypedKey>,
    /// Where the values stand.
    pub(crate) rest: Range<usize>,
    /// The values; at least one, which may be empty.
    pub(crate) values: Vec<Value>,
    /// Where quotes open that are not closed.
    pub(crate) open: Option<usize>,
}

/// A key as it was typed.
#[derive(Debug)]
pub(crate) struct TypedKey {
    /// Where it stands, with its colon if it has one.
    pub(crate) place: Range<usize>,
    /// What it asks about, if there is such a key.
    pub(crate) kind: Option<Kind>,
    /// The key as it was typed, with its colon if it has one.
    pub(crate) typed: String,
    /// The header's name or the pointer, without quotes.
    pub(crate) argument: String,
}

/// A value as it was typed.
#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) place: Range<usize>,
    /// The value without quotes.
    pub(crate) text: String,
    /// The places in `text` of the stars that are not in quotes.
    pub(crate) stars: Vec<usize>,
    /// Whether a part of it is in quotes.
    pub(crate) quoted: bool,
}

/// Cuts a text into words.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut reader = Reader { text, at: 0, open: None };
    let mut words = Vec::new();
    while let Some(start) = text[reader.at..].find(|letter: char| !letter.is_whitespace()) {
        reader.at += start;
        words.push(reader.word());
    }
    words
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    open: Option<usize>,
}

impl<'t> Reader<'t> {
    fn left(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.left().chars().next()
    }

    /// Steps over a letter if it comes next.
    fn takes(&mut self, letter: char) -> bool {
        let is_next = self.peek() == Some(letter);
        self.at += if is_next { letter.len_utf8() } else { 0 };
        is_next
    }

    fn word(&mut self) -> Word {
        let start = self.at;
        let negated = self.takes('-') && self.peek().is_some_and(|letter| !letter.is_whitespace());
        self.at = start + usize::from(negated);
        let key = self.key();
        let mut rest = self.at..self.at;
        let mut values = vec![self.value()];
        while self.takes(',') {
            values.push(self.value());
        }
        rest.end = self.at;
        Word { place: start..self.at, negated, key, rest, values, open: self.open.take() }
    }

    fn key(&mut self) -> Option<TypedKey> {
        let start = self.at;
        let stem = ["body.", "header."]
            .into_iter()
            .find(|stem| self.left().get(..stem.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(stem)));
        let found = match stem {
            Some(stem) => {
                self.at += stem.len();
                self.argument(keys::find(stem))
            }
            None => self.plain_key(),
        };
        if found.is_none() {
            (self.at, self.open) = (start, None);
        }
        let (kind, argument) = found?;
        let place = start..self.at;
        Some(TypedKey { typed: self.text[place.clone()].to_owned(), place, kind, argument })
    }

    /// Reads the header's name or the pointer, and the colon.
    fn argument(&mut self, kind: Option<Kind>) -> Option<(Option<Kind>, String)> {
        let mut argument = String::new();
        let is_end = |letter: char| letter.is_whitespace() || matches!(letter, ':' | '<' | '>' | '"');
        if kind == Some(Kind::Body) && self.peek() == Some('"') {
            self.quoted(&mut argument);
        } else {
            let end = self.left().find(is_end).unwrap_or(self.left().len());
            argument.push_str(&self.left()[..end]);
            self.at += end;
        }
        let is_compared = kind == Some(Kind::Body) && matches!(self.peek(), Some('<' | '>'));
        (self.takes(':') || is_compared || self.open.is_some()).then_some((kind, argument))
    }

    /// Reads a key that has no argument. `http://` is none.
    fn plain_key(&mut self) -> Option<(Option<Kind>, String)> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        let name = self.left().split_once(':').map(|(name, _)| name)?;
        if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) || !name.chars().all(is_part) {
            return None;
        }
        let (typed, after) = self.left().split_at(name.len() + 1);
        let kind = keys::find(typed);
        if kind.is_none() && after.starts_with("//") {
            return None;
        }
        self.at += typed.len();
        Some((kind, String::new()))
    }

    fn value(&mut self) -> Value {
        let start = self.at;
        let (mut text, mut stars, mut quoted) = (String::new(), Vec::new(), false);
        while let Some(letter) = self.peek().filter(|letter| !letter.is_whitespace() && *letter != ',') {
            if letter == '"' {
                quoted = true;
                self.quoted(&mut text);
                continue;
            }
            if letter == '*' {
                stars.push(text.len());
            }
            text.push(letter);
            self.at += letter.len_utf8();
        }
        Value { place: start..self.at, text, stars, quoted }
    }

    /// Reads what is in quotes. In them, `\"` and `\\` stand for a quote and a backslash.
    fn quoted(&mut self, out: &mut String) {
        let start = self.at;
        self.takes('"');
        while let Some(letter) = self.peek() {
            self.at += letter.len_utf8();
            match letter {
                '"' => return,
                '\\' if self.takes('"') => out.push('"'),
                '\\' if self.takes('\\') => out.push('\\'),
                other => out.push(other),
            }
        }
        self.open = Some(start);
    }
}
