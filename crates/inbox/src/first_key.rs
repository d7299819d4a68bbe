//! Which event owns a dedupe key: the first one that may. Also signed ids under which only one body may come: if a
//! signature doesn't cover the body (a CRC-32, a token), the id that it does cover exposes a forged body.

use hookmitt_event::EventId;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{InboxError, rows};

/// How long an event with the same content, but without an id, counts as a duplicate, in microseconds.
const CONTENT_WINDOW_US: i64 = 5 * 60 * 1_000_000;

/// A signed id and the body that came under it, as hashes of 16 bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleUse {
    /// The hash of the id.
    pub id: [u8; 16],
    /// The hash of the id together with the body.
    pub with_body: [u8; 16],
}

/// An event's claim on its dedupe key.
#[derive(Clone, Copy, Debug)]
pub struct KeyTerms {
    /// The first 16 bytes of the SHA-256 of the key's text.
    pub hash: [u8; 16],
    /// Whether the event's present verdict lets it own the key.
    pub may_own: bool,
    /// Whether the key is a hash of the content, which means the same event only for some minutes.
    pub by_content: bool,
    /// The signed id under which only this event's body may come; `None` if the signature covers the body.
    pub single_use: Option<SingleUse>,
}

/// The event that claims a key.
pub(crate) struct KeyPlace {
    pub(crate) source: i64,
    pub(crate) seq: i64,
    pub(crate) id: EventId,
    /// When the event was received.
    pub(crate) at: i64,
    /// Whether the event was found valid.
    pub(crate) is_proved: bool,
}

/// The owner of a dedupe key or of a signed id: the first event with it. The owner of a signed id may itself be a
/// duplicate of another event.
#[derive(Clone, Copy)]
pub(crate) struct First {
    pub(crate) seq: i64,
    pub(crate) id: EventId,
    /// Whether the owner came with another body, under a signed id that may be used for only one.
    pub(crate) other_body: bool,
}

impl First {
    /// Returns the event at which a duplicate of this one points: one that is no duplicate itself. `None` if that is
    /// the event `of`.
    pub(crate) fn shown_for(&self, db: &Connection, of: EventId) -> Result<Option<EventId>, InboxError> {
        const SQL: &str = "SELECT duplicate_of FROM event WHERE seq = ?1";
        let found =
            db.prepare_cached(SQL)?.query_row([self.seq], |row| rows::id_or_null(row, 0)).optional()?;
        let first = found.flatten().unwrap_or(self.id);
        Ok(Some(first).filter(|first| *first != of))
    }
}

/// Takes the key for this event, or returns the first event with it. A valid event takes the key from an owner that is
/// not valid or came from a web page, because such an owner got the key before its source could prove anything, and
/// from a copy, which yields to its webhook.
pub(crate) fn own_key(
    db: &Connection,
    claim: KeyTerms,
    place: &KeyPlace,
) -> Result<Option<First>, InboxError> {
    const TAKE: &str = "INSERT INTO first_key (source, key, seq, id, at) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO UPDATE SET seq = excluded.seq, id = excluded.id, at = excluded.at, went = NULL,
            sha256 = NULL
        WHERE ?6 AND EXISTS (SELECT 1 FROM event WHERE event.seq = first_key.seq
            AND (event.verdict <> 0 OR event.flags & 1 OR event.via = 2))";
    const FIND: &str = "SELECT seq, id, at FROM first_key WHERE source = ?1 AND key = ?2";
    const RENEW: &str = "UPDATE first_key SET seq = ?3, id = ?4, at = ?5, went = NULL, sha256 = NULL
        WHERE source = ?1 AND key = ?2";
    let KeyPlace { source, seq, id, at, is_proved } = place;
    let other_body = claim.single_use.map(|single| taken(db, single, place)).transpose()?.flatten();
    if other_body.is_some() {
        return Ok(other_body);
    }
    if claim.may_own {
        let own = params![source, claim.hash, seq, id.as_bytes(), at, is_proved];
        if db.prepare_cached(TAKE)?.execute(own)? == 1 {
            return Ok(None);
        }
    }
    let found = db.prepare_cached(FIND)?.query_row(params![source, claim.hash], |row| {
        let first = First { seq: row.get(0)?, id: rows::id(row, 1)?, other_body: false };
        Ok((first, row.get::<_, i64>(2)?))
    });
    let Some((first, since)) = found.optional()?.filter(|(first, _)| first.id != *id) else {
        return Ok(None);
    };
    if claim.by_content && at.saturating_sub(since).saturating_abs() > CONTENT_WINDOW_US {
        if claim.may_own && *at > since {
            db.prepare_cached(RENEW)?.execute(params![source, claim.hash, seq, id.as_bytes(), at])?;
        }
        return Ok(None);
    }
    Ok(Some(first))
}

/// Settles the key of a stored event again: the event takes the key if it may, and gives it up otherwise. Returns the
/// event that it duplicates, if any. An event that may not own the key is no duplicate of a later one.
pub(crate) fn settle_key(
    db: &Connection,
    claim: KeyTerms,
    place: &KeyPlace,
) -> Result<Option<First>, InboxError> {
    const GIVE_UP: &str = "DELETE FROM first_key WHERE source = ?1 AND key = ?2 AND seq = ?3";
    if !claim.may_own {
        db.prepare_cached(GIVE_UP)?.execute(params![place.source, claim.hash, place.seq])?;
    }
    let first = own_key(db, claim, place)?;
    Ok(first.filter(|first| claim.may_own || first.seq < place.seq))
}

/// Takes a signed id for this event's body, or returns the event that took the id for another body. The keys outlive
/// the events, so that a body is still recognised after its event was pruned.
fn taken(db: &Connection, claim: SingleUse, place: &KeyPlace) -> Result<Option<First>, InboxError> {
    const TAKE: &str =
        "INSERT INTO first_key (source, key, seq, id, at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    const FIND: &str = "SELECT seq, id FROM first_key WHERE source = ?1 AND key = ?2";
    let KeyPlace { source, seq, id, at, .. } = place;
    let own = |key: [u8; 16]| db.prepare_cached(TAKE)?.execute(params![source, key, seq, id.as_bytes(), at]);
    if own(claim.id)? == 1 {
        own(claim.with_body)?;
        return Ok(None);
    }
    let owner = |key: [u8; 16]| {
        let read =
            |row: &rusqlite::Row<'_>| Ok(First { seq: row.get(0)?, id: rows::id(row, 1)?, other_body: true });
        db.prepare_cached(FIND)?.query_row(params![source, key], read).optional()
    };
    let known = owner(claim.with_body)?.is_some();
    Ok(if known { None } else { owner(claim.id)? })
}
