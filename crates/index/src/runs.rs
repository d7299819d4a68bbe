//! Runs: the grams of some texts of a chunk, with the slots of the texts that have each gram.
//!
//! Each batch of texts makes a run, and runs of like size are merged into one, so that a batch costs no more than its
//! share. A text is in one run only, which *covers* its event. What a run's lists say of other events doesn't count: it
//! is left of texts that were removed or replaced, until the run is merged.

use std::{collections::BTreeMap, iter};

use rusqlite::{Connection, OptionalExtension as _};

use crate::{
    bits::{Bits, CHUNK},
    error::IndexError,
    grams::{Collected, Gram},
    postings,
    rows::{self, Table},
};

/// How many runs a chunk has at most.
const RUNS: i64 = 64;

/// This many runs of like size become one.
const ALIKE: usize = 16;

/// A chunk that gets no more new events may keep so many runs. A changed note makes one.
const FEW: i64 = 4;

/// How long a page's row may be, in bytes: two fit into a page of the file.
const PAGE: usize = 4_000;

/// So many pairs of grams and slots are held in memory at most, and the next text's.
const PAIRS: usize = 1_000_000;

/// A run, without its grams.
pub(crate) struct Run {
    id: i64,
    /// The events whose texts it has.
    pub(crate) cover: Bits,
    /// Those of them whose texts have too many grams, and so count as having all.
    pub(crate) full: Bits,
}

impl Run {
    fn new(id: i64) -> Self {
        Self { id, cover: Bits::none(), full: Bits::none() }
    }

    fn put(&self, db: &Connection) -> Result<(), IndexError> {
        rows::put(db, Table::Run, self.id, [self.cover.to_bytes(), self.full.to_bytes()].concat())
    }

    /// The rows of the run's pages.
    fn pages(&self) -> (i64, i64) {
        (self.id << 24, (self.id << 24) + 0xFF_FFFF)
    }

    fn delete(&self, db: &Connection) -> Result<(), IndexError> {
        rows::delete(db, Table::Gram, self.pages())?;
        rows::delete(db, Table::Run, (self.id, self.id))
    }

    /// Runs whose size is the same power of [`ALIKE`] are of like size.
    fn size(&self) -> u32 {
        self.cover.len().max(1).ilog(ALIKE)
    }

    /// Returns the slots whose texts have a gram. Those that are not covered don't count.
    pub(crate) fn slots(&self, db: &Connection, gram: Gram) -> Result<Bits, IndexError> {
        let (first, _) = self.pages();
        let page = rows::last(db, Table::Gram, (first, first + i64::from(gram)))?;
        let Some((id, page)) = page else { return Ok(Bits::none()) };
        let mut lists = lists(id, &page).skip_while(|(found, _)| *found < gram);
        Ok(match lists.next() {
            Some((found, list)) if found == gram => postings::to_bits(list),
            _ => Bits::none(),
        })
    }
}

/// Returns the runs of a chunk.
pub(crate) fn of_chunk(db: &Connection, chunk: i64) -> Result<Vec<Run>, IndexError> {
    let rows = rows::all(db, Table::Run, (chunk * RUNS, chunk * RUNS + RUNS - 1))?;
    let wrong = || IndexError::Damaged("a run has a wrong length".to_owned());
    let run = |(id, bytes): (i64, Vec<u8>)| {
        let (cover, full) = bytes.split_at_checked(bytes.len() / 2).ok_or_else(wrong)?;
        let (cover, full) = (Bits::from_bytes(cover), Bits::from_bytes(full));
        Ok(Run { id, cover: cover.ok_or_else(wrong)?, full: full.ok_or_else(wrong)? })
    };
    rows.into_iter().map(run).collect()
}

/// Ends the cover of some slots, whose texts were removed or are replaced. Returns of how many something stays stored.
pub(crate) fn uncover(db: &Connection, chunk: i64, slots: &Bits) -> Result<usize, IndexError> {
    let mut gone = 0;
    for mut run in of_chunk(db, chunk)? {
        let before = run.cover.len();
        run.cover.and_not(slots);
        run.full.and_not(slots);
        match before - run.cover.len() {
            0 => {}
            _ if run.cover.is_empty() => run.delete(db)?,
            fewer => {
                gone += fewer;
                run.put(db)?;
            }
        }
    }
    Ok(gone)
}

/// Stores texts by their slots. None of the slots may be covered.
pub(crate) fn add(db: &Connection, chunk: i64, texts: &BTreeMap<u16, &str>) -> Result<(), IndexError> {
    let mut texts = texts.iter().peekable();
    let mut collected = Collected::new();
    while texts.peek().is_some() {
        let mut run = Run::new(free_id(&of_chunk(db, chunk)?, chunk));
        while collected.len() < PAIRS
            && let Some((slot, text)) = texts.next()
        {
            hookmitt_sqlite::pause();
            run.cover.insert((*slot).into());
            if !collected.add(*slot, text) {
                run.full.insert((*slot).into());
            }
        }
        let mut pages = Pages::new(&run);
        collected.drain(|gram, slots| pages.push(db, gram, slots))?;
        pages.end(db)?;
        run.put(db)?;
        merge_alike(db, chunk)?;
    }
    Ok(())
}

