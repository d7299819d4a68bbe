//! Tokens, and how many tunnels each may open.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    names::{hash_key, token_key},
    records::TokenRecord,
    store::Store,
    table::{Next, Versioned},
};
use crate::MailboxError;

/// Stores a token.
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
        Some(_) => Err(MailboxError::Failed(format!("there is already a token {id}"))),
    });
    let (added, ()) = added.await?;
    // The key that leads from the hash to the token is written last, so that a token that can be used is complete.
    let to = store
        .tunnels
        .change(hash_key(&hash), None, 0, |_: Option<&String>| Ok((Next::Write(id.to_owned()), ())));
    to.await?;
    if let Some(added) = added {
        store.registry.set_token(id, added);
    }
    Ok(())
}

/// Returns the id of the token with this hash, unless it was revoked.
pub(super) async fn find(store: &Store, hash: &[u8; 32]) -> Result<Option<String>, MailboxError> {
    store.check_open()?;
    let Some(id) = store.tunnels.read::<String>(&hash_key(hash), 0).await? else { return Ok(None) };
    let token = read(store, &id.record).await?;
    // The key of a former secret may still lead here.
    let holds = |token: &TokenRecord| token.hash == *hash && token.revoked_at.is_none();
    Ok(token.filter(|token| holds(&token.record)).map(|_| id.record))
}

/// Gives a token another secret. The record of the token decides which secret counts. The key of the former secret is
/// removed for the sake of relays of an earlier version, which only follow the keys.
pub(super) async fn rotate(store: &Store, id: &str, hash: [u8; 32]) -> Result<(), MailboxError> {
    store.check_open()?;
    let to = store
        .tunnels
        .change(hash_key(&hash), None, 0, |_: Option<&String>| Ok((Next::Write(id.to_owned()), ())));
    to.await?;
    let (seen, mut former) = (store.registry.token_revision(id), None);
    let changed = store.tunnels.change_alone(token_key(id), seen, |found: Option<&TokenRecord>| {
        let token = found.cloned().ok_or_else(|| no_token(id))?;
        if token.revoked_at.is_some() {
            return Err(MailboxError::TokenRevoked(id.to_owned()));
        }
        if token.hash == hash {
            return Ok((Next::Keep, ()));
        }
        former = Some(token.hash);
        Ok((Next::Write(TokenRecord { hash, ..token }), ()))
    });
    if let (Some(token), ()) = changed.await? {
        store.registry.set_token(id, token);
    }
    match former {
        Some(former) => store.tunnels.erase(&store.js, &hash_key(&former)).await,
        None => Ok(()),
    }
}

/// Returns a token as it is now.
pub(super) async fn read(store: &Store, id: &str) -> Result<Option<Versioned<TokenRecord>>, MailboxError> {
    let token = store.tunnels.read::<TokenRecord>(&token_key(id), store.registry.token_revision(id)).await?;
    if let Some(token) = &token {
        store.registry.set_token(id, token.clone());
    }
    Ok(token)
}

/// Records that a token has just opened a tunnel.
pub(super) async fn used(store: &Store, id: &str) -> Result<(), MailboxError> {
    let now = store.clock.now().wall;
    change(store, id, |token| token.used_at = token.used_at.max(Some(now))).await
}

/// Revokes a token. Returns its tunnels, whose letters nobody wants now.
pub(super) async fn revoke(store: &Store, id: &str) -> Result<Vec<String>, MailboxError> {
    store.check_open()?;
    let now = store.clock.now().wall;
    change(store, id, |token| token.revoked_at = token.revoked_at.or(Some(now))).await?;
    Ok(store.registry.tunnels_of(id))
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

/// Returns the error for a token that does not exist.
pub(super) fn no_token(id: &str) -> MailboxError {
    MailboxError::Unknown { what: "token", name: id.to_owned() }
}

/// The names of tunnels that are being opened, with their tokens, so that tunnels that are opened at the same time are
/// counted, too.
#[derive(Debug, Default)]
pub(super) struct Reservations(Mutex<HashMap<String, String>>);

/// While a reservation lives, its tunnel counts as being opened.
#[derive(Debug)]
pub(super) struct Reservation<'c> {
    reservations: &'c Reservations,
    name: String,
}

impl Reservations {
    /// Starts to open a tunnel if its token, which may have `most` tunnels and has those that `open` returns, may have
    /// one more. A name that is in `open` already passes; whether it may be used is checked later.
    pub(super) fn reserve(
        &self,
        name: &str,
        token: &str,
        most: u32,
        open: impl FnOnce() -> Vec<String>,
    ) -> Result<Reservation<'_>, MailboxError> {
        let mut reservations = self.all();
        let mut all: HashSet<String> = open().into_iter().collect();
        all.extend(reservations.iter().filter(|(_, of)| *of == token).map(|(name, _)| name.clone()));
        if !all.contains(name) && all.len() >= usize::try_from(most).unwrap_or(usize::MAX) {
            return Err(MailboxError::TooManyTunnels(most));
        }
        reservations.insert(name.to_owned(), token.to_owned());
        Ok(Reservation { reservations: self, name: name.to_owned() })
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.reservations.all().remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_opened_is_counted_once_and_for_its_own_token() {
        let reservations = Reservations::default();
        let reserve = |name: &str, token: &str, open: &[&str]| {
            let open: Vec<_> = open.iter().map(|&name| name.to_owned()).collect();
            reservations.reserve(name, token, 2, || open)
        };
        let one = reserve("one", "tk", &[]).unwrap();
        let two = reserve("two", "tk", &["one"]).unwrap();
        let refused = reserve("three", "tk", &[]).unwrap_err();
        assert!(matches!(refused, MailboxError::TooManyTunnels(2)), "{refused}");
        assert!(reserve("three", "other", &[]).is_ok());
        drop(two);
        assert!(reserve("two", "tk", &["one"]).is_ok(), "it came to nothing");
        drop(one);
        assert!(reserve("three", "tk", &["one", "two"]).is_err());
        assert!(reservations.all().is_empty());
    }
}
