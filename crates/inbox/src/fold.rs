//! Which repeats a list may fold away beneath their first event.

use hookmitt_event::Verdict;
use rusqlite::{Connection, params};

use crate::{
    InboxError,
    reasons::DUPLICATE,
    rows::{BROWSER, FOLDS},
};

/// Marks whether an event folds: a repeat that is recognised by its id, proves as much as its first, and was skipped
/// everywhere because it is a repeat. A copy from backup sync needs no proof of its own. One that is recognised by its content alone may be another event, and whatever
/// nobody proved, a web page sent, or was withheld for a reason of its own is worth a look.
pub(crate) fn settle(db: &Connection, seq: i64) -> Result<(), InboxError> {
    const SQL: &str = "UPDATE event SET flags = (flags & ~?2) | iif(duplicate_of IS NOT NULL
        AND dedupe_key LIKE 'id:%' AND NOT flags & ?3 AND verdict NOT IN (?4, ?5)
        AND (verdict = ?6 OR via = 2 OR verdict = (SELECT f.verdict FROM event f WHERE f.id = event.duplicate_of))
        AND NOT EXISTS (SELECT 1 FROM delivery WHERE event = ?1 AND (state <> 5 OR last_error IS NOT ?7)), ?2, 0)
        WHERE seq = ?1 AND (duplicate_of IS NOT NULL OR flags & ?2)";
    let [invalid, pending, valid] =
        [Verdict::Invalid, Verdict::Pending, Verdict::Valid].map(|verdict| verdict as i64);
    db.prepare_cached(SQL)?.execute(params![seq, FOLDS, BROWSER, invalid, pending, valid, DUPLICATE])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hookmitt_clock::MachineClock;
    use hookmitt_event::{DedupeKey, EventId, TargetId, TargetKind, Timestamp, Verdict};

    use crate::{Inbox, NewEvent, Route, SourceSettings, TargetSettings, samples};

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

    /// A source with a target.
    struct Set {
        inbox: Inbox,
        source: i64,
        target: TargetId,
        _folder: tempfile::TempDir,
    }

    async fn set() -> Set {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::open(folder.path(), Arc::new(MachineClock)).unwrap();
        let slug: hookmitt_event::Slug = "s".parse().unwrap();
        let source = inbox.add_source(slug.clone(), SourceSettings::default(), false, NOW).await.unwrap().row;
        let (url, settings) = ("http://one.example/".to_owned(), TargetSettings::default());
        let target = inbox.add_target(Some(slug), url, settings, TargetKind::Kept, NOW).await.unwrap().id;
        Set { inbox, source, target, _folder: folder }
    }

    impl Set {
        /// Stores the same event again, but for what `change` does to it. Returns its id.
        async fn again(&self, change: impl FnOnce(&mut NewEvent)) -> EventId {
            let mut new = samples::event(self.source, NOW);
            change(&mut new);
            self.inbox.store(new).await.unwrap().id
        }

        async fn folds(&self, id: EventId) -> bool {
            self.inbox.event(id).await.unwrap().folds
        }
    }

    #[tokio::test]
    async fn a_repeat_folds_if_it_proves_as_much_as_its_first_and_is_nothing_but_a_repeat() {
        let set = set().await;
        let first = set.again(|_| ()).await;
        assert!(!set.folds(first).await);
        type Change = fn(&mut NewEvent);
        let changes: [(bool, Change); 8] = [
            (true, |_| ()),
            (true, |new| *new = samples::with_body(new.clone(), "other")),
            (false, |new| new.verdict = Verdict::Unsigned),
            (false, |new| new.verdict = Verdict::Invalid),
            (false, |new| new.verdict = Verdict::NoSecret),
            (false, |new| new.browser = true),
            (false, |new| new.dedupe_key = DedupeKey::Content("1".to_owned())),
            (false, |new| new.route = Route::Withheld("its body isn't what the relay received")),
        ];
        for (number, (folds, change)) in changes.into_iter().enumerate() {
            let repeat = set.again(change).await;
            assert_eq!(set.folds(repeat).await, folds, "{number}");
        }
    }

    #[tokio::test]
    async fn a_repeat_of_which_something_is_sent_after_all_stands_for_itself() {
        let set = set().await;
        set.again(|_| ()).await;
        let (retried, replayed) = (set.again(|_| ()).await, set.again(|_| ()).await);
        assert!(set.folds(retried).await && set.folds(replayed).await);
        assert_eq!(set.inbox.retry(retried).await.unwrap().len(), 1);
        set.inbox.add_replays(replayed, vec![set.target]).await.unwrap();
        assert!(!set.folds(retried).await && !set.folds(replayed).await);
    }
}
