//! What making room would delete, and whether a size limit leaves room at all: by estimate, without deleting anything.

use hookmitt_event::{EventStatus, Kept};
use rusqlite::{Connection, Row, params};

use crate::{
    Inbox, InboxError,
    deliveries::STATUS_RANK,
    make_room,
    pruner::room_goal,
    retention::{self, Policy},
    rows,
    sweep::Aged,
    usage::in_use,
};

/// Why something would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It has been kept for long enough.
    Age,
    /// The inbox is larger than its limit, and these are the oldest that may go. How many go is an estimate.
    SizeLimit,
    /// The disk is nearly full, and the oldest are to go then. How many go is an estimate.
    DiskFull,
}

impl Why {
    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::SizeLimit => "size_limit",
            Self::DiskFull => "disk_full",
        }
    }
}

/// What an event takes of the file beside its body, about: its row, its headers, its key, and its part of the indexes.
const ROW: u64 = 1_000;

/// How the bytes in use are shared out among the events: by the sizes of their bodies.
#[derive(Clone, Copy, Debug)]
struct Shares {
    in_use: u64,
    weight: u64,
}

impl Shares {
    fn read(db: &Connection) -> Result<Self, InboxError> {
        const THERE: &str = "SELECT coalesce(sum(events), 0), coalesce(sum(bytes), 0) FROM tally";
        const BIN: &str = "SELECT count(*) FROM event INDEXED BY event_bin WHERE deleted_at IS NOT NULL";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (events, bytes): (u64, u64) = db.prepare_cached(THERE)?.query_row([], read)?;
        let binned: u64 = db.prepare_cached(BIN)?.query_row([], |row| row.get(0))?;
        // What is in the bin is taken to be as large as the rest.
        let each = weight(events, bytes).checked_div(events).unwrap_or(ROW);
        let weight = weight(events, bytes).saturating_add(binned.saturating_mul(each)).max(1);
        Ok(Self { in_use: in_use(db)?, weight })
    }

    /// Returns how many bytes of the file some events take.
    fn of(self, events: u64, bytes: u64) -> u64 {
        let share = u128::from(self.in_use) * u128::from(weight(events, bytes)) / u128::from(self.weight);
        u64::try_from(share).unwrap_or(u64::MAX).min(self.in_use)
    }
}

const fn weight(events: u64, bytes: u64) -> u64 {
    bytes.saturating_add(events.saturating_mul(ROW))
}

/// Room that has to be made.
pub(crate) struct Room {
    /// What for.
    pub(crate) why: Why,
    /// How many bytes of the file have still to go.
    left: u64,
    /// The number of the last event that was looked at.
    place: i64,
}

impl Room {
    /// Returns the room that has to be made for the size limit, or because the disk lacks some, once some events are gone
    /// anyway; `None` if there is enough.
    pub(crate) fn needed(
        db: &Connection,
        lacks: u64,
        (events, bytes): (u64, u64),
    ) -> Result<Option<Self>, InboxError> {
        let (shares, in_use) = (Shares::read(db)?, in_use(db)?);
        let Some(goal) = room_goal(db, (lacks, None))? else { return Ok(None) };
        let for_limit = make_room::goal(in_use, retention::limit(db)?) == Some(goal);
        let why = if for_limit { Why::SizeLimit } else { Why::DiskFull };
        let left = (in_use - goal.min(in_use)).saturating_sub(shares.of(events, bytes));
        Ok((left > 0).then_some(Self { why, left, place: 0 }))
    }

    /// Looks at the next events, oldest first. Returns those that would go, and the room that has to be made then; `None`
    /// if that is enough, or if no event is left.
    pub(crate) fn go(
        mut self,
        db: &Connection,
        policy: &Policy,
        now: i64,
        limit: usize,
    ) -> Result<(Vec<Aged>, Option<Self>), InboxError> {
        let found = all_after(db, self.place, limit)?;
        let Some(last) = found.last().map(|(event, _)| event.seq) else { return Ok((Vec::new(), None)) };
        let mut would_go = Vec::new();
        let may_go = |event: &Aged| event.kept.is_some() && !event.is_over(policy, now);
        for (event, stored) in found.into_iter().filter(|(event, _)| may_go(event)) {
            self.left = self.left.saturating_sub(freed_by(stored));
            would_go.push(event);
            if self.left == 0 {
                return Ok((would_go, None));
            }
        }
        self.place = last;
        Ok((would_go, Some(self)))
    }
}

