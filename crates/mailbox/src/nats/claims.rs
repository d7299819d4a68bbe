//! Tunnels that are being opened here.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::MailboxError;

/// The names of tunnels that are being opened, with their tokens: many that are opened at once are counted, too.
#[derive(Debug, Default)]
pub(super) struct Claims(Mutex<HashMap<String, String>>);

/// As long as it lives, a tunnel is being opened.
#[derive(Debug)]
pub(super) struct Claim<'c> {
    claims: &'c Claims,
    name: String,
}

impl Claims {
    /// Begins to open a tunnel, where its token may have `most`, and those that `open` names are open. Whether a name
    /// that is there already is taken or nothing new is found out later.
    pub(super) fn claim(
        &self,
        name: &str,
        token: &str,
        most: u32,
        open: impl FnOnce() -> Vec<String>,
    ) -> Result<Claim<'_>, MailboxError> {
        let mut claims = self.all();
        let mut all: HashSet<String> = open().into_iter().collect();
        all.extend(claims.iter().filter(|(_, of)| *of == token).map(|(name, _)| name.clone()));
        if !all.contains(name) && all.len() >= usize::try_from(most).unwrap_or(usize::MAX) {
            return Err(MailboxError::TooManyTunnels(most));
        }
        claims.insert(name.to_owned(), token.to_owned());
        Ok(Claim { claims: self, name: name.to_owned() })
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.claims.all().remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_opened_is_counted_once_and_for_its_own_token() {
        let claims = Claims::default();
        let claim = |name: &str, token: &str, open: &[&str]| {
            let open: Vec<_> = open.iter().map(|&name| name.to_owned()).collect();
            claims.claim(name, token, 2, || open)
        };
        let one = claim("one", "tk", &[]).unwrap();
        let two = claim("two", "tk", &["one"]).unwrap();
        let refused = claim("three", "tk", &[]).unwrap_err();
        assert!(matches!(refused, MailboxError::TooManyTunnels(2)), "{refused}");
        assert!(claim("three", "other", &[]).is_ok());
        drop(two);
        assert!(claim("two", "tk", &["one"]).is_ok(), "it came to nothing");
        drop(one);
        assert!(claim("three", "tk", &["one", "two"]).is_err());
        assert!(claims.all().is_empty());
    }
}
