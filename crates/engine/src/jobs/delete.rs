//! Puts events into the bin.

use hookmitt_inbox::Act;

use super::{asked::Which, run::Run, walk::Walk};
use crate::EngineError;

pub(super) async fn go(run: &mut Run, which: &Which) -> Result<(), EngineError> {
    let (mut walk, trash) = (Walk::over(which, run.job.created_at)?, run.parts.trash.clone());
    // All of them get the moment at which this was asked for, and stand together in the trash.
    let delete = Act::Delete(run.job.created_at);
    while let Some(stepped) = walk.step(run, delete.clone()).await? {
        stepped.changed.iter().for_each(|(id, targets)| trash.tell(*id, targets));
    }
    Ok(())
}
