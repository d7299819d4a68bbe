//! Reads a query from text.

use hookmitt_event::{Timestamp, is_token};
use jiff::tz::TimeZone;

use crate::{
    Body, Compared, Number, Pattern, Pointer, Query, SearchError, Term, Test, Text,
    fault::{Fault, shown},
    keys::Kind,
    moments::moment,
    spans::{LATENCY, RESPONSE, SIZE, numbers},
    words::{TypedKey, Value, Word, words},
};

impl Query {
    /// How long a search may be, in bytes.
    pub const LONGEST: usize = 1_000;

    /// How many terms a search may have, and how many alternatives in all of them. A glob over fixed words counts for
    /// each word that it matches.
    pub const MOST: usize = 64;

    /// Reads a query. Times such as `2h` or `yesterday` are as of `now`, and dates are those of the local time zone.
    ///
    /// # Errors
    /// Fails at the first fault, with its place.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, SearchError> {
        read(text, &Reading { now: Some(now) })
    }

    /// Reads a rule, that is, a query that looks at nothing but the request: at its type, method, path, header lines,
    /// body and size.
    ///
    /// # Errors
    /// Fails at the first fault, with its place. A key that looks at anything else is one.
    pub fn parse_rule(text: &str) -> Result<Self, SearchError> {
        read(text, &Reading { now: None })
    }
}

/// How a text is read.
struct Reading {
    /// The time, unless the text is a rule.
    now: Option<Timestamp>,
}

fn read(text: &str, reading: &Reading) -> Result<Query, SearchError> {
    if text.len() > Query::LONGEST {
        let cut = text.floor_char_boundary(Query::LONGEST);
        return Err(Fault::new("The search is longer than 1,000 bytes.").at(text, cut..text.len()));
    }
    let mut query = Query::default();
    let mut alternatives = 0;
    for word in words(text) {
        let place = word.place.clone();
        let term = reading.term(&word).map_err(|(fault, place)| fault.at(text, place))?;
        alternatives += term.any.len();
        if query.terms.len() == Query::MOST || alternatives > Query::MOST {
            let many = format!("The search has more than {} terms or alternatives.", Query::MOST);
            return Err(Fault::new(many).at(text, place));
        }
        query.terms.push(term);
    }
    Ok(query)
}

type Placed = (Fault, std::ops::Range<usize>);

impl Reading {
    fn term(&self, word: &Word) -> Result<Term, Placed> {
        if let Some(open) = word.open {
            let fault =
                Fault::new("The quotes that open here aren’t closed.").hint("add a \" where they end");
            return Err((fault, open..word.place.end));
        }
        let mut any = Vec::new();
        match &word.key {
            Some(key) => {
                let kind = self.kind(key).map_err(|fault| (fault, key.place.clone()))?;
                for value in &word.values {
                    let tests = self.tests(kind, key, value).map_err(|fault| (fault, value.place.clone()))?;
                    any.extend(tests);
                }
            }
            None => any = self.texts(word)?,
        }
        let mut once: Vec<Test> = Vec::with_capacity(any.len());
        any.into_iter().for_each(|test| {
            if !once.contains(&test) {
                once.push(test)
            }
        });
        Ok(Term { negated: word.negated, any: once, place: word.place.clone() })
    }

    /// Reads what has no key: texts, and numbers of events.
    fn texts(&self, word: &Word) -> Result<Vec<Test>, Placed> {
        if self.now.is_none() {
            return Err((Fault::not_for_rules("search the full text"), word.place.clone()));
        }
        let is_empty = |value: &Value| value.text.is_empty();
        if word.values.iter().any(|value| is_empty(value) && value.quoted) {
            return Err((Fault::new("There is nothing between the quotes."), word.rest.clone()));
        }
        if word.values.iter().any(is_empty) {
            // A comma at an end is part of a sentence that was typed or pasted.
            let whole: Vec<_> = word.values.iter().map(|value| value.text.as_str()).collect();
            return Ok(vec![Test::Text(Text::new(&whole.join(",")))]);
        }
        let test = |value: &Value| match numbers(&value.text).filter(|_| !value.quoted) {
            Some(span) => span.map(Test::Number).map_err(|fault| (fault, value.place.clone())),
            None => Ok(Test::Text(Text::new(&value.text))),
        };
        word.values.iter().map(test).collect()
    }

