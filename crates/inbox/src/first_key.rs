//! Who owns a dedupe key: the first event that may. And signed ids under which only one body may come: where a signature
//! doesn't pin the body down (a CRC-32, a token), the id that it does cover tells a forged one.

use hookmitt_event::EventId;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{InboxError, rows};

/// For how long a repeat with the same content, but no id, counts as one.
const CONTENT_WINDOW_US: i64 = 5 * 60 * 1_000_000;

/// A signed id, and the body that came under it, as 16 bytes of hash each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleUse {
    /// Of the id.
    pub id: [u8; 16],
    /// Of the id with the body.
    pub with_body: [u8; 16],
}

/// An event's claim on its dedupe key.
#[derive(Clone, Copy, Debug)]
pub struct KeyTerms {
    /// The first 16 bytes of SHA-256 over the key as it prints.
    pub hash: [u8; 16],
    /// Whether it may own it now.
    pub may_own: bool,
    /// The key is a hash of what was sent, which means the same event for minutes only.
    pub by_content: bool,
    /// The signed id that only this event's body may come under; `None` where the signature covers the body.
    pub single_use: Option<SingleUse>,
}

/// The event that claims.
pub(crate) struct KeyPlace {
    pub(crate) source: i64,
    pub(crate) seq: i64,
    pub(crate) id: EventId,
    /// When it was received.
    pub(crate) at: i64,
    /// It was found valid.
    pub(crate) is_proved: bool,
}

/// The owner of a dedupe key.
pub(crate) struct First {
    pub(crate) seq: i64,
    pub(crate) id: EventId,
    /// It came with another body under a signed id that is used for one.
    pub(crate) other_body: bool,
}

/// Takes the key for this event, or finds who else has it. What is proved takes it from an owner that is not: such a
/// one got it before its source could prove anything.
pub(crate) fn own_key(
    db: &Connection,
    claim: KeyTerms,
    place: &KeyPlace,
) -> Result<Option<First>, InboxError> {
    const TAKE: &str = "INSERT INTO first_key (source, key, seq, id, at) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO UPDATE SET seq = excluded.seq, id = excluded.id, at = excluded.at
        WHERE ?6 AND EXISTS (SELECT 1 FROM event WHERE event.seq = first_key.seq
            AND (event.verdict <> 0 OR event.flags & 1))";
    const FIND: &str = "SELECT seq, id, at FROM first_key WHERE source = ?1 AND key = ?2";
    const RENEW: &str = "UPDATE first_key SET seq = ?3, id = ?4, at = ?5 WHERE source = ?1 AND key = ?2";
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

/// Settles the key of a stored event anew: it takes the key if it may, and else gives it up. Answers whose repeat it
/// is. An event that may not own the key is no repeat of one that came later.
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

/// Takes a signed id for this event's body, or finds the event that took it for another. The keys outlive the events: a body
/// that came once is known when its event is pruned.
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
