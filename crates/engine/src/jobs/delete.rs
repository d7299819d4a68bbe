//! Puts events into the bin.

use hookmitt_inbox::Act;

use super::{asked::Which, run::Run, walk::Walk};
use crate::EngineError;

pub(super) async fn go(run: &mut Run, which: &Which) -> Result<(), EngineError> {
    let (mut walk, trash) = (Walk::over(which, run.job.created_at)?, run.parts.trash.clone());
    while let Some(stepped) = walk.step(run, Act::Delete).await? {
        stepped.changed.iter().for_each(|(id, targets)| trash.tell(*id, targets));
    }
    Ok(())
}
