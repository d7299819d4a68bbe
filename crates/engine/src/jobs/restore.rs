//! Takes events out of the bin.

use hookmitt_inbox::Act;

use super::{asked::Which, run::Run, walk::Walk};
use crate::EngineError;

pub(super) async fn go(run: &mut Run, which: &Which) -> Result<(), EngineError> {
    let (mut walk, trash) = (Walk::over(which, run.job.created_at)?.in_bin(), run.parts.trash.clone());
    while let Some(stepped) = walk.step(run, Act::Restore).await? {
        for (id, targets) in &stepped.changed {
            trash.tell(*id, targets);
            trash.judge_in_turn(*id).await;
        }
    }
    Ok(())
}
