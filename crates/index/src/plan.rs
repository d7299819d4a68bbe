//! A query, made ready to be asked of one chunk after another.

use std::ops::RangeInclusive;

use hookmitt_search::{Mark, Pattern, Query, Span, Term, Test, WordKey};
use rusqlite::Connection;

use crate::{
    column::Column,
    entry::bit,
    error::IndexError,
    words::{self, ANY},
};

/// A query: all of its clauses must hold.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The clauses, the cheapest first.
    pub(crate) clauses: Vec<Clause>,
}

/// One of the wishes must hold, or none.
#[derive(Debug)]
pub(crate) struct Clause {
    pub(crate) negated: bool,
    pub(crate) any: Vec<Wish>,
}

/// What the index can tell of an event.
#[derive(Debug)]
pub(crate) enum Wish {
    /// The column has one of these words.
    Word(Column, Numbers),
    /// The column's value is within these bounds.
    Within(Column, RangeInclusive<i64>),
    /// The event has one of these marks.
    Marked(u16),
    /// A last attempt may have taken so many milliseconds.
    Took(RangeInclusive<i64>),
    /// The sequence number is within these bounds.
    Seq(RangeInclusive<i64>),
    /// The event's text may contain this one.
    Text(String),
    /// Only the event itself tells.
    Unknown,
}

/// The numbers of the words that match.
#[derive(Debug, Default)]
pub(crate) struct Numbers(Vec<u64>);

impl Numbers {
    fn insert(&mut self, number: i64) {
        let number = usize::try_from(number).unwrap_or(0);
        if self.0.len() <= number / 64 {
            self.0.resize(number / 64 + 1, 0);
        }
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// Whether a word matches.
    pub(crate) fn contain(&self, number: i64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|place| self.0.get(place));
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Whether a word may match.
    pub(crate) fn may_contain(&self, number: i64) -> bool {
        number == ANY || self.contain(number)
    }
}

impl Plan {
    /// Makes a query ready. Looks up the words that match its patterns.
    pub(crate) fn new(db: &Connection, query: &Query) -> Result<Self, IndexError> {
        let mut clauses = query.terms.iter().map(|term| clause(db, term)).collect::<Result<Vec<_>, _>>()?;
        // Events in the bin are found only by who asks for them.
        if !query.wants_deleted() {
            clauses.push(Clause { negated: true, any: vec![Wish::Marked(bit(Mark::Deleted))] });
        }
        clauses.sort_by_key(|clause| clause.any.iter().any(|wish| matches!(wish, Wish::Text(_))));
        Ok(Self { clauses })
    }
}

fn clause(db: &Connection, term: &Term) -> Result<Clause, IndexError> {
    let any = term.any.iter().map(|test| wish(db, test)).collect::<Result<_, _>>()?;
    Ok(Clause { negated: term.negated, any })
}

fn wish(db: &Connection, test: &Test) -> Result<Wish, IndexError> {
    let exactly = |column, value: i64| Wish::Within(column, value..=value);
    Ok(match test {
        Test::Word(key, pattern) => word(db, *key, pattern)?,
        Test::Verdict(verdict) => exactly(Column::Verdict, *verdict as i64),
        Test::Status(status) => exactly(Column::Status, *status as i64),
        Test::Via(via) => exactly(Column::Via, *via as i64),
        Test::Is(mark) => Wish::Marked(bit(*mark)),
        Test::Size(span) => Wish::Within(Column::Size, signed(*span)),
        Test::Response(span) => answered(db, *span)?,
        Test::Latency(Span { min, max }) => Wish::Took(signed(Span { min: min / 1_000, max: max / 1_000 })),
        Test::Received { from, to } => {
            let from = from.map_or(i64::MIN, |from| from.as_micros());
            let to = to.map_or(i64::MAX, |to| to.as_micros().saturating_sub(1));
            Wish::Within(Column::Received, from..=to)
        }
        Test::Number(span) => Wish::Seq(signed(*span)),
        Test::Text(text) => Wish::Text(text.folded().to_owned()),
        Test::Header(..) | Test::Body(_) => Wish::Unknown,
    })
}

fn word(db: &Connection, key: WordKey, pattern: &Pattern) -> Result<Wish, IndexError> {
    let (column, mut numbers) = (column_of(key), Numbers::default());
    words::each(db, column, |number, word, _| {
        let matches = match key {
            WordKey::Target | WordKey::Tag => words::split(word).any(|word| pattern.finds(key, word)),
            _ => pattern.finds(key, word),
        };
        if matches {
            numbers.insert(number);
        }
    })?;
    Ok(Wish::Word(column, numbers))
}

fn answered(db: &Connection, span: Span) -> Result<Wish, IndexError> {
    let mut numbers = Numbers::default();
    words::each(db, Column::Answers, |number, word, _| {
        let mut answers = words::split(word).filter_map(|answer| answer.parse::<u64>().ok());
        if answers.any(|answer| (span.min..=span.max).contains(&answer)) {
            numbers.insert(number);
        }
    })?;
    Ok(Wish::Word(Column::Answers, numbers))
}

/// Returns the column in which the words of a key are.
pub(crate) fn column_of(key: WordKey) -> Column {
    match key {
        WordKey::Source => Column::Source,
        WordKey::Type => Column::Type,
        WordKey::Provider => Column::Provider,
        WordKey::Target => Column::Targets,
        WordKey::Method => Column::Method,
        WordKey::Path => Column::Path,
        WordKey::Tag => Column::Tags,
    }
}

/// Columns hold signed numbers. A bound above all of them stays above all of them.
fn signed(span: Span) -> RangeInclusive<i64> {
    let bound = |number| i64::try_from(number).unwrap_or(i64::MAX);
    bound(span.min)..=bound(span.max)
}
