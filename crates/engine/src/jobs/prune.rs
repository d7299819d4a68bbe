//! Deletes for good what has been kept for long enough, at once rather than in the background.

use hookmitt_inbox::{Pruner, WhyGoes};

use super::{gone::Gone, run::Run};
use crate::EngineError;

pub(super) async fn go(run: &mut Run) -> Result<(), EngineError> {
    let inbox = run.parts.base.inbox.clone();
    if run.job.total.is_none() {
        let would = run.unless_ended(async { Ok(inbox.prunable().await?) }).await?;
        // How many go to make room is an estimate, which the job would not come out at.
        if would.items.iter().all(|some| some.why == WhyGoes::Age) {
            run.set_total(would.items.iter().map(|some| some.events).sum()).await?;
        }
    }
    let (mut pruner, mut gone) = (Pruner::new(inbox, Some(run.job.id)), Gone::of(run));
    loop {
        run.goes_on()?;
        let pruned = pruner.step().await?;
        gone.add(pruned.gone);
        run.tell();
        if !pruned.more {
            break;
        }
    }
    gone.leaves_nothing(run).await
}
