//! Explains new invalid events after they are stored, one at a time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hookmitt_event::{EventId, Verdict};

use super::Verdicts;
use crate::{Change, EngineError};

/// The shortest pause after each explanation, so that explaining never holds up capture.
const REST: Duration = Duration::from_millis(20);

/// Explains invalid events in the background until the stop.
pub(crate) fn explain_new(verdicts: &Arc<Verdicts>) {
    let this = Arc::clone(verdicts);
    verdicts.base.tasks.keep_going("explaining invalid events", move || {
        let verdicts = Arc::clone(&this);
        async move {
            let _stopped = verdicts.base.tasks.stop.run_until_cancelled(explain_all(&verdicts)).await;
        }
    });
}

async fn explain_all(verdicts: &Verdicts) {
    loop {
        let id = verdicts.explaining.next().await;
        let began = Instant::now();
        if let Err(error) = explain_one(verdicts, id).await {
            tracing::warn!(%error, "an invalid event could not be explained");
        }
        tokio::time::sleep(began.elapsed().max(REST)).await;
    }
}

async fn explain_one(verdicts: &Verdicts, id: EventId) -> Result<(), EngineError> {
    let Verdicts { base, settings, .. } = verdicts;
    let (explanation, stored) = loop {
        let config = settings.now();
        let explanation = verdicts.explanation(id, None).await?;
        let stored = base.inbox.event(id).await?;
        // Causes that were found with outdated settings would overwrite those of the new ones.
        if Arc::ptr_eq(&config, &settings.now()) {
            break (explanation, stored);
        }
    };
    if explanation.verdict != Verdict::Invalid {
        return Ok(()); // judged again meanwhile
    }
    let causes = explanation.kept_causes();
    if stored.causes != causes && base.inbox.set_causes(id, Verdict::Invalid, causes).await? {
        base.announce(Change::Event(id));
    }
    Ok(())
}
