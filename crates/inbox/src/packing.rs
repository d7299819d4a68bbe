//! Compresses events once they have been stored for a while: upkeep of the process that delivers.
//!
//! A step packs so many events that those of one provider fill whole blocks, in several short commits. The last of them
//! notes how far packing has come, so that whoever goes on later begins there. If a step is cut off, the next one finds
//! what is left: only what isn't packed is still in `raw`.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use hookmitt_sqlite::is_called_out;
use rusqlite::{Connection, params};

use crate::{
    Dictionary, Inbox, InboxError,
    batch::Batch,
    block,
    press::{Bale, Body, Group, Press, Pressed, Unpacked},
    usage::in_use,
};

/// For how long after it was stored an event is left alone, because its first delivery and the page read it then.
const SETTLED: Duration = Duration::from_secs(5);

/// For how long the first of the events that aren't packed waits for others, if there are too few for a step: blocks of
/// few bodies save little.
const ALONE: Duration = Duration::from_secs(600);

/// How much one step packs.
const EVENTS: usize = 512;
const BYTES: usize = 2 * 1024 * 1024;

/// How much one commit packs: so little that the writer needs only some milliseconds, because capture waits for it.
const AT_ONCE: (usize, usize) = (128, 512 * 1024);

/// A larger body than this, in bytes, stays as it is: to free its pages would take the writer too long at a time.
const LARGEST: usize = 4 * 1024 * 1024;

/// How long a step waits for the writer's queue to be empty, and how often it looks. If capture never rests, packing
/// goes on slowly.
const PATIENCE: Duration = Duration::from_millis(200);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Up to how many events that wait are counted one by one.
const COUNTED: u64 = 256;

/// What packing has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// How many events wait to be packed. If there are very many, those that were deleted meanwhile are counted, too.
    pub waiting: u64,
    /// How many bytes the packed events had as they came, since ever.
    pub before: u64,
    /// How many bytes they take packed.
    pub after: u64,
    /// How many bytes of the inbox file are in use, by whatever it holds.
    pub in_use: u64,
}

/// Packs events, a few at a time.
#[derive(Debug)]
pub struct Packer {
    inbox: Inbox,
    press: Press,
    /// How many bytes the next step takes on; at least one event.
    bytes: usize,
}

impl Packer {
    /// Starts the thread that compresses. `dictionary` makes the dictionary for the events of a provider, or of none. It
    /// must hold nothing of any event.
    ///
    /// # Errors
    /// Fails with [`InboxError::Open`] if the system can't start a thread.
    pub fn new(
        inbox: Inbox,
        dictionary: impl Fn(Option<&str>) -> Dictionary + Send + 'static,
    ) -> Result<Self, InboxError> {
        let failed = |why: io::Error| InboxError::Open { path: inbox.path(), why: why.to_string() };
        let press = Press::start(dictionary).map_err(failed)?;
        Ok(Self { inbox, press, bytes: BYTES })
    }

    /// Packs the next events. Returns how many it went through; 0 if there are too few that have been stored for long
    /// enough.
    ///
    /// # Errors
    /// Fails if the inbox does, for example on a full disk. Then the next step is a smaller one.
    pub async fn step(&mut self) -> Result<usize, InboxError> {
        let (bytes, now) = (self.bytes, self.inbox.clock.now());
        let before = |age| now.saturating_sub(crate::rows::micros(age));
        let (settled_by, alone_by) = (before(SETTLED), before(ALONE));
        let read = move |db: &Connection| settled(db, settled_by, alone_by, bytes);
        let Settled { events, count, up_to, .. } =
            self.inbox.readers.read_on(&self.inbox.background, read).await?;
        if count == 0 {
            return Ok(0);
        }
        let packed = self.pack(events, up_to).await;
        self.bytes = if matches!(packed, Err(InboxError::Full)) { 0 } else { BYTES };
        packed.map(|()| count)
    }

    /// Compresses events, and stores them a few groups at a time.
    async fn pack(&self, events: Vec<Unpacked>, up_to: i64) -> Result<(), InboxError> {
        let Bale { groups, dictionaries } = self.press.press(events).await?;
        let (dictionaries, mut turns) = (Arc::new(dictionaries), in_turns(groups));
        while let Some(groups) = turns.pop_front() {
            let (dictionaries, is_last) = (Arc::clone(&dictionaries), turns.is_empty());
            let put = move |batch: &mut Batch<'_>| {
                dictionaries.iter().try_for_each(|made| made.store(batch.db))?;
                let (before, after) = put_all(batch, &groups)?;
                note(batch.db, if is_last { up_to } else { 0 }, before, after)
            };
            self.inbox.rests(PATIENCE, LOOK_EVERY).await;
            self.inbox.write(put).await?;
        }
        Ok(())
    }
}

/// Shares groups out among commits; at least one.
fn in_turns(groups: Vec<Group>) -> VecDeque<Vec<Group>> {
    let (mut turns, mut turn, mut events, mut bytes) = (VecDeque::new(), Vec::new(), 0, 0);
    for group in groups {
        events += group.events.len();
        bytes += group.events.iter().map(|event| event.before).sum::<usize>();
        turn.push(group);
        if events >= AT_ONCE.0 || bytes >= AT_ONCE.1 {
            turns.push_back(std::mem::take(&mut turn));
            (events, bytes) = (0, 0);
        }
    }
    if !turn.is_empty() || turns.is_empty() {
        turns.push_back(turn);
    }
    turns
}

