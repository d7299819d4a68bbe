//! Resolves what people write for an event: an id, the beginning of an id, `#1234`, `last`, `last~2`.

use hookmitt_event::{EventId, Via};
use rusqlite::{Connection, OptionalExtension as _};

use crate::{Filter, Inbox, InboxError, list::candidates, rows};

impl Inbox {
    /// Returns the event that a text names. `last` passes over edits and events in the bin, and so does `last~N`.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] or [`InboxError::Ambiguous`] if the text names no event or several.
    pub async fn resolve(&self, text: &str) -> Result<EventId, InboxError> {
        let text = text.trim().to_owned();
        self.readers.read(move |db| resolve(db, &text)).await
    }
}

fn resolve(db: &Connection, text: &str) -> Result<EventId, InboxError> {
    let unknown = || InboxError::UnknownEvent(text.to_owned());
    if let Some(number) = text.strip_prefix('#') {
        let seq: i64 = number.parse().map_err(|_| unknown())?;
        return one(db, "SELECT id FROM event WHERE seq = ?1", seq)?.ok_or_else(unknown);
    }
    if let Some(back) = text.strip_prefix("last") {
        let back: i64 = match back.strip_prefix('~') {
            Some(back) => back.parse().map_err(|_| unknown())?,
            None if back.is_empty() => 0,
            None => return Err(unknown()),
        };
        return nth_last(db, back.max(0))?.ok_or_else(unknown);
    }
    by_prefix(db, text)
}

/// Returns the newest event that isn't an edit, or one that came before it. Otherwise each `replay last --set` would
/// edit the edit before it.
fn nth_last(db: &Connection, back: i64) -> Result<Option<EventId>, InboxError> {
    const SQL: &str = "SELECT id FROM event WHERE seq = ?1 AND via <> ?2";
    let (mut below, mut back) = (i64::MAX, back);
    let mut select = db.prepare_cached(SQL)?;
    loop {
        let seqs = candidates(db, &Filter::default(), below, AT_ONCE)?;
        let Some(lowest) = seqs.last() else { return Ok(None) };
        below = *lowest;
        for seq in seqs {
            let found = select.query_row((seq, Via::Edit as i64), |row| rows::id(row, 0)).optional()?;
            match found {
                Some(_) if back > 0 => back -= 1,
                Some(id) => return Ok(Some(id)),
                None => {}
            }
        }
    }
}

/// How many events are looked up at once for `last`.
const AT_ONCE: i64 = 100;

fn one(db: &Connection, sql: &str, value: i64) -> Result<Option<EventId>, InboxError> {
    Ok(db.prepare_cached(sql)?.query_row([value], |row| rows::id(row, 0)).optional()?)
}

fn by_prefix(db: &Connection, text: &str) -> Result<EventId, InboxError> {
    const SQL: &str = "SELECT id FROM event WHERE id >= ?1 AND id <= ?2 LIMIT 3";
    let unknown = || InboxError::UnknownEvent(text.to_owned());
    let digits: String = text.chars().filter(|letter| *letter != '-').collect();
    let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if digits.is_empty() || digits.len() > 32 || !hexadecimal {
        return Err(unknown());
    }
    let bound = |filler: char| -> Result<[u8; 16], InboxError> {
        let whole: String = digits.chars().chain(std::iter::repeat(filler)).take(32).collect();
        u128::from_str_radix(&whole, 16).map(u128::to_be_bytes).map_err(|_| unknown())
    };
    let mut select = db.prepare_cached(SQL)?;
    let found = select.query_map([bound('0')?, bound('f')?], |row| rows::id(row, 0))?;
    let found: Vec<_> = found.collect::<Result<_, _>>()?;
    match found.as_slice() {
        [] => Err(unknown()),
        [id] => Ok(*id),
        several => Err(InboxError::Ambiguous { prefix: text.to_owned(), count: several.len() }),
    }
}
