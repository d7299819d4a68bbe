//! What pruning would delete now, counted without deleting anything.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use hookmitt_event::{Kept, Timestamp};
use hookmitt_sqlite::Disk;
use rusqlite::Connection;

use crate::{
    Inbox, InboxError,
    retention::{self, Policy},
    room::{Room, Why},
    sweep::{Aged, BIN, in_bin, swept},
    usage::in_use,
};

/// How many events one read goes through.
const STRIDE: usize = 1_000;

/// How long it counts.
const LONG: Duration = Duration::from_secs(10);

/// Some events that would go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WouldGo {
    /// The source's name.
    pub source: String,
    /// What they count as.
    pub kept: Kept,
    /// Why they would go.
    pub why: Why,
    /// How many there are.
    pub events: u64,
    /// How many bytes their bodies have.
    pub bytes: u64,
    /// When the oldest of them was received.
    pub oldest: Timestamp,
}

/// What pruning would delete now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prunable {
    /// The events that would go, by why, by source and by what they count as.
    pub items: Vec<WouldGo>,
    /// How many bytes of the file are in use.
    pub in_use: u64,
    /// How many of these are more than the limit allows, before anything is deleted.
    pub over_limit: u64,
    /// Whether all were counted; counting ends after 10 seconds.
    pub complete: bool,
}

/// Numbers by why, by source and by what the events count as.
#[derive(Default)]
struct Counts(BTreeMap<(Why, i64, Kept), (u64, u64, i64)>);

impl Counts {
    fn add(&mut self, event: &Aged, why: Why) {
        let Some(kept) = event.kept else { return };
        let (events, bytes, oldest) = self.0.entry((why, event.source, kept)).or_insert((0, 0, i64::MAX));
        *events += 1;
        *bytes += event.size;
        *oldest = event.received_at.min(*oldest);
    }

    /// Returns how many there are, and how many bytes their bodies have.
    fn all(&self) -> (u64, u64) {
        self.0.values().fold((0, 0), |(events, bytes), some| (events + some.0, bytes + some.1))
    }
}

impl Inbox {
    /// Counts what pruning would delete now. Captures go on meanwhile.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn prunable(&self) -> Result<Prunable, InboxError> {
        let (now, begun, mut counts) = (self.clock.now(), Instant::now(), Counts::default());
        let policy = self.readers.read(Policy::read).await?;
        let mut walks = vec![Walk::Again(0), Walk::Bin(BIN)];
        walks.extend(policy.spans().into_iter().map(Walk::Begin));
        let policy = Arc::new(policy);
        while begun.elapsed() < LONG
            && let Some(walk) = walks.pop()
        {
            let policy = Arc::clone(&policy);
            let (found, rest) = self.readers.read(move |db| walk.go(db, &policy, now)).await?;
            found.iter().for_each(|event| counts.add(event, Why::Age));
            walks.extend(rest);
        }
        let (aged, lacks) = (counts.all(), self.disk().map_or(0, Disk::lacks));
        let mut room = self.readers.read(move |db| Room::needed(db, lacks, aged)).await?;
        while begun.elapsed() < LONG
            && let Some(needed) = room.take()
        {
            let (policy, why) = (Arc::clone(&policy), needed.why);
            let (found, rest) = self.readers.read(move |db| needed.go(db, &policy, now, STRIDE)).await?;
            found.iter().for_each(|event| counts.add(event, why));
            room = rest;
        }
        let complete = walks.is_empty() && room.is_none();
        self.readers.read(move |db| conclude(db, counts, complete)).await
    }
}

fn conclude(db: &Connection, counts: Counts, complete: bool) -> Result<Prunable, InboxError> {
    const SLUG: &str = "SELECT slug FROM source WHERE id = ?1";
    let mut items = Vec::with_capacity(counts.0.len());
    for ((why, source, kept), (events, bytes, oldest)) in counts.0 {
        let source = db.prepare_cached(SLUG)?.query_row([source], |row| row.get(0))?;
        items.push(WouldGo { source, kept, why, events, bytes, oldest: Timestamp::from_micros(oldest) });
    }
    items.sort_by(|a, b| (a.why, &a.source, a.kept).cmp(&(b.why, &b.source, b.kept)));
    let in_use = in_use(db)?;
    let over_limit = retention::limit(db)?.map_or(0, |limit| in_use.saturating_sub(limit));
    Ok(Prunable { items, in_use, over_limit, complete })
}

/// A walk through a part of what may go.
enum Walk {
    /// Through what is looked at again, from a number on.
    Again(i64),
    /// Through what is in the bin, after a place.
    Bin((i64, i64)),
    /// Through the events that a span lets go, from where the sweep for it is.
    Begin(i64),
    /// Through these events, from a number on.
    Events { span: i64, after: i64 },
}

impl Walk {
    /// Takes a stride. Returns what would go, and how the walk goes on.
    fn go(self, db: &Connection, policy: &Policy, now: i64) -> Result<(Vec<Aged>, Option<Self>), InboxError> {
        match self {
            Self::Again(from) => again(db, policy, from, now),
            Self::Bin(after) => {
                let found = in_bin(db, policy, now, after, STRIDE)?;
                let last = found.last().filter(|_| found.len() == STRIDE);
                let rest = last.map(|last| Self::Bin((last.at, last.seq)));
                Ok((found, rest))
            }
            Self::Begin(span) => Self::Events { span, after: swept(db, span)? }.go(db, policy, now),
            Self::Events { span, after } => {
                let mut found = Aged::after(db, after, STRIDE)?;
                let last = found.last().filter(|_| found.len() == STRIDE).map(|last| last.seq);
                let young = found.iter().position(|event| event.at > now.saturating_sub(span));
                let old = young.unwrap_or(found.len());
                let last = last.filter(|_| old == found.len());
                found.truncate(old);
                found.retain(|event| event.span(policy) == Some(span));
                Ok((found, last.map(|after| Self::Events { span, after })))
            }
        }
    }
}

/// Looks at what is looked at again. What a sweep has still before it is counted there.
fn again(
    db: &Connection,
    policy: &Policy,
    from: i64,
    now: i64,
) -> Result<(Vec<Aged>, Option<Walk>), InboxError> {
    const SQL: &str = "SELECT seq FROM look_again WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let mut select = db.prepare_cached(SQL)?;
    let found = select.query_map(rusqlite::params![from, STRIDE], |row| row.get(0))?;
    let seqs: Vec<i64> = found.collect::<Result<_, _>>()?;
    let mut over = Vec::new();
    for seq in &seqs {
        if let Some(event) = Aged::one(db, *seq)?
            && event.is_over(policy, now)
            && let Some(span) = event.span(policy)
            && event.seq <= swept(db, span)?
        {
            over.push(event);
        }
    }
    let last = seqs.last().filter(|_| seqs.len() == STRIDE);
    Ok((over, last.map(|last| Walk::Again(*last))))
}