impl Inbox {
    /// Returns what packing has done so far.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn packing(&self) -> Result<Packing, InboxError> {
        const SQL: &str =
            "SELECT max(0, coalesce((SELECT max(seq) FROM raw), 0) - s.value), b.value, a.value,
                (SELECT count(*) FROM (SELECT 1 FROM raw WHERE raw.seq > s.value LIMIT ?1))
            FROM meta s JOIN meta b ON b.key = 'packed_before' JOIN meta a ON a.key = 'packed_after'
            WHERE s.key = 'packed_seq'";
        let read = |db: &Connection| {
            let in_use = in_use(db)?;
            Ok(db.query_row(SQL, [COUNTED], |row| {
                let (numbers, counted): (u64, u64) = (row.get(0)?, row.get(3)?);
                let waiting = if counted < COUNTED { counted } else { numbers };
                Ok(Packing { waiting, before: row.get(1)?, after: row.get(2)?, in_use })
            })?)
        };
        self.readers.read(read).await
    }
}

/// Events that a step goes through.
#[derive(Default)]
struct Settled {
    /// Those that are compressed.
    events: Vec<Unpacked>,
    /// How many there are, with those that stay as they are.
    count: usize,
    /// The last of them.
    up_to: i64,
}

/// Returns the next events that were stored at `settled_by` or before, in store time. If there are too few for a step,
/// it returns none until the first of them is older than `alone_by`.
fn settled(db: &Connection, settled_by: i64, alone_by: i64, bytes: usize) -> Result<Settled, InboxError> {
    const SQL: &str = "SELECT r.seq, e.provider, r.headers, r.body, e.stored_at, e.size FROM raw r
        CROSS JOIN event e ON e.seq = r.seq
        WHERE r.seq > (SELECT value FROM meta WHERE key = 'packed_seq') ORDER BY r.seq LIMIT ?1";
    let mut select = db.prepare_cached(SQL)?;
    let mut found = select.query([EVENTS])?;
    let (mut settled, mut size, mut first) = (Settled::default(), 0, i64::MIN);
    while let Some(row) = found.next()? {
        if is_called_out() {
            return Ok(Settled::default()); // they are read again later
        }
        let (seq, provider, stored_at) = (row.get(0)?, row.get(1)?, row.get::<_, i64>(4)?);
        if stored_at > settled_by {
            break;
        }
        first = if settled.count == 0 { stored_at } else { first };
        (settled.up_to, settled.count) = (seq, settled.count + 1);
        if row.get::<_, usize>(5)? > LARGEST {
            continue;
        }
        let event = Unpacked { seq, provider, headers: row.get(2)?, body: row.get(3)? };
        size += event.len();
        settled.events.push(event);
        if size >= bytes {
            break;
        }
    }
    let is_enough = settled.count == EVENTS || size >= bytes || first <= alone_by;
    Ok(if is_enough { settled } else { Settled::default() })
}

/// Moves events from `raw` to `packed`. Returns how many bytes they had and have. An event that was deleted meanwhile, or
/// that another process has packed, is passed over.
fn put_all(batch: &mut Batch<'_>, groups: &[Group]) -> Result<(usize, usize), InboxError> {
    const TAKE: &str = "DELETE FROM raw WHERE seq = ?1";
    let mut taken = Vec::new();
    for event in groups.iter().flat_map(|group| &group.events) {
        // All are taken before any is put, because what is put can use the freed pages.
        taken.push(batch.db.prepare_cached(TAKE)?.execute([event.seq])? > 0);
    }
    let (mut before, mut after, mut taken) = (0, 0, taken.into_iter());
    for Group { block, events } in groups {
        after += block.as_ref().map_or(0, |block| block.data.len());
        let block = block.as_ref().map(|made| block::put(batch.db, made)).transpose()?;
        for event in events {
            if taken.next() == Some(true) {
                before += event.before;
                after += put(batch.db, event, block)?;
            } else if let (Some(block), Body::Shared { start, length }) = (block, &event.body) {
                block::lose(batch.db, block, *start, *length)?;
            }
        }
    }
    batch.arriving.bytes += after as u64;
    Ok((before, after))
}

/// Stores a packed event. Returns how many bytes of it are in its own row.
fn put(db: &Connection, event: &Pressed, block: Option<i64>) -> Result<usize, InboxError> {
    const SQL: &str = "INSERT INTO packed (seq, dictionary, headers, body, block, start)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (body, start) = match &event.body {
        Body::Own(body) => (&body[..], None),
        Body::Shared { start, .. } => (&[][..], Some(*start)),
    };
    let row = params![event.seq, event.dictionary, event.headers, body, block, start];
    db.prepare_cached(SQL)?.execute(row)?;
    Ok(event.headers.len() + body.len())
}

/// Notes up to which event all is packed, and how many bytes what was packed had and has.
fn note(db: &Connection, up_to: i64, before: usize, after: usize) -> Result<(), InboxError> {
    const SQL: &str = "UPDATE meta SET value = CASE key WHEN 'packed_seq' THEN max(value, ?1)
        WHEN 'packed_before' THEN value + ?2 ELSE value + ?3 END
        WHERE key IN ('packed_seq', 'packed_before', 'packed_after')";
    db.prepare_cached(SQL)?.execute(params![up_to, before, after])?;
    Ok(())
}
