//! Asks a query of one chunk.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::{
    bits::{Bits, CHUNK},
    chunk,
    column::{Column, Values},
    error::IndexError,
    lookup::Lookup,
    plan::{Clause, Plan, Wish},
};

/// What is known of the answer: the events that are in it, and those that may be.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) sure: Bits,
    pub(crate) maybe: Bits,
}

impl Found {
    fn exactly(bits: Bits) -> Self {
        Self { sure: bits.clone(), maybe: bits }
    }

    fn perhaps(bits: Bits) -> Self {
        Self { sure: Bits::none(), maybe: bits }
    }

    fn or(&mut self, other: &Self) {
        self.sure.or(&other.sure);
        self.maybe.or(&other.maybe);
    }

    fn and(&mut self, other: &Self) {
        self.sure.and(&other.sure);
        self.maybe.and(&other.maybe);
    }

    /// An event that may be found may also be missing, so what is sure and what may be change places.
    fn not(self) -> Self {
        let (mut sure, mut maybe) = (Bits::all(), Bits::all());
        sure.and_not(&self.maybe);
        maybe.and_not(&self.sure);
        Self { sure, maybe }
    }
}

/// A stored chunk that is searched. Only the columns that a query needs are read.
pub(crate) struct Searched<'a> {
    db: &'a Connection,
    number: i64,
    present: Bits,
    columns: HashMap<Column, Values>,
}

impl<'a> Searched<'a> {
    pub(crate) fn read(db: &'a Connection, number: i64) -> Result<Self, IndexError> {
        let missing = || IndexError::Damaged(format!("chunk {number} has no set of events"));
        let present = chunk::present(db, number)?.ok_or_else(missing)?;
        Ok(Self { db, number, present, columns: HashMap::new() })
    }

    /// Returns the events of `within` that a query finds. `lookup` keeps what it learns from chunk to chunk.
    pub(crate) fn find(
        &mut self,
        plan: &Plan,
        lookup: &mut Lookup,
        within: &Bits,
    ) -> Result<Found, IndexError> {
        self.present.and(within);
        let mut found = Found::exactly(self.present.clone());
        let mut clauses: Vec<_> = plan.clauses.iter().collect();
        clauses.sort_by_key(|clause| frequency(clause, lookup));
        for clause in clauses {
            if found.maybe.is_empty() {
                break;
            }
            let clause = self.clause(clause, lookup, &found.maybe)?;
            found.and(&clause);
        }
        Ok(found)
    }

    /// Returns the events that a clause finds. What it says of those that aren't `within` is of no interest.
    fn clause(&mut self, clause: &Clause, lookup: &mut Lookup, within: &Bits) -> Result<Found, IndexError> {
        let mut found = Found::exactly(Bits::none());
        for wish in &clause.any {
            found.or(&self.wish(wish, lookup, within)?);
        }
        Ok(if clause.negated { found.not() } else { found })
    }

    fn wish(&mut self, wish: &Wish, lookup: &mut Lookup, within: &Bits) -> Result<Found, IndexError> {
        Ok(match wish {
            Wish::Word(column, numbers) => {
                let values = self.values(*column)?;
                Found {
                    sure: values.passing(|number| numbers.contain(number)),
                    maybe: values.passing(|number| numbers.may_contain(number)),
                }
            }
            Wish::Within(column, bounds) => {
                Found::exactly(self.values(*column)?.passing(|value| bounds.contains(&value)))
            }
            Wish::Marked(bit) => {
                let bit = i64::from(*bit);
                Found::exactly(self.values(Column::Marks)?.passing(|marks| marks & bit != 0))
            }
            Wish::Took(bounds) => {
                let mut maybe = self.values(Column::Slowest)?.passing(|took| took >= *bounds.start());
                maybe.and(&self.values(Column::Fastest)?.passing(|took| took <= *bounds.end()));
                Found::perhaps(maybe)
            }
            Wish::Seq(bounds) => {
                Found::exactly(slots(self.number, *bounds.start(), bounds.end().saturating_add(1)))
            }
            Wish::Text(text) => Found::perhaps(lookup.text(self.db, self.number, text, within)?),
            Wish::Unknown => Found::perhaps(Bits::all()),
        })
    }

    fn values(&mut self, column: Column) -> Result<&Values, IndexError> {
        use std::collections::hash_map::Entry::{Occupied, Vacant};
        Ok(match self.columns.entry(column) {
            Occupied(values) => values.into_mut(),
            Vacant(place) => place.insert(chunk::values(self.db, self.number, column)?),
        })
    }
}

/// How many events of a chunk have the texts of a clause, as far as that is known: a rare text leaves little to be looked
/// up of the others.
fn frequency(clause: &Clause, lookup: &Lookup) -> usize {
    let texts =
        clause.any.iter().filter_map(|wish| if let Wish::Text(text) = wish { Some(text) } else { None });
    texts.map(|text| lookup.frequency(text)).sum()
}

/// Returns the slots of a chunk whose sequence numbers are from `first` to before `end`.
pub(crate) fn slots(chunk: i64, first: i64, end: i64) -> Bits {
    let slot = |seq: i64| {
        let slot = seq.saturating_sub(chunk::seq(chunk, 0)).clamp(0, CHUNK as i64);
        usize::try_from(slot).unwrap_or(0)
    };
    Bits::between(slot(first), slot(end))
}
