//! Signed ids under which only one body may come: where a signature doesn't pin the body down (a CRC-32, a token), the
//! id that it does cover tells a forged one.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    InboxError,
    first_key::{First, KeyPlace},
    rows,
};

/// Why a delivery of a rejecting source is not sent.
pub(crate) const OTHER_BODY: &str =
    "another body came before under the same signed id, which covers only one";

/// A signed id, and the body that came under it, as 16 bytes of hash each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleUse {
    /// Of the id.
    pub id: [u8; 16],
    /// Of the id with the body.
    pub with_body: [u8; 16],
}

/// Takes the id for this event's body, or finds the event that took it for another. The keys outlive the events: a body
/// that came once is known when its event is pruned.
pub(crate) fn taken(
    db: &Connection,
    claim: SingleUse,
    place: &KeyPlace,
) -> Result<Option<First>, InboxError> {
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
