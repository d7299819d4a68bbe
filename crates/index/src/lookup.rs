//! Looks for texts, chunk by chunk.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::{
    bits::Bits,
    error::IndexError,
    grams::{self, Gram},
    runs,
};

/// How many grams of a text are looked up at most, the rarest first.
const MOST: usize = 64;

/// Looks for texts, and remembers which of their grams were rare.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    texts: HashMap<String, Vec<Sought>>,
}

#[derive(Debug)]
struct Sought {
    gram: Gram,
    /// In how many events of the chunks so far it was.
    found: usize,
}

impl Lookup {
    /// Returns the slots of a chunk whose texts may contain a folded text.
    pub(crate) fn text(&mut self, db: &Connection, chunk: i64, text: &str) -> Result<Bits, IndexError> {
        let first = || grams::of(text).into_iter().map(|gram| Sought { gram, found: 0 }).collect();
        let sought = self.texts.entry(text.to_owned()).or_insert_with(first);
        sought.sort_by_key(|sought| sought.found);
        let (mut maybe, mut uncovered) = (Bits::none(), Bits::all());
        for run in runs::of_chunk(db, chunk)? {
            let mut has_all = run.cover.clone();
            for sought in sought.iter_mut().take(MOST) {
                let slots = run.slots(db, sought.gram)?;
                sought.found += slots.len();
                has_all.and(&slots);
                if has_all.is_empty() {
                    break;
                }
            }
            maybe.or(&has_all);
            maybe.or(&run.full);
            uncovered.and_not(&run.cover);
        }
        maybe.or(&uncovered); // events whose texts were never given
        Ok(maybe)
    }
}
