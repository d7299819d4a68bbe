//! How many requests were refused: counted in memory and written now and then, so that a flood does not cost a sync for
//! each request.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::Connection;

/// How old the written counts may become while other things are written.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// How many tunnels may have unwritten counts; beyond that, nothing is counted. Callers count only for tunnels that
/// exist.
const MOST: usize = 100_000;

/// How many requests of one tunnel were refused. Never decreases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) refused: u64,
    pub(super) refused_at: Option<i64>,
    pub(super) unknown: u64,
}

/// The counts of all tunnels.
#[derive(Debug)]
pub(super) struct Refusals(Mutex<Book>);

#[derive(Debug)]
struct Book {
    counts: HashMap<String, Count>,
    /// The tunnels whose counts are not written yet.
    open: HashSet<String>,
    written_at: Instant,
}

impl Refusals {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Book { counts: HashMap::new(), open: HashSet::new(), written_at: Instant::now() }))
    }

    /// Loads the counts from the file. They do not replace counts that this process already has, because those are
    /// newer.
    pub(super) fn load(&self, db: &Connection) -> rusqlite::Result<()> {
        let sql = "SELECT name, refused, refused_at, unknown FROM tunnel JOIN mark ON tunnel = id
            WHERE shut = 0 AND (refused > 0 OR unknown > 0)";
        let mut statement = db.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut book = self.book();
        while let Some(row) = rows.next()? {
            let count = Count { refused: row.get(1)?, refused_at: row.get(2)?, unknown: row.get(3)? };
            book.counts.entry(row.get(0)?).or_insert(count);
        }
        Ok(())
    }

    /// Counts a request.
    pub(super) fn count(&self, tunnel: &str, unknown_source: bool, now: i64) {
        let mut book = self.book();
        if book.open.len() >= MOST {
            return;
        }
        let count = book.counts.entry(tunnel.to_owned()).or_default();
        if unknown_source {
            count.unknown += 1;
        } else {
            count.refused += 1;
            count.refused_at = count.refused_at.max(Some(now));
        }
        book.open.insert(tunnel.to_owned());
    }

    /// Returns a tunnel's count.
    pub(super) fn of(&self, tunnel: &str) -> Count {
        self.book().counts.get(tunnel).copied().unwrap_or_default()
    }

    /// Writes the unwritten counts if the last write was at least a second ago or `at_once` is set.
    pub(super) fn write(&self, db: &Connection, at_once: bool) -> rusqlite::Result<()> {
        const COUNT: &str = "UPDATE mark SET refused = ?2, refused_at = ?3, unknown = ?4
            WHERE tunnel = (SELECT id FROM tunnel WHERE name = ?1 AND shut = 0)";
        for (tunnel, count) in self.to_write(at_once) {
            let row = (&tunnel, count.refused, count.refused_at, count.unknown);
            if db.prepare_cached(COUNT)?.execute(row)? == 0 {
                self.book().counts.remove(&tunnel); // there is no such tunnel (any more)
            }
        }
        Ok(())
    }

    /// Takes the counts to write now. If the transaction fails, they are written with the next count of the same
    /// tunnel.
    fn to_write(&self, at_once: bool) -> Vec<(String, Count)> {
        let mut book = self.book();
        if book.open.is_empty() || !at_once && book.written_at.elapsed() < WRITE_EVERY {
            return Vec::new();
        }
        book.written_at = Instant::now();
        let open = std::mem::take(&mut book.open);
        let count = |name: String| book.counts.get(&name).map(|&count| (name, count));
        open.into_iter().filter_map(count).collect()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
