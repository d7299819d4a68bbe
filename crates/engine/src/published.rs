//! Keys that providers publish: fetched beside the capturing, and what waited for one is judged anew.

use std::{
    path::Path,
    sync::{Arc, Weak},
    time::Duration,
};

use hookmitt_clock::Clock;
use hookmitt_event::{EventId, Timestamp, Verdict};
use hookmitt_keys::{Fetching, KeyStore, Network};
use tokio::{
    sync::{Mutex, mpsc},
    time::MissedTickBehavior,
};

use crate::{Change, Engine, EngineError, rejudge::rejudged};

/// How often a key is asked for again that still waits: the queue may have been full, or the process new.
const AGAIN: Duration = Duration::from_secs(60);

/// For how long an event is judged anew whose key could not be had, and at how many looks once: the provider's host may
/// only have been away.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
const SELDOM: u32 = 10;

/// How many events are judged between two commits.
const BATCH: u32 = 64;

/// Before anything was received, and after everything.
const ALWAYS: Timestamp = Timestamp::from_micros(i64::MIN);
const NEVER: Timestamp = Timestamp::from_micros(i64::MAX);

/// The keys that are kept in a data directory, and the task that fetches more.
pub(crate) fn open(data_dir: &Path, network: Network, clock: Arc<dyn Clock>) -> (KeyStore, Fetching) {
    KeyStore::open(data_dir, hookmitt_verify::key_hosts(), network, Arc::new(move || clock.now()))
}

/// So many events may wait to be looked at right after their commit; any more wait for the next look at all.
const ROOM: usize = 1_024;

/// Where events are handed over that were judged before their key came, and committed after.
#[derive(Debug)]
pub(crate) struct Pending(mpsc::Sender<EventId>);

impl Pending {
    pub(crate) fn new() -> (Self, mpsc::Receiver<EventId>) {
        let (sender, waiting) = mpsc::channel(ROOM);
        (Self(sender), waiting)
    }

    /// An event that waits for a key is committed. The key may have come just before: then nothing else tells of it.
    /// Answers whether there was room.
    pub(crate) fn add(&self, id: EventId) -> bool {
        self.0.try_send(id).is_ok()
    }
}

impl Engine {
    /// Fetches, until the stop, the keys that verdicts want, and judges anew what waited for them.
    pub(crate) fn await_keys(self: &Arc<Self>, fetching: Fetching, stored: mpsc::Receiver<EventId>) {
        self.tasks.spawn(fetching.run(self.stop.clone()));
        let (engine, stop) = (Arc::downgrade(self), self.stop.clone());
        let stored = Arc::new(Mutex::new(stored));
        self.keep_going("judging what waited for its key", move || {
            let (engine, stored, stop) = (engine.clone(), Arc::clone(&stored), stop.clone());
            async move {
                let mut stored = stored.lock().await;
                let _stopped = stop.run_until_cancelled(judge_what_waits(&engine, &mut stored)).await;
            }
        });
    }

    /// Judges events anew, and keeps what is otherwise than it was.
    async fn judge_anew(&self, ids: Vec<EventId>) -> Result<(), EngineError> {
        let mut changed = Vec::new();
        for id in ids {
            let event = self.inbox.event(id).await?;
            let Ok(known) = self.known(&event.source) else { continue }; // removed meanwhile
            let now = rejudged(&known, &event);
            if now.verdict != event.verdict || now.causes != event.causes {
                changed.push((known, now));
            }
        }
        if !changed.is_empty() {
            let verdicts = changed.iter().map(|(_, now)| now.clone()).collect();
            for event in self.keep_verdicts(verdicts).await? {
                self.provider_is_found(event);
            }
        }
        for (known, now) in changed {
            self.live.announce(Change::Event(now.id));
            match now.verdict {
                Verdict::Valid => self.confirm_by_itself(&known, now.id),
                Verdict::Invalid => self.explaining.add(now.id),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Judges anew what waits, as often as there is something new to judge it by.
async fn judge_what_waits(engine: &Weak<Engine>, stored: &mut mpsc::Receiver<EventId>) {
    let Some(mut changes) = engine.upgrade().map(|engine| engine.keys.changes()) else { return };
    // At once: what waited when the last process ended waits still.
    let mut again = tokio::time::interval(AGAIN);
    again.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut ids, mut looks) = (Vec::new(), 0_u32);
    loop {
        let judged = tokio::select! {
            changed = changes.changed() => match changed {
                // A key that could not be had before may be there now.
                Ok(()) => judge_waiting(engine, ALWAYS).await,
                Err(_) => return,
            },
            _ = stored.recv_many(&mut ids, BATCH as usize) => {
                let Some(engine) = engine.upgrade() else { return };
                engine.judge_anew(std::mem::take(&mut ids)).await
            }
            _ = again.tick() => {
                let Some(now) = engine.upgrade().map(|engine| engine.clock.now()) else { return };
                let since = if looks.is_multiple_of(SELDOM) { now.before(LONGEST) } else { NEVER };
                looks = looks.wrapping_add(1);
                judge_waiting(engine, since).await
            }
        };
        if let Err(error) = judged {
            tracing::warn!(%error, "what waits for a published key could not be judged");
        }
    }
}

/// Judges what waits for a key anew, and what came since then and could not have its key.
async fn judge_waiting(engine: &Weak<Engine>, since: Timestamp) -> Result<(), EngineError> {
    for (verdict, since) in [(Verdict::Pending, ALWAYS), (Verdict::Unsupported, since)] {
        let mut after = 0;
        loop {
            let Some(engine) = engine.upgrade() else { return Ok(()) };
            let ids = engine.inbox.ids_with_verdict(verdict, since, after, BATCH).await?;
            let Some((last, _)) = ids.last() else { break };
            after = *last;
            engine.judge_anew(ids.into_iter().map(|(_, id)| id).collect()).await?;
        }
    }
    Ok(())
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
        let mut arrival = known.judge(push).arrival;
        let settled = arrival.verdict;
        arrival.verdict = Verdict::Pending; // as of the moment before the key came
        let id = engine.store(arrival, &known).await.unwrap().id;
        let judged = async {
            while engine.inbox.event(id).await.unwrap().verdict != settled {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(AGAIN / 2, judged).await.expect("nobody waits for the next look at all");
        engine.stop().await;
    }
}