    /// Returns what a key asks about, if it may be used and its argument is right.
    fn kind(&self, key: &TypedKey) -> Result<Kind, Fault> {
        let kind = key.kind.ok_or_else(|| Fault::unknown_key(&key.typed))?;
        if self.now.is_none() && !kind.is_of_request() {
            return Err(Fault::not_for_rules(&format!("use {}", kind.name())));
        }
        let name = key.argument.as_str();
        if kind == Kind::Header && (name.is_empty() || !name.bytes().all(is_token)) {
            let fault =
                Fault::new(format!("{} is no header name. Write it like header.User-Agent:.", shown(name)));
            return Err(fault);
        }
        if kind == Kind::Body && !is_pointer(name) {
            let fault = format!("{} is no JSON pointer. Write it like body./data/object/id:.", shown(name));
            return Err(Fault::new(fault));
        }
        Ok(kind)
    }

    fn tests(&self, kind: Kind, key: &TypedKey, value: &Value) -> Result<Vec<Test>, Fault> {
        if value.text.is_empty() && !value.quoted {
            let hint =
                if matches!(kind, Kind::Word(_) | Kind::Header | Kind::Body) { "use * for any" } else { "" };
            return Err(
                Fault::new(format!("A value is missing after {}", shown(&key.typed)) + ".").hint(hint)
            );
        }
        if let Some(words) = kind.words() {
            return fixed(kind, value, words);
        }
        let pattern = || Pattern::with_stars(&value.text, value.stars.clone());
        let now = self.now.unwrap_or_default();
        Ok(vec![match kind {
            Kind::Header => Test::Header(key.argument.clone(), pattern()),
            Kind::Body => {
                Test::Body(Body { at: Pointer(key.argument.clone()), is: compared(value, pattern)? })
            }
            Kind::Size => Test::Size(SIZE.read(&value.text)?),
            Kind::Response => Test::Response(RESPONSE.read(&value.text)?),
            Kind::Latency => Test::Latency(LATENCY.read(&value.text)?),
            Kind::After => {
                Test::Received { from: Some(moment(&value.text, now, &TimeZone::system())?), to: None }
            }
            Kind::Before => {
                Test::Received { from: None, to: Some(moment(&value.text, now, &TimeZone::system())?) }
            }
            Kind::Word(word) => Test::Word(word, pattern()),
            Kind::Verdict | Kind::Status | Kind::Via | Kind::Is => return Ok(Vec::new()),
        }])
    }
}

/// Reads one of a key's fixed words, or those that match a glob. `-` and `_` are the same in them.
fn fixed(kind: Kind, value: &Value, words: Vec<(&'static str, Test)>) -> Result<Vec<Test>, Fault> {
    let wanted = Pattern::with_stars(&value.text.replace('-', "_"), value.stars.clone());
    let names: Vec<_> = words.iter().map(|(name, _)| *name).collect();
    let found: Vec<_> =
        words.into_iter().filter(|(name, _)| wanted.matches(name)).map(|(_, test)| test).collect();
    if found.is_empty() { Err(Fault::unknown_word(kind, &value.text, &names)) } else { Ok(found) }
}

/// Reads how a part of the body must compare. What is in quotes is a text.
fn compared(value: &Value, pattern: impl Fn() -> Pattern) -> Result<Compared, Fault> {
    let (above, number) = match value.text.split_at_checked(1) {
        Some((">", rest)) if !value.quoted => (true, rest),
        Some(("<", rest)) if !value.quoted => (false, rest),
        _ => return Ok(Compared::Like(pattern())),
    };
    let (equal, number) = number.strip_prefix('=').map_or((false, number), |rest| (true, rest));
    let wrong = || {
        Fault::new(format!("{} is no number.", shown(number)))
            .hint("quote the value to search for it as text")
    };
    let number = Number::new(number).ok_or_else(wrong)?;
    Ok(if above { Compared::Above(number, equal) } else { Compared::Below(number, equal) })
}

/// Whether a text is a JSON pointer (RFC 6901).
fn is_pointer(text: &str) -> bool {
    let is_escaped = |rest: &str| rest.starts_with(['0', '1']);
    (text.is_empty() || text.starts_with('/')) && text.split('~').skip(1).all(is_escaped)
}
