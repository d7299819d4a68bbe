//! What a job of the writer works with.

use std::mem;

use hookmitt_event::Actor;
use rusqlite::Connection;

use crate::{
    InboxError,
    hours::{Changes, Happened},
    now::Now,
    routes::Routes,
    tally::Tally,
};

/// A job's working set: the open transaction, what the writer knows, and what the job adds to that.
pub(crate) struct Batch<'a> {
    pub(crate) db: &'a Connection,
    pub(crate) routes: &'a Routes,
    pub(crate) arriving: &'a mut Arriving,
    /// When the transaction began.
    pub(crate) now: Now,
    /// Who asked for the job; `None` for what hookmitt does by itself.
    pub(crate) by: Option<Actor>,
}

/// What a job adds beside its rows.
#[derive(Default)]
pub(crate) struct Arriving {
    /// The next sequence number, which is carried from one job of a group to the next. `None` until a job asks the
    /// database.
    next_seq: Option<i64>,
    /// About how many bytes the job writes.
    pub(crate) bytes: u64,
    /// The job's changes to the running totals.
    pub(crate) tally: Tally,
    /// The job's changes to the history.
    pub(crate) hours: Changes,
    /// What a monitor is told of, and how long it took.
    pub(crate) happened: Happened,
    /// Whether latencies are to be written at once.
    pub(crate) hurries: bool,
}

impl Arriving {
    /// Takes what the job added and leaves nothing for the next job. The sequence number stays.
    pub(crate) fn take(&mut self) -> Self {
        let rest = Self { next_seq: self.next_seq, ..Self::default() };
        mem::replace(self, rest)
    }

    /// Adds what a later job added.
    pub(crate) fn merge(&mut self, later: Self) {
        self.bytes += later.bytes;
        self.tally.merge(later.tally);
        self.hours.merge(later.hours);
        self.happened.merge(later.happened);
        self.hurries |= later.hurries;
    }

    /// Returns the next sequence number and counts it as used.
    pub(crate) fn seq(&mut self, db: &Connection) -> Result<i64, InboxError> {
        let seq = match self.next_seq {
            Some(seq) => seq,
            None => db
                .prepare_cached(
                    "SELECT 1 + max(coalesce((SELECT max(seq) FROM event), 0),
                    (SELECT value FROM meta WHERE key = 'last_seq'))",
                )?
                .query_row([], |row| row.get(0))?,
        };
        self.next_seq = Some(seq + 1);
        Ok(seq)
    }
}
