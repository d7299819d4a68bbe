//! Tokens.

use super::{
    failure::no_token,
    names::{hash_key, token_key},
    records::TokenRecord,
    store::Store,
    table::{Next, Versioned},
};
use crate::MailboxError;

/// Keeps a token.
pub(super) async fn add(
    store: &Store,
    id: &str,
    hash: [u8; 32],
    name: Option<&str>,
    most_tunnels: u32,
) -> Result<(), MailboxError> {
    store.check_open()?;
    let name = name.map(str::to_owned);
    let created_at = store.clock.now().wall;
    let record = TokenRecord { hash, name, created_at, used_at: None, revoked_at: None, most_tunnels };
    let added = store.tunnels.change(token_key(id), None, 0, |found: Option<&TokenRecord>| match found {
        None => Ok((Next::Write(record.clone()), ())),
        Some(found) if found.hash == hash => Ok((Next::Keep, ())),
        Some(_) => Err(MailboxError::Failed(format!("there is a token {id} already"))),
    });
    let (added, ()) = added.await?;
    // The way from the hash to the token is made last: a token that can be used is whole.
    let to = store
        .tunnels
        .change(hash_key(&hash), None, 0, |_: Option<&String>| Ok((Next::Write(id.to_owned()), ())));
    to.await?;
    if let Some(added) = added {
        store.registry.set_token(id, added);
    }
    Ok(())
}

/// The id of the token with this hash, unless it was revoked.
pub(super) async fn find(store: &Store, hash: &[u8; 32]) -> Result<Option<String>, MailboxError> {
    store.check_open()?;
    let Some(id) = store.tunnels.read::<String>(&hash_key(hash), 0).await? else { return Ok(None) };
    let token = read(store, &id.record).await?;
    Ok(token.filter(|token| token.record.revoked_at.is_none()).map(|_| id.record))
}

/// A token as it is now.
pub(super) async fn read(store: &Store, id: &str) -> Result<Option<Versioned<TokenRecord>>, MailboxError> {
    let token = store.tunnels.read::<TokenRecord>(&token_key(id), store.registry.token_revision(id)).await?;
    if let Some(token) = &token {
        store.registry.set_token(id, token.clone());
    }
    Ok(token)
}

/// A token opened a tunnel just now.
pub(super) async fn used(store: &Store, id: &str) -> Result<(), MailboxError> {
    let now = store.clock.now().wall;
    change(store, id, |token| token.used_at = token.used_at.max(Some(now))).await
}

/// Revokes a token, and deletes the letters of its tunnels.
pub(super) async fn revoke(store: &Store, id: &str) -> Result<(), MailboxError> {
    store.check_open()?;
    let now = store.clock.now().wall;
    change(store, id, |token| token.revoked_at = token.revoked_at.or(Some(now))).await?;
    for tunnel in store.registry.tunnels_of(id) {
        store.give_up(&tunnel, u64::MAX);
    }
    Ok(())
}

async fn change(store: &Store, id: &str, change: impl Fn(&mut TokenRecord)) -> Result<(), MailboxError> {
    let seen = store.registry.token_revision(id);
    let changed = store.tunnels.change_alone(token_key(id), seen, |found: Option<&TokenRecord>| {
        let mut token = found.cloned().ok_or_else(|| no_token(id))?;
        change(&mut token);
        Ok((Next::Write(token), ()))
    });
    if let (Some(token), ()) = changed.await? {
        store.registry.set_token(id, token);
    }
    Ok(())
}