/// What goes with an event beside its content, about: its row, and its part of the indexes. Its key stays.
const GOES: u64 = 450;

/// Returns how many bytes of the file become free, about, when an event with so many stored bytes goes. A tenth of each
/// page stays empty.
const fn freed_by(stored: u64) -> u64 {
    stored.saturating_add(GOES).saturating_mul(11) / 10
}

/// Returns the next events after a number, with those in the bin; and how many bytes of content and answers each has as
/// they are stored, compressed or not.
fn all_after(db: &Connection, seq: i64, limit: usize) -> Result<Vec<(Aged, u64)>, InboxError> {
    let sql = format!(
        "SELECT e.seq, e.source, coalesce(b.at, e.stored_at, a.value), e.pinned_at IS NULL, b.event IS NOT NULL,
        (SELECT min({STATUS_RANK}) FROM delivery WHERE event = e.seq), e.size, e.received_at,
        coalesce((SELECT length(headers) + length(body) FROM raw WHERE raw.seq = e.seq),
            (SELECT length(p.headers) + length(p.body) + coalesce(length(k.data) / max(k.events, 1), 0)
                FROM packed p LEFT JOIN block k ON k.id = p.block WHERE p.seq = e.seq), 0)
        + coalesce((SELECT sum(coalesce(length(headers), 0) + length(body)) FROM attempt WHERE event = e.seq), 0)
        FROM event e CROSS JOIN meta a ON a.key = 'aged_from' LEFT JOIN binned b ON b.event = e.seq
        WHERE e.seq > ?1 ORDER BY e.seq LIMIT ?2"
    );
    let mut select = db.prepare_cached(&sql)?;
    let found = select.query_map(params![seq, limit], |row| {
        let rank: Option<usize> = row.get(5)?;
        let status = rank.map_or(Some(EventStatus::Captured), |rank| Some(EventStatus::ALL.get(rank)?.0));
        let status = status.ok_or_else(|| rows::corrupt(5, "status"))?;
        let kept = match (row.get(3)?, row.get(4)?) {
            (false, _) => None,
            (true, true) => Kept::of(status).map(|_| Kept::Trash),
            (true, false) => Kept::of(status),
        };
        let (seq, source, at) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let aged = Aged { seq, source, at, kept, size: row.get(6)?, received_at: row.get(7)? };
        Ok((aged, row.get(8)?))
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// A size limit that leaves no room beside what is pinned, so that whatever comes goes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// The limit, in bytes.
    pub limit: u64,
    /// How many events are pinned.
    pub pinned: u64,
    /// How many bytes of the file they take, about.
    pub taken: u64,
}

/// Counts what is pinned.
pub(crate) const PINNED: &str = "SELECT count(*), coalesce(sum(size), 0) FROM event INDEXED BY event_pinned
    WHERE pinned_at IS NOT NULL";

impl Inbox {
    /// Returns what is wrong with the size limit, if it leaves no room beside what is pinned.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn no_room(&self) -> Result<Option<NoRoom>, InboxError> {
        self.readers
            .read(|db| {
                let Some(limit) = retention::limit(db)? else { return Ok(None) };
                let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
                let (pinned, bytes): (u64, u64) = db.prepare_cached(PINNED)?.query_row([], read)?;
                let taken = Shares::read(db)?.of(pinned, bytes);
                let goal = make_room::goal(taken, Some(limit));
                Ok((pinned > 0 && goal.is_some()).then_some(NoRoom { limit, pinned, taken }))
            })
            .await
    }
}
