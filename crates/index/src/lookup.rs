//! Looks for texts, chunk by chunk.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::{
    bits::{Bits, CHUNK},
    error::IndexError,
    grams::{self, Gram},
    runs::{self, Run},
    sieve,
};

/// How many grams of a text are looked up at most, the rarest first.
const MOST: usize = 64;

/// How many grams can be looked up in the time that it takes to verify an event.
const LOOKUPS: usize = 10;

/// Looks for texts, and remembers which of their grams were rare.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    texts: HashMap<String, Vec<Sought>>,
}

#[derive(Debug)]
struct Sought {
    gram: Gram,
    /// How many events had it in the runs that were asked.
    found: usize,
    asked: usize,
}

impl Sought {
    fn slots(&mut self, db: &Connection, run: &Run) -> Result<Bits, IndexError> {
        let slots = run.slots(db, self.gram)?;
        self.found += slots.len();
        self.asked += 1;
        Ok(slots)
    }

    /// How frequent it is, as far as that is known. Those that were passed over are less often asked, not rarer.
    fn frequency(&self) -> usize {
        self.found / self.asked.max(1)
    }

    /// Whether to look it up costs less than to verify the events that probably don't have it, of so many.
    fn pays(&self, left: usize) -> bool {
        left > 0 && (self.asked == 0 || left * CHUNK.saturating_sub(self.frequency()) * LOOKUPS > CHUNK)
    }
}

impl Lookup {
    /// How many events of a chunk have the rarest gram of a text, in the mean; 0 if that isn't known yet.
    pub(crate) fn frequency(&self, text: &str) -> usize {
        let sought = self.texts.get(text).into_iter().flatten().filter(|sought| sought.asked > 0);
        sought.map(Sought::frequency).min().unwrap_or(0)
    }

    /// Returns the slots of a chunk, of those `within`, whose texts may contain a folded text.
    pub(crate) fn text(
        &mut self,
        db: &Connection,
        chunk: i64,
        text: &str,
        within: &Bits,
    ) -> Result<Bits, IndexError> {
        let first = || grams::of(text).into_iter().map(|gram| Sought { gram, found: 0, asked: 0 }).collect();
        let sought = self.texts.entry(text.to_owned()).or_insert_with(first);
        sought.sort_by_key(Sought::frequency);
        let (mut maybe, mut uncovered) = (Bits::none(), Bits::all());
        for run in runs::of_chunk(db, chunk)? {
            let mut has_all = run.cover.clone();
            has_all.and(within);
            for sought in sought.iter_mut().take(MOST) {
                if sought.pays(has_all.len()) {
                    has_all.and(&sought.slots(db, &run)?);
                }
            }
            maybe.or(&has_all);
            maybe.or(&run.full);
            uncovered.and_not(&run.cover);
        }
        maybe.or(&uncovered); // events whose texts were never given
        maybe.and(within);
        sieve::pass(db, chunk, text, &mut maybe)?;
        Ok(maybe)
    }
}
