//! Deletes for good what has been kept for long enough, at once rather than in the background.

use hookmitt_inbox::Pruner;

use super::run::Run;
use crate::{Change, EngineError};

pub(super) async fn go(run: &mut Run) -> Result<(), EngineError> {
    let inbox = run.parts.base.inbox.clone();
    if run.job.total.is_none() {
        let would = run.unless_ended(async { Ok(inbox.prunable().await?) }).await?;
        if would.over_limit == 0 {
            run.set_total(would.items.iter().map(|some| some.events).sum()).await?;
        }
    }
    let (mut pruner, mut gone) = (Pruner::new(inbox, Some(run.job.id)), 0);
    loop {
        run.goes_on()?;
        let pruned = pruner.step().await?;
        gone += pruned.gone;
        run.tell();
        if !pruned.more {
            break;
        }
    }
    run.parts.base.announce(Change::Many(gone));
    run.parts.trash.tidy_up();
    Ok(())
}
