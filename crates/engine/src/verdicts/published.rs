//! Fetches the keys that providers publish, apart from capture, and judges again the events that waited for one.

use std::{sync::Arc, time::Duration};

use hookmitt_event::{EventId, Timestamp, Verdict};
use hookmitt_keys::Fetching;
use tokio::{
    sync::{Mutex, mpsc},
    time::MissedTickBehavior,
};

use super::{
    Verdicts,
    anew::{BATCH, has_come},
};
use crate::EngineError;

/// How often events that still wait for a key are judged again, which asks for the key again: the queue may have been
/// full, or the process new.
const AGAIN: Duration = Duration::from_secs(60);

/// For how long after it was received an event is judged again if its key could not be fetched, because the provider's
/// host may only have been away; and, as `SELDOM`, at how many ticks that happens once.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
const SELDOM: u32 = 10;

/// Values of `since` that lie before, and after, every event.
const ALWAYS: Timestamp = Timestamp::from_micros(i64::MIN);
const NEVER: Timestamp = Timestamp::from_micros(i64::MAX);

/// Fetches, until the stop, the keys that verdicts need, and judges the events that waited for them. `stored` yields
/// committed events whose verdict may be outdated already.
pub(crate) fn judge_as_keys_come(
    verdicts: &Arc<Verdicts>,
    fetching: Fetching,
    stored: mpsc::Receiver<EventId>,
) {
    let tasks = &verdicts.base.tasks;
    tasks.spawn(fetching.run(tasks.stop.clone()));
    let (this, stored) = (Arc::clone(verdicts), Arc::new(Mutex::new(stored)));
    tasks.keep_going("verifying events that waited for a key", move || {
        let (verdicts, stored) = (Arc::clone(&this), Arc::clone(&stored));
        async move {
            let mut stored = stored.lock().await;
            let stop = &verdicts.base.tasks.stop;
            let _stopped = stop.run_until_cancelled(judge_what_waits(&verdicts, &mut stored)).await;
        }
    });
}

/// Judges waiting events again whenever a key may have come.
async fn judge_what_waits(verdicts: &Arc<Verdicts>, stored: &mut mpsc::Receiver<EventId>) {
    let (mut arrivals, mut changes) = (verdicts.settings.keys.arrivals(), verdicts.settings.keys.changes());
    // The first tick comes at once, because events that waited when the last process ended still wait.
    let mut again = tokio::time::interval(AGAIN);
    again.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut ids, mut looks) = (Vec::new(), 0_u32);
    loop {
        let judged = tokio::select! {
            Ok(()) = arrivals.changed() => judge_waiting(verdicts, NEVER).await,
            changed = changes.changed() => match changed {
                // A key that could not be fetched before may be there now.
                Ok(()) => judge_waiting(verdicts, ALWAYS).await,
                Err(_) => return,
            },
            _ = stored.recv_many(&mut ids, BATCH as usize) => {
                judge_committed(verdicts, std::mem::take(&mut ids)).await
            }
            _ = again.tick() => {
                let now = verdicts.base.now();
                let since = if looks.is_multiple_of(SELDOM) { now.before(LONGEST) } else { NEVER };
                looks = looks.wrapping_add(1);
                judge_waiting(verdicts, since).await
            }
        };
        if let Err(error) = judged {
            tracing::warn!(%error, "events that wait for a published key could not be verified");
        }
    }
}

/// Judges events again right after their commit. If a key has come for one of them, every waiting event is judged
/// first, in the order of arrival: of two events with one id, the earlier one has to claim it first. So those whose key
/// isn't here are left to the moment when it comes, even if that is now.
async fn judge_committed(verdicts: &Arc<Verdicts>, ids: Vec<EventId>) -> Result<(), EngineError> {
    let (mut others, mut has_come) = (Vec::new(), false);
    for id in ids {
        match verdicts.waits_no_longer(id).await? {
            None => others.push(id),
            Some(key_is_here) => has_come |= key_is_here,
        }
    }
    if has_come {
        judge_waiting(verdicts, NEVER).await?;
    }
    let changed = verdicts.judged_anew(&others).await?;
    verdicts.keep(changed).await
}

/// Judges pending events again, in the order of arrival, and the events received after `since` whose key could not be
/// fetched.
async fn judge_waiting(verdicts: &Arc<Verdicts>, since: Timestamp) -> Result<(), EngineError> {
    while !went_through(verdicts, since).await? {}
    Ok(())
}

/// Goes once through the events that wait. Returns false, with nothing more stored, if a key came meanwhile: an event that
/// was found to wait for it must be judged before later ones, so the caller begins again.
async fn went_through(verdicts: &Arc<Verdicts>, since: Timestamp) -> Result<bool, EngineError> {
    let mut arrivals = verdicts.settings.keys.arrivals();
    for (verdict, since) in [(Verdict::Pending, ALWAYS), (Verdict::Unsupported, since)] {
        let mut after = 0;
        loop {
            let ids = verdicts.base.inbox.ids_with_verdict(verdict, since, after, BATCH).await?;
            let Some((last, _)) = ids.last() else { break };
            after = *last;
            let ids: Vec<_> = ids.into_iter().map(|(_, id)| id).collect();
            let changed = verdicts.judged_anew(&ids).await?;
            if has_come(&mut arrivals) {
                return Ok(false);
            }
            verdicts.keep(changed).await?;
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::begun::{engine, post, source};

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_committed_after_its_key_came_is_judged_anew_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let known = source(&engine, "hub").await;
        let push = post([("X-GitHub-Event", "push")], b"{}");
        let mut event = known.judge(push).event;
        let settled = event.verdict;
        event.verdict = Verdict::Pending; // as it was before the key came
        let id = engine.capture.store_unanswered(&known, event).await.unwrap().id;
        let judged = async {
            while engine.base.inbox.event(id).await.unwrap().verdict != settled {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(AGAIN / 2, judged).await.expect("nobody waits for the next look at all");
        engine.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn of_two_events_with_one_id_that_waited_for_their_key_the_earlier_one_is_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let source = source(&engine, "hub").await;
        let mut ids = Vec::new();
        for body in [&b"{}"[..], b"[]"] {
            let push = post([("X-GitHub-Event", "push"), ("X-GitHub-Delivery", "one")], body);
            let mut event = source.judge(push).event;
            (event.verdict, event.may_own) = (Verdict::Pending, false); // as it was before the key came
            ids.push(engine.base.inbox.store(event).await.unwrap().id);
        }
        judge_committed(&engine.verdicts, vec![ids[1]]).await.unwrap(); // the later one is looked at first
        let first_of = async |id| engine.base.inbox.event(id).await.unwrap().duplicate_of;
        assert_eq!((first_of(ids[0]).await, first_of(ids[1]).await), (None, Some(ids[0])));
        engine.stop().await;
    }
}
