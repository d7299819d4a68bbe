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

/// For how many events the frequency of a gram stands, before it is seen how many it rules out.
const GUESSED: usize = 64;

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
    /// How many events were left before it was looked up, and how many of those had it.
    before: usize,
    after: usize,
}

impl Sought {
    const fn new(gram: Gram) -> Self {
        Self { gram, found: 0, asked: 0, before: 0, after: 0 }
    }

    /// Removes the slots from `left` whose texts in a run don't have the gram.
    fn narrow(&mut self, db: &Connection, run: &Run, left: &mut Bits) -> Result<(), IndexError> {
        let slots = run.slots(db, self.gram)?;
        self.found += slots.len();
        self.asked += 1;
        self.before += left.len();
        left.and(&slots);
        self.after += left.len();
        Ok(())
    }

    /// How frequent it is, as far as that is known. Those that were passed over are less often asked, not rarer.
    fn frequency(&self) -> usize {
        self.found / self.asked.max(1)
    }

    /// Whether to look it up costs less than to verify the events that probably don't have it, of so many. Grams of one
    /// word come together: so what it ruled out before counts, and as long as that is little, how frequent it is.
    fn pays(&self, left: usize) -> bool {
        let lacking = CHUNK.saturating_sub(self.frequency()) * GUESSED / CHUNK + self.before - self.after;
        left > 0 && (self.asked == 0 || left * lacking * LOOKUPS > GUESSED + self.before)
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
        let first = || grams::of(text).into_iter().map(Sought::new).collect();
        let sought = self.texts.entry(text.to_owned()).or_insert_with(first);
        sought.sort_by_key(Sought::frequency);
        let (mut maybe, mut uncovered) = (Bits::none(), Bits::all());
        for run in runs::of_chunk(db, chunk)? {
            let mut has_all = run.cover.clone();
            has_all.and(within);
            for sought in sought.iter_mut().take(MOST) {
                if sought.pays(has_all.len()) {
                    sought.narrow(db, &run, &mut has_all)?;
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
