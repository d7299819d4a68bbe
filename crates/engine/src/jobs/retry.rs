//! Makes failed, dead and skipped deliveries wait again.

use std::sync::Arc;

use hookmitt_inbox::{Act, WhyNot};

use super::{asked::Which, run::Run, walk::Walk};
use crate::EngineError;

pub(super) async fn go(run: &mut Run, which: &Which) -> Result<(), EngineError> {
    let (mut walk, retries) = (Walk::over(which, run.job.created_at)?, run.parts.retries.clone());
    let reason = retries.clone();
    let act = Act::Retry(WhyNot(Arc::new(move |deliveries| reason.why_nothing(deliveries))));
    while let Some(stepped) = walk.step(run, act.clone()).await? {
        stepped.changed.into_iter().for_each(|(id, targets)| retries.tell(id, targets));
    }
    Ok(())
}
