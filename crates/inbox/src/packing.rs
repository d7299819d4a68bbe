//! Compresses events once they have been stored for a while: upkeep of the process that delivers.
//!
//! Every step stores how far it has come in the commit that packs the events, so that whoever goes on later begins there.

use std::{io, time::Duration};

use rusqlite::{Connection, params};

use crate::{
    Dictionary, Inbox, InboxError,
    batch::Batch,
    block,
    press::{Bale, Body, Press, Pressed, Unpacked},
    usage::in_use,
};

/// For how long after it was stored an event is left alone, because its first delivery and the page read it then.
const SETTLED: Duration = Duration::from_secs(5);

/// How much one step packs: so little that the writer needs only some milliseconds, because capture waits for it.
const EVENTS: usize = 128;
const BYTES: usize = 512 * 1024;

/// A larger body than this, in bytes, stays as it is: to free its pages would take the writer too long at a time.
const LARGEST: usize = 4 * 1024 * 1024;

/// How long a step waits for the writer's queue to be empty, and how often it looks. If capture never rests, packing
/// goes on slowly.
const PATIENCE: Duration = Duration::from_millis(200);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What packing has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// How many events wait to be packed, at most: events that were deleted meanwhile are counted.
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

    /// Packs the next few events. Returns how many it went through; 0 if none has been stored for long enough.
    ///
    /// # Errors
    /// Fails if the inbox does, for example on a full disk. Then the next step is a smaller one.
    pub async fn step(&mut self) -> Result<usize, InboxError> {
        let (bytes, now) = (self.bytes, self.inbox.clock.now());
        let until = now.saturating_sub(crate::rows::micros(SETTLED));
        let Settled { events, count, up_to } =
            self.inbox.readers.read(move |db| settled(db, until, bytes)).await?;
        if count == 0 {
            return Ok(0);
        }
        let bale = self.press.press(events).await?;
        self.inbox.rests(PATIENCE, LOOK_EVERY).await;
        let packed = self.inbox.write(move |batch| pack(batch, &bale, up_to)).await;
        self.bytes = if matches!(packed, Err(InboxError::Full)) { 0 } else { BYTES };
        packed.map(|()| count)
    }
}

impl Inbox {
    /// Returns what packing has done so far.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn packing(&self) -> Result<Packing, InboxError> {
        const SQL: &str = "SELECT max(0, coalesce((SELECT max(seq) FROM raw), 0) - s.value), b.value, a.value
            FROM meta s JOIN meta b ON b.key = 'packed_before' JOIN meta a ON a.key = 'packed_after'
            WHERE s.key = 'packed_seq'";
        let read = |db: &Connection| {
            let in_use = in_use(db)?;
            Ok(db.query_row(SQL, [], |row| {
                Ok(Packing { waiting: row.get(0)?, before: row.get(1)?, after: row.get(2)?, in_use })
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

/// Returns the next events that were stored at `until` or before, in store time.
fn settled(db: &Connection, until: i64, bytes: usize) -> Result<Settled, InboxError> {
    const SQL: &str = "SELECT r.seq, e.provider, r.headers, r.body, e.stored_at <= ?2, e.size FROM raw r
        CROSS JOIN event e ON e.seq = r.seq
        WHERE r.seq > (SELECT value FROM meta WHERE key = 'packed_seq') ORDER BY r.seq LIMIT ?1";
    let mut select = db.prepare_cached(SQL)?;
    let mut found = select.query(params![EVENTS, until])?;
    let (mut settled, mut size) = (Settled::default(), 0);
    while let Some(row) = found.next()?
        && row.get(4)?
    {
        let (seq, provider) = (row.get(0)?, row.get(1)?);
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
    Ok(settled)
}

/// Moves events from `raw` to `packed`, and notes up to which event all is packed. An event that was deleted meanwhile, or
/// that another process has packed, is passed over.
fn pack(batch: &mut Batch<'_>, bale: &Bale, up_to: i64) -> Result<(), InboxError> {
    const TAKE: &str = "DELETE FROM raw WHERE seq = ?1";
    const NOTE: &str = "UPDATE meta SET value = CASE key WHEN 'packed_seq' THEN max(value, ?1)
        WHEN 'packed_before' THEN value + ?2 ELSE value + ?3 END
        WHERE key IN ('packed_seq', 'packed_before', 'packed_after')";
    for dictionary in &bale.dictionaries {
        dictionary.store(batch.db)?;
    }
    let mut taken = Vec::with_capacity(bale.events.len());
    for event in &bale.events {
        // All are taken before any is put, because what is put can use the freed pages.
        taken.push(batch.db.prepare_cached(TAKE)?.execute([event.seq])? > 0);
    }
    let blocks = bale.blocks.iter().map(|made| block::put(batch.db, made)).collect::<Result<Vec<_>, _>>()?;
    let (mut before, mut after) = (0, bale.blocks.iter().map(|block| block.data.len()).sum::<usize>());
    for (event, is_taken) in bale.events.iter().zip(taken) {
        if is_taken {
            before += event.before;
            after += event.headers.len() + put(batch.db, event, &blocks)?;
        } else if let Body::Shared { block, start, length } = event.body {
            block::lose(batch.db, blocks[block], start, length)?;
        }
    }
    batch.db.prepare_cached(NOTE)?.execute(params![up_to, before, after])?;
    batch.arriving.bytes += after as u64;
    Ok(())
}

/// Stores a packed event. Returns how many bytes of its body are in its own row.
fn put(db: &Connection, event: &Pressed, blocks: &[i64]) -> Result<usize, InboxError> {
    const SQL: &str = "INSERT INTO packed (seq, dictionary, headers, body, block, start)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (body, block, start) = match &event.body {
        Body::Own(body) => (&body[..], None, None),
        Body::Shared { block, start, .. } => (&[][..], Some(blocks[*block]), Some(*start)),
    };
    let row = params![event.seq, event.dictionary, event.headers, body, block, start];
    db.prepare_cached(SQL)?.execute(row)?;
    Ok(body.len())
}
