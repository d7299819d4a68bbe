//! Tokens, found by their hashes.

use rusqlite::{Connection, ErrorCode, OptionalExtension as _};

use super::{
    trouble::{Trouble, no_token},
    tunnels,
    writer::Batch,
};
use crate::{MailboxError, Token, age::Moment};

/// Stores a token.
pub(super) fn add(
    batch: &mut Batch<'_>,
    id: &str,
    hash: &[u8; 32],
    name: Option<&str>,
    most_tunnels: u32,
    wall: i64,
) -> Result<(), Trouble> {
    const SQL: &str =
        "INSERT INTO token (id, hash, name, created_at, most_tunnels) VALUES (?1, ?2, ?3, ?4, ?5)";
    match batch.db.prepare_cached(SQL)?.execute((id, &hash[..], name, wall, most_tunnels)) {
        // A single statement that violates a constraint has changed nothing, so this is a refusal and not a failure.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(MailboxError::NameTaken(id.to_owned()).into())
        }
        done => Ok(done.map(|_| ())?),
    }
}

/// Returns all tokens, oldest first.
pub(super) fn all(db: &Connection) -> Result<Vec<Token>, MailboxError> {
    const SQL: &str = "SELECT id, name, created_at, used_at, revoked_at, most_tunnels FROM token
        ORDER BY created_at, id";
    const TUNNELS: &str = "SELECT name FROM tunnel WHERE token = ?1 AND shut < 2 ORDER BY id";
    let mut statement = db.prepare_cached(SQL)?;
    let tokens = statement.query_map([], |row| {
        let id: String = row.get(0)?;
        let mut tunnels = db.prepare_cached(TUNNELS)?;
        let tunnels = tunnels.query_map([&id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let (name, created_at) = (row.get(1)?, row.get(2)?);
        let (used_at, revoked_at, most_tunnels) = (row.get(3)?, row.get(4)?, row.get(5)?);
        Ok(Token { id, name, created_at, used_at, revoked_at, most_tunnels, tunnels })
    });
    Ok(tokens?.collect::<rusqlite::Result<_>>()?)
}

/// Returns the id of the token with this hash, unless it was revoked.
pub(super) fn find(db: &Connection, hash: &[u8; 32]) -> Result<Option<String>, MailboxError> {
    const SQL: &str = "SELECT id FROM token WHERE hash = ?1 AND revoked_at IS NULL";
    Ok(db.prepare_cached(SQL)?.query_row([&hash[..]], |row| row.get(0)).optional()?)
}

/// Gives a token another secret.
pub(super) fn rotate(batch: &mut Batch<'_>, id: &str, hash: &[u8; 32]) -> Result<(), Trouble> {
    const REVOKED: &str = "SELECT revoked_at IS NOT NULL FROM token WHERE id = ?1";
    const SQL: &str = "UPDATE token SET hash = ?2 WHERE id = ?1";
    let revoked = batch.db.prepare_cached(REVOKED)?.query_row([id], |row| row.get(0)).optional()?;
    match revoked {
        None => Err(no_token(id).into()),
        Some(true) => Err(MailboxError::TokenRevoked(id.to_owned()).into()),
        Some(false) => {
            batch.db.prepare_cached(SQL)?.execute((id, &hash[..]))?;
            Ok(())
        }
    }
}

/// Revokes a token and shuts its tunnels. Revoking it again changes nothing.
pub(super) fn revoke(batch: &mut Batch<'_>, id: &str, now: Moment) -> Result<(), Trouble> {
    const SQL: &str = "UPDATE token SET revoked_at = ifnull(revoked_at, ?2) WHERE id = ?1";
    const OPEN: &str = "SELECT name FROM tunnel WHERE token = ?1 AND shut = 0";
    if batch.db.prepare_cached(SQL)?.execute((id, now.wall))? == 0 {
        return Err(no_token(id).into());
    }
    let mut open = batch.db.prepare_cached(OPEN)?;
    let open: Vec<String> = open.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for tunnel in open {
        tunnels::shut(batch, &tunnel, tunnels::REVOKED, now.store)?;
    }
    Ok(())
}
