//! What the writer knows about every mailbox without a query: where it begins and ends, and each device's cursor.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::trouble::{no_device, no_tunnel};
use crate::{DeviceKey, MailboxError};

/// How many bits of a letter's id hold its position.
const POSITION_BITS: u32 = 40;

/// Returns the id of the letter at a position of a tunnel's mailbox.
pub(super) fn letter_id(tunnel: i64, position: u64) -> i64 {
    let last = (1 << POSITION_BITS) - 1;
    (tunnel << POSITION_BITS) | i64::try_from(position).unwrap_or(last).min(last)
}

/// Returns the position of the letter with this id.
pub(super) fn position_of(id: i64) -> u64 {
    u64::try_from(id & ((1 << POSITION_BITS) - 1)).unwrap_or_default()
}

/// Returns the newest letter that is still in a mailbox: its position, and the sealed bytes of all letters ever put up
/// to it.
pub(super) fn newest(db: &Connection, tunnel: i64) -> rusqlite::Result<Option<(u64, u64)>> {
    const SQL: &str = "SELECT id, upto FROM letter WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1";
    let range = (letter_id(tunnel, 0), letter_id(tunnel, u64::MAX));
    let row = |row: &Row<'_>| Ok((position_of(row.get(0)?), row.get(1)?));
    db.prepare_cached(SQL)?.query_row(range, row).optional()
}

/// Returns when the newest `put` row of a mailbox begins, in store time.
fn put_at(db: &Connection, tunnel: i64) -> rusqlite::Result<Option<i64>> {
    const SQL: &str = "SELECT at FROM put WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1";
    let range = (letter_id(tunnel, 0), letter_id(tunnel, u64::MAX));
    db.prepare_cached(SQL)?.query_row(range, |row| row.get(0)).optional()
}

/// A range of letters of a mailbox to handle at once.
pub(super) struct Stretch {
    /// Only letters after this position.
    pub(super) after: u64,
    /// Only letters up to this position.
    pub(super) through: u64,
    /// At most this many letters.
    pub(super) letters: usize,
    /// At most this many bytes, unless the first letter alone has more.
    pub(super) bytes: u64,
}

/// The part of a [`Stretch`] that its limits allow.
pub(super) struct Reached {
    /// The position of the last letter.
    pub(super) last: u64,
    /// The sealed bytes of all letters ever put in the mailbox, up to the last letter.
    pub(super) upto: u64,
    /// The sealed bytes of the first letter.
    pub(super) first_bytes: u64,
}

/// Returns how far a stretch reaches, or `None` if it has no letter. Reads none of the letters' data.
pub(super) fn reach(db: &Connection, tunnel: i64, stretch: &Stretch) -> rusqlite::Result<Option<Reached>> {
    const SQL: &str =
        "SELECT id, upto, length(data) FROM letter WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3";
    let range =
        (letter_id(tunnel, stretch.after), letter_id(tunnel, stretch.through), stretch.letters.max(1));
    let mut statement = db.prepare_cached(SQL)?;
    let mut rows = statement.query(range)?;
    let mut reached: Option<Reached> = None;
    let mut most = None;
    while let Some(row) = rows.next()? {
        let (upto, size): (u64, u64) = (row.get(1)?, row.get(2)?);
        let most = *most.get_or_insert((upto - size).saturating_add(stretch.bytes));
        if upto > most && reached.is_some() {
            break;
        }
        let first_bytes = reached.map_or(size, |reached| reached.first_bytes);
        reached = Some(Reached { last: position_of(row.get(0)?), upto, first_bytes });
    }
    Ok(reached)
}

/// A device of a mailbox.
pub(super) struct Member {
    pub(super) key: DeviceKey,
    pub(super) cursor: u64,
    /// When it was last connected, in store time.
    pub(super) there_at: i64,
}

/// A mailbox, as the writer knows it.
pub(super) struct MailBox {
    pub(super) id: i64,
    /// The mailbox takes no more letters, and those that are left are being deleted.
    pub(super) shut: bool,
    /// Whether it took a letter or had a device connected.
    pub(super) used: bool,
    /// The position of the newest letter ever put.
    pub(super) newest: u64,
    /// The sealed bytes of all letters ever put.
    pub(super) newest_bytes: u64,
    /// Letters up to this position are given up.
    pub(super) floor: u64,
    /// Letters up to this position are deleted.
    pub(super) cleared: u64,
    pub(super) cleared_bytes: u64,
    /// When the newest `put` row begins, in store time; the row says when letters were put.
    pub(super) put_at: Option<i64>,
    pub(super) members: Vec<Member>,
}

impl MailBox {
    /// Returns a new mailbox with its first device.
    pub(super) fn new(id: i64, first: Member) -> Self {
        Self {
            id,
            shut: false,
            used: false,
            newest: 0,
            newest_bytes: 0,
            floor: 0,
            cleared: 0,
            cleared_bytes: 0,
            put_at: None,
            members: vec![first],
        }
    }

    /// Returns the position up to which nobody wants letters any more.
    pub(super) fn done(&self) -> u64 {
        let slowest = self.members.iter().map(|member| member.cursor).min();
        let slowest = slowest.filter(|_| !self.shut).unwrap_or(self.newest);
        slowest.max(self.floor).min(self.newest)
    }

