//! That relays were there.

use super::{names::PRESENCE, records::PresenceRecord, store::Store, table::Next};
use crate::{MailboxError, Presence};

/// What was noted last.
pub(super) async fn last(store: &Store) -> Result<Option<Presence>, MailboxError> {
    store.check_open()?;
    let found = store.cursors.read::<PresenceRecord>(PRESENCE, 0).await?;
    Ok(found.map(|found| Presence { at: found.record.at, lasting: found.record.lasting }))
}

/// Notes it.
pub(super) async fn note(store: &Store, presence: Presence) -> Result<(), MailboxError> {
    store.check_open()?;
    let Presence { at, lasting } = presence;
    let noted = store.cursors.change(PRESENCE.to_owned(), None, 0, |_: Option<&PresenceRecord>| {
        Ok((Next::Write(PresenceRecord { at, lasting }), ()))
    });
    noted.await.map(drop)
}
