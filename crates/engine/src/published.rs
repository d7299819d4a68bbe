//! Keys that providers publish: fetched beside the capturing, and what waited for one is judged anew.

use std::{
    path::Path,
    sync::{Arc, Weak},
    time::Duration,
};

use hookmitt_event::{Timestamp, Verdict};
use hookmitt_keys::{Fetching, KeyStore, Network};

use crate::{Change, Engine, EngineError, rejudge::rejudged};

/// How often a key is asked for again that still waits: the queue may have been full, or the process new.
const AGAIN: Duration = Duration::from_secs(60);

/// How many events are judged between two commits.
const BATCH: u32 = 64;

/// The keys that are kept in a data directory, and the task that fetches more.
pub(crate) fn open(data_dir: &Path, network: Network) -> (KeyStore, Fetching) {
    KeyStore::open(data_dir, hookmitt_verify::key_hosts(), network, Arc::new(Timestamp::now))
}

impl Engine {
    /// Fetches, until the stop, the keys that verdicts want, and judges anew what waited for them.
    pub(crate) fn await_keys(self: &Arc<Self>, fetching: Fetching) {
        self.tasks.spawn(fetching.run(self.stop.clone()));
        let (engine, stop) = (Arc::downgrade(self), self.stop.clone());
        let mut changes = self.keys.changes();
        self.tasks.spawn(async move {
            // What waited when the last process ended waits still.
            let mut verdicts: &[Verdict] = &[Verdict::Pending];
            loop {
                if let Err(error) = judge_waiting(&engine, verdicts).await {
                    tracing::warn!(%error, "what waits for a published key could not be judged");
                }
                let change = tokio::time::timeout(AGAIN, changes.changed());
                verdicts = match stop.run_until_cancelled(change).await {
                    None | Some(Ok(Err(_))) => return,
                    // A key that could not be had before may be there now.
                    Some(Ok(Ok(()))) => &[Verdict::Pending, Verdict::Unsupported],
                    Some(Err(_)) => &[Verdict::Pending],
                };
            }
        });
    }
}

async fn judge_waiting(engine: &Weak<Engine>, verdicts: &[Verdict]) -> Result<(), EngineError> {
    for verdict in verdicts {
        let mut after = 0;
        loop {
            let Some(engine) = engine.upgrade() else { return Ok(()) };
            let ids = engine.inbox.ids_with_verdict(*verdict, after, BATCH).await?;
            let Some((last, _)) = ids.last() else { break };
            after = *last;
            let mut changed = Vec::new();
            for (_, id) in &ids {
                let event = engine.inbox.event(*id).await?;
                let Ok(known) = engine.known(&event.source) else { continue }; // removed meanwhile
                let now = rejudged(&known, &event);
                if now.verdict != event.verdict || now.causes != event.causes {
                    changed.push((known, now));
                }
            }
            if !changed.is_empty() {
                engine.inbox.rejudge(changed.iter().map(|(_, now)| now.clone()).collect()).await?;
            }
            for (known, now) in changed {
                engine.live.announce(Change::Event(now.id));
                match now.verdict {
                    Verdict::Valid => engine.confirm_by_itself(&known, now.id),
                    Verdict::Invalid => engine.explaining.add(now.id),
                    _ => {}
                }
            }
        }
    }
    Ok(())
}
