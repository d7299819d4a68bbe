//! Takes events out of the bin.

use hookmitt_inbox::Act;

use super::{asked::Which, run::Run, walk::Walk};
use crate::EngineError;

pub(super) async fn go(run: &mut Run, which: &Which) -> Result<(), EngineError> {
    let (mut walk, bin) = (Walk::over(which, run.job.created_at)?.in_bin(), run.parts.bin.clone());
    while let Some(stepped) = walk.step(run, Act::Restore).await? {
        for (id, targets) in &stepped.changed {
            bin.tell(*id, targets);
            bin.judge_in_turn(*id).await;
        }
    }
    Ok(())
}