    /// Returns how many letters are stored.
    pub(super) fn letters(&self) -> u64 {
        self.newest - self.cleared
    }

    /// Returns the sealed bytes of the stored letters.
    pub(super) fn bytes(&self) -> u64 {
        self.newest_bytes - self.cleared_bytes
    }

    /// Returns the device with this key.
    pub(super) fn member(&mut self, key: &DeviceKey) -> Result<&mut Member, MailboxError> {
        self.members.iter_mut().find(|member| member.key == *key).ok_or_else(|| no_device(key))
    }
}

/// All mailboxes that take letters or still have some.
#[derive(Default)]
pub(super) struct Boxes {
    by_name: HashMap<String, MailBox>,
    /// The mailboxes that have letters which nobody wants.
    due: HashSet<String>,
    /// SQLite's `data_version`, which other processes' commits change. `None` if the contents here may be wrong.
    version: Option<i64>,
}

impl Boxes {
    /// Reads everything anew if it may be wrong or if another process has written. Called inside a transaction, so that
    /// it stays right until the transaction ends. Returns whether it read.
    pub(super) fn refresh(&mut self, db: &Connection) -> rusqlite::Result<bool> {
        let found = db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if self.version == Some(found) {
            return Ok(false);
        }
        self.by_name = load(db)?;
        let is_due = |(_, mailbox): &(&String, &MailBox)| mailbox.done() > mailbox.cleared;
        self.due = self.by_name.iter().filter(is_due).map(|(name, _)| name.clone()).collect();
        self.version = Some(found);
        Ok(true)
    }

    /// Marks the contents as possibly wrong, because a transaction that changed them was rolled back.
    pub(super) fn distrust(&mut self) {
        self.version = None;
    }

    /// Returns the mailbox of an open tunnel.
    pub(super) fn open(&mut self, name: &str) -> Result<&mut MailBox, MailboxError> {
        self.by_name.get_mut(name).filter(|mailbox| !mailbox.shut).ok_or_else(|| no_tunnel(name))
    }

    /// Adds a new mailbox.
    pub(super) fn add(&mut self, name: &str, mailbox: MailBox) {
        self.by_name.insert(name.to_owned(), mailbox);
    }

    /// Shuts a mailbox; its letters are then deleted.
    pub(super) fn shut(&mut self, name: &str) {
        if let Some(mailbox) = self.by_name.get_mut(name) {
            mailbox.shut = true;
            mailbox.members.clear();
            self.due.insert(name.to_owned());
        }
    }

    /// Checks whether the mailbox has letters that nobody wants any more, and marks it as due if so.
    pub(super) fn look_at(&mut self, name: &str) {
        let is_due = self.by_name.get(name).is_some_and(|mailbox| mailbox.done() > mailbox.cleared);
        if is_due && !self.due.contains(name) {
            self.due.insert(name.to_owned());
        }
    }

    /// Returns any mailbox that has letters to delete.
    pub(super) fn next_due(&mut self) -> Option<(&str, &mut MailBox)> {
        let name = self.due.iter().next()?;
        self.by_name.get_mut(name).map(|mailbox| (name.as_str(), mailbox))
    }

    /// Returns whether there are letters to delete.
    pub(super) fn is_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Records that a mailbox has nothing left to delete. A shut mailbox is forgotten.
    pub(super) fn is_clear(&mut self, name: &str) {
        self.due.remove(name);
        if self.by_name.get(name).is_some_and(|mailbox| mailbox.shut) {
            self.by_name.remove(name);
        }
    }

    /// Returns the names of the open mailboxes.
    pub(super) fn names(&self) -> Vec<String> {
        let open = self.by_name.iter().filter(|(_, mailbox)| !mailbox.shut);
        open.map(|(name, _)| name.clone()).collect()
    }
}

fn load(db: &Connection) -> rusqlite::Result<HashMap<String, MailBox>> {
    let mut members: HashMap<i64, Vec<Member>> = HashMap::new();
    let mut statement = db.prepare("SELECT tunnel, key, cursor, there_at FROM device")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let member = Member { key: row.get(1)?, cursor: row.get(2)?, there_at: row.get(3)? };
        members.entry(row.get(0)?).or_default().push(member);
    }
    let sql = "SELECT name, id, shut, floor, cleared, cleared_bytes, used
        FROM tunnel JOIN mark ON tunnel = id WHERE shut = 0 OR floor > cleared";
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut boxes = HashMap::new();
    while let Some(row) = rows.next()? {
        let id = row.get(1)?;
        let (cleared, cleared_bytes) = (row.get(4)?, row.get(5)?);
        let (newest, newest_bytes) = newest(db, id)?.unwrap_or((cleared, cleared_bytes));
        let members = members.remove(&id).unwrap_or_default();
        let shut = row.get::<_, i64>(2)? != 0;
        let floor = row.get(3)?;
        let (used, put_at) = (row.get(6)?, put_at(db, id)?);
        let mailbox =
            MailBox { id, shut, used, newest, newest_bytes, floor, cleared, cleared_bytes, put_at, members };
        boxes.insert(row.get(0)?, mailbox);
    }
    Ok(boxes)
}