/// Merges runs of like size as long as there are enough of them.
fn merge_alike(db: &Connection, chunk: i64) -> Result<(), IndexError> {
    loop {
        let mut runs = of_chunk(db, chunk)?;
        runs.sort_by_key(Run::size);
        let mut alike = runs.chunk_by(|a, b| a.size() == b.size());
        match alike.find(|runs| runs.len() >= ALIKE) {
            Some(runs) => merge(db, chunk, runs)?,
            None => return Ok(()),
        }
    }
}

/// Merges all runs of a chunk, so that nothing stays of texts that are gone.
pub(crate) fn merge_all(db: &Connection, chunk: i64) -> Result<(), IndexError> {
    merge(db, chunk, &of_chunk(db, chunk)?)
}

/// Returns a chunk that gets no more new events and has more runs than it needs. `done` is the newest event.
pub(crate) fn full_chunk(db: &Connection, done: i64) -> Result<Option<i64>, IndexError> {
    const SQL: &str =
        "SELECT id / ?1 AS chunk FROM run WHERE id < ?2 GROUP BY chunk HAVING count(*) > ?3 LIMIT 1";
    let end = (done + 1).div_euclid(CHUNK as i64) * RUNS;
    let mut first = db.prepare_cached(SQL)?;
    Ok(first.query_row([RUNS, end, FEW], |row| row.get(0)).optional()?)
}

fn merge(db: &Connection, chunk: i64, runs: &[Run]) -> Result<(), IndexError> {
    let read = runs.iter().map(|run| rows::all(db, Table::Gram, run.pages()));
    let pages: Vec<Vec<(i64, Vec<u8>)>> = read.collect::<Result<_, _>>()?;
    // Deleted first, so that what is written takes the pages that become free.
    runs.iter().try_for_each(|run| run.delete(db))?;
    let mut merged = Run::new(free_id(&of_chunk(db, chunk)?, chunk));
    for run in runs {
        merged.cover.or(&run.cover);
        merged.full.or(&run.full);
    }
    if merged.cover.is_empty() {
        return Ok(());
    }
    let mut sources: Vec<_> = pages.iter().map(|pages| all_lists(pages).peekable()).collect();
    let (mut out, mut slots) = (Pages::new(&merged), Vec::new());
    while let Some(gram) = sources.iter_mut().filter_map(|lists| Some(lists.peek()?.0)).min() {
        slots.clear();
        for (lists, run) in sources.iter_mut().zip(runs) {
            if let Some((_, list)) = lists.next_if(|(found, _)| *found == gram) {
                postings::decode(list, |slot| {
                    if run.cover.contains(slot.into()) {
                        slots.push(slot);
                    }
                });
            }
        }
        if !slots.is_sorted() {
            slots.sort_unstable();
        }
        out.push(db, gram, &slots)?;
    }
    out.end(db)?;
    merged.put(db)
}

/// Returns an id that no run of a chunk has.
fn free_id(runs: &[Run], chunk: i64) -> i64 {
    let is_free = |id: &i64| runs.iter().all(|run| run.id != *id);
    // There are fewer than ALIKE runs of each of four sizes.
    (chunk * RUNS..(chunk + 1) * RUNS).find(is_free).unwrap_or(chunk * RUNS)
}

/// Writes the grams of a run, which come in ascending order. A page's id tells its first gram. Each list begins with
/// the distance from the gram before, and its length.
struct Pages {
    run: i64,
    page: Vec<u8>,
    first: Gram,
    last: Gram,
    list: Vec<u8>,
}

impl Pages {
    fn new(run: &Run) -> Self {
        Self { run: run.id, page: Vec::new(), first: 0, last: 0, list: Vec::new() }
    }

    fn push(&mut self, db: &Connection, gram: Gram, slots: &[u16]) -> Result<(), IndexError> {
        if slots.is_empty() {
            return Ok(());
        }
        self.list.clear();
        postings::encode(slots, &mut self.list);
        if self.page.len() + self.list.len() + 12 > PAGE {
            self.end(db)?;
        }
        if self.page.is_empty() {
            (self.first, self.last) = (gram, gram);
        }
        number(gram - self.last, &mut self.page);
        number(self.list.len() as u32, &mut self.page);
        self.page.extend(&self.list);
        self.last = gram;
        Ok(())
    }

    fn end(&mut self, db: &Connection) -> Result<(), IndexError> {
        if self.page.is_empty() {
            return Ok(());
        }
        rows::put(db, Table::Gram, (self.run << 24) + i64::from(self.first), std::mem::take(&mut self.page))
    }
}

/// Returns the grams of pages with their lists.
fn all_lists(pages: &[(i64, Vec<u8>)]) -> impl Iterator<Item = (Gram, &[u8])> {
    pages.iter().flat_map(|(id, page)| lists(*id, page))
}

/// Returns the grams of a page with their lists.
fn lists(id: i64, mut page: &[u8]) -> impl Iterator<Item = (Gram, &[u8])> {
    let mut gram = (id & 0xFF_FFFF) as Gram;
    iter::from_fn(move || {
        gram = gram.wrapping_add(read_number(&mut page)?);
        let length = read_number(&mut page)? as usize;
        let (list, rest) = page.split_at_checked(length)?;
        page = rest;
        Some((gram, list))
    })
}

/// Writes a number, seven bits a byte.
fn number(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..28).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
