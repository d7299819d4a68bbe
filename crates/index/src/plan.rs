//! A query, made ready to be asked of one chunk after another.

use std::{
    ops::RangeInclusive,
    time::{Duration, Instant},
};

use hookmitt_search::{Mark, Pattern, Query, Span, Term, Test, WordKey, fold};
use rusqlite::Connection;

use crate::{
    column::Column,
    entry::bit,
    error::IndexError,
    words::{self, ANY},
};

/// How long words are looked at before the rest counts as perhaps matching.
const LONG: Duration = Duration::from_millis(60);

/// After how many words the clock is read.
const WORDS: usize = 256;

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
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    bits: Vec<u64>,
    /// Words from this number on were not looked at.
    unknown: i64,
}

impl Numbers {
    const fn none() -> Self {
        Self { bits: Vec::new(), unknown: i64::MAX }
    }

    fn insert(&mut self, number: i64) {
        let number = usize::try_from(number).unwrap_or(0);
        if self.bits.len() <= number / 64 {
            self.bits.resize(number / 64 + 1, 0);
        }
        self.bits[number / 64] |= 1 << (number % 64);
    }

    /// Whether a word matches.
    pub(crate) fn contain(&self, number: i64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|place| self.bits.get(place));
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Whether a word may match.
    pub(crate) fn may_contain(&self, number: i64) -> bool {
        number == ANY || number >= self.unknown || self.contain(number)
    }
}

/// What a query asks of the words of a column.
enum Asked<'a> {
    Pattern(WordKey, &'a Pattern),
    Answer(Span),
}

impl Asked<'_> {
    fn column(&self) -> Column {
        match self {
            Self::Pattern(key, _) => column_of(*key),
            Self::Answer(_) => Column::Answers,
        }
    }

    /// Whether a word, or one of a set, is what is asked for.
    fn finds(&self, word: &str) -> bool {
        match self {
            Self::Pattern(key @ (WordKey::Target | WordKey::Tag), pattern) => {
                words::split(word).any(|word| pattern.finds(*key, word))
            }
            Self::Pattern(key, pattern) => pattern.finds(*key, word),
            Self::Answer(span) => {
                let mut answers = words::split(word).filter_map(|answer| answer.parse::<u64>().ok());
                answers.any(|answer| (span.min..=span.max).contains(&answer))
            }
        }
    }
}

impl Plan {
    /// Makes a query ready. Looks up the words that match its patterns, for [`LONG`] at most.
    pub(crate) fn new(db: &Connection, query: &Query) -> Result<Self, IndexError> {
        Self::within(db, query, Instant::now() + LONG)
    }

    fn within(db: &Connection, query: &Query, end: Instant) -> Result<Self, IndexError> {
        let tests = query.terms.iter().flat_map(|term| &term.any);
        let mut matching = matching(db, &tests.filter_map(asked).collect::<Vec<_>>(), end)?.into_iter();
        let clause = |term: &Term| {
            let any = term.any.iter().map(|test| wish(test, &mut matching)).collect();
            Clause { negated: term.negated, any }
        };
        let mut clauses: Vec<_> = query.terms.iter().map(clause).collect();
        // Events in the bin are found only by who asks for them.
        if !query.wants_deleted() {
            clauses.push(Clause { negated: true, any: vec![Wish::Marked(bit(Mark::Deleted))] });
        }
        clauses.sort_by_key(|clause| clause.any.iter().any(|wish| matches!(wish, Wish::Text(_))));
        Ok(Self { clauses })
    }
}

fn asked(test: &Test) -> Option<Asked<'_>> {
    match test {
        Test::Word(key, pattern) => Some(Asked::Pattern(*key, pattern)),
        Test::Response(span) => Some(Asked::Answer(*span)),
        _ => None,
    }
}

/// Returns the words that match each of what is asked. Each column's words are read once.
fn matching(db: &Connection, asked: &[Asked<'_>], end: Instant) -> Result<Vec<Numbers>, IndexError> {
    let mut all = vec![Numbers::none(); asked.len()];
    for column in Column::WORDS {
        let mut here: Vec<_> =
            asked.iter().zip(&mut all).filter(|(asked, _)| asked.column() == column).collect();
        if here.is_empty() {
            continue;
        }
        let mut seen = 0;
        words::each(db, column, |number, word, _| {
            if seen % WORDS == 0 && Instant::now() >= end {
                here.iter_mut().for_each(|(_, numbers)| numbers.unknown = number);
                return false;
            }
            seen += 1;
            let word = fold(word);
            for (_, numbers) in here.iter_mut().filter(|(asked, _)| asked.finds(&word)) {
                numbers.insert(number);
            }
            true
        })?;
    }
    Ok(all)
}

/// `matching` has the words of the tests that ask for some, in their order.
fn wish(test: &Test, matching: &mut impl Iterator<Item = Numbers>) -> Wish {
    let exactly = |column, value: i64| Wish::Within(column, value..=value);
    match test {
        Test::Word(..) | Test::Response(_) => {
            let column = asked(test).map(|asked| asked.column());
            column.zip(matching.next()).map_or(Wish::Unknown, |(column, numbers)| Wish::Word(column, numbers))
        }
        Test::Verdict(verdict) => exactly(Column::Verdict, *verdict as i64),
        Test::Status(status) => exactly(Column::Status, *status as i64),
        Test::Via(via) => exactly(Column::Via, *via as i64),
        Test::Is(mark) => Wish::Marked(bit(*mark)),
        Test::Size(span) => Wish::Within(Column::Size, signed(*span)),
        Test::Latency(Span { min, max }) => Wish::Took(signed(Span { min: min / 1_000, max: max / 1_000 })),
        Test::Received { from, to } => {
            let from = from.map_or(i64::MIN, |from| from.as_micros());
            let to = to.map_or(i64::MAX, |to| to.as_micros().saturating_sub(1));
            Wish::Within(Column::Received, from..=to)
        }
        Test::Number(span) => Wish::Seq(signed(*span)),
        Test::Text(text) => Wish::Text(text.folded().to_owned()),
        Test::Header(..) | Test::Body(_) => Wish::Unknown,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Index, life_tests};

    #[test]
    fn words_that_were_not_looked_at_in_time_may_match_and_surely_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::open(folder.path(), "a").unwrap();
        life_tests::fill(&index, 3_000);
        let db = Connection::open(folder.path().join("search.db")).unwrap();
        for (end, sure, maybe) in [(LONG, 3, 3), (Duration::ZERO, 0, 4)] {
            let query = life_tests::path("/special/*");
            let plan = Plan::within(&db, &query, Instant::now() + end).unwrap();
            let Wish::Word(_, numbers) = &plan.clauses[0].any[0] else { panic!("{plan:?}") };
            let count = |holds: &dyn Fn(i64) -> bool| (2..6).filter(|number| holds(*number)).count();
            assert_eq!(count(&|number| numbers.contain(number)), sure);
            assert_eq!(count(&|number| numbers.may_contain(number)), maybe);
        }
    }
}
