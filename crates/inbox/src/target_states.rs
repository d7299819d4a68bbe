//! What was last found at each target: whether somebody answers there.

use std::collections::HashMap;

use hookmitt_event::{NoConnection, Silence, TargetId, TargetState, Timestamp};
use rusqlite::{Connection, Row, params};

use crate::{Inbox, InboxError, rows};

/// How old the stored time of the last answer gets, in microseconds, before a newer one is written: not every attempt
/// has to change its target.
const FRESH_US: i64 = 1_000_000;

impl Inbox {
    /// Returns what was last found at each target.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn target_states(&self) -> Result<HashMap<TargetId, TargetState>, InboxError> {
        const SQL: &str = "SELECT id, answered_at, silent_since, silent_why, silent_error FROM target
            WHERE removed_at IS NULL";
        self.readers
            .read(|db| {
                let mut select = db.prepare_cached(SQL)?;
                let found = select.query_map([], |row| Ok((TargetId(row.get(0)?), state(row)?)))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Stores what was found at targets. Their deliveries are neither held up nor let go by it. Returns whether any of
    /// them was in another state before.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn found_at(
        &self,
        found: Vec<(TargetId, Result<(), Silence>)>,
        now: Timestamp,
    ) -> Result<bool, InboxError> {
        self.write(move |batch| {
            let mut is_news = false;
            for (id, what) in &found {
                is_news |= match what {
                    Ok(()) => answered(batch.db, *id, now)?,
                    Err(silence) => silent(batch.db, *id, now, silence)?,
                };
            }
            Ok(is_news)
        })
        .await
    }
}

/// Stores that somebody answers. Returns whether that was not known before.
pub(crate) fn answered(db: &Connection, id: TargetId, now: Timestamp) -> Result<bool, InboxError> {
    const BACK: &str =
        "UPDATE target SET answered_at = ?2, silent_since = NULL, silent_why = NULL, silent_error = NULL
        WHERE id = ?1 AND (answered_at IS NULL OR silent_since IS NOT NULL)";
    const AGAIN: &str =
        "UPDATE target SET answered_at = ?2 WHERE id = ?1 AND answered_at NOT BETWEEN ?2 - ?3 AND ?2";
    let now = now.as_micros();
    let is_back = db.prepare_cached(BACK)?.execute(params![id.0, now])? > 0;
    if !is_back {
        db.prepare_cached(AGAIN)?.execute(params![id.0, now, FRESH_US])?;
    }
    Ok(is_back)
}

/// Stores that nobody answers, since that time at the latest. Returns whether that was not known before.
pub(crate) fn silent(
    db: &Connection,
    id: TargetId,
    since: Timestamp,
    Silence { why, error }: &Silence,
) -> Result<bool, InboxError> {
    const KNOWN: &str = "SELECT 1 FROM target WHERE id = ?1 AND silent_since IS NOT NULL AND silent_why = ?2";
    const SET: &str = "UPDATE target SET silent_since = coalesce(silent_since, ?2), silent_why = ?3,
        silent_error = ?4 WHERE id = ?1";
    let is_known = db.prepare_cached(KNOWN)?.exists(params![id.0, *why as i64])?;
    if !is_known {
        db.prepare_cached(SET)?.execute(params![id.0, since.as_micros(), *why as i64, error])?;
    }
    Ok(!is_known)
}

fn state(row: &Row<'_>) -> rusqlite::Result<TargetState> {
    if let Some(since) = rows::moment_or_null(row, 2)? {
        let why: usize = row.get(3)?;
        let why = NoConnection::ALL.get(why).copied().ok_or_else(|| rows::corrupt(3, "reason"))?;
        return Ok(TargetState::Silent { since, why, error: row.get(4)? });
    }
    Ok(rows::moment_or_null(row, 1)?.map_or(TargetState::Untried, |at| TargetState::Answered { at }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hookmitt_clock::MachineClock;
    use hookmitt_event::TargetKind;

    use super::*;
    use crate::TargetSettings;

    fn refused() -> Silence {
        Silence {
            why: NoConnection::ConnectionRefused,
            error: "connection refused by localhost:3000".to_owned(),
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(1_750_000_000 + seconds)
    }

    fn silent_since(seconds: i64) -> TargetState {
        let Silence { why, error } = refused();
        TargetState::Silent { since: at(seconds), why, error }
    }

    async fn set() -> (tempfile::TempDir, Inbox, TargetId) {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::open(folder.path(), Arc::new(MachineClock)).unwrap();
        let url = "http://localhost:3000".to_owned();
        let target =
            inbox.add_target(None, url, TargetSettings::default(), TargetKind::Kept, at(0)).await.unwrap();
        (folder, inbox, target.id)
    }

    async fn state(inbox: &Inbox, id: TargetId) -> TargetState {
        inbox.target_states().await.unwrap().remove(&id).unwrap()
    }

    #[tokio::test]
    async fn a_target_is_untried_until_somebody_looked_and_keeps_what_was_found() {
        let (_folder, inbox, id) = set().await;
        assert_eq!(state(&inbox, id).await, TargetState::Untried);
        let found = async |what, seconds| inbox.found_at(vec![(id, what)], at(seconds)).await.unwrap();
        assert!(found(Ok(()), 10).await, "that is news");
        assert!(!found(Ok(()), 12).await);
        assert_eq!(state(&inbox, id).await, TargetState::Answered { at: at(12) });

        assert!(found(Err(refused()), 20).await);
        assert!(!found(Err(refused()), 30).await);
        assert_eq!(state(&inbox, id).await, silent_since(20), "since it was first seen");
        let slow = Silence { why: NoConnection::NoAnswer, error: "no answer".to_owned() };
        assert!(found(Err(slow.clone()), 40).await, "another reason is news");
        assert_eq!(
            state(&inbox, id).await,
            TargetState::Silent { since: at(20), why: slow.why, error: slow.error }
        );
        assert!(found(Ok(()), 50).await);
        assert_eq!(state(&inbox, id).await, TargetState::Answered { at: at(50) });
        assert!(inbox.targets().await.unwrap()[0].down_since.is_none(), "looking holds up nothing");
    }

    #[tokio::test]
    async fn a_target_whose_deliveries_are_held_up_is_silent_and_another_url_is_another_server() {
        let (_folder, inbox, id) = set().await;
        inbox.found_at(vec![(id, Err(refused()))], at(20)).await.unwrap();
        inbox.set_down(id, Some((at(30), refused()))).await.unwrap();
        assert_eq!(state(&inbox, id).await, silent_since(20));
        inbox.set_down(id, None).await.unwrap();
        assert_eq!(state(&inbox, id).await, silent_since(20), "that it is tried again is no answer");

        let other = "http://localhost:4000".to_owned();
        inbox.set_target(id, other, TargetSettings::default(), false).await.unwrap();
        assert_eq!(state(&inbox, id).await, TargetState::Untried);
    }
}
