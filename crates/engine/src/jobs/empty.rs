//! Deletes for good what is in the bin.

use hookmitt_inbox::{BinPart, Emptier};

use super::{gone::Gone, run::Run};
use crate::EngineError;

pub(super) async fn go(run: &mut Run, part: BinPart) -> Result<(), EngineError> {
    let inbox = run.parts.base.inbox.clone();
    if run.job.total.is_none() {
        run.set_total(inbox.count_bin(part).await?).await?;
    }
    let (mut emptier, mut gone) = (Emptier::new(inbox, run.job.id, part), Gone::of(run));
    loop {
        run.goes_on()?;
        let emptied = emptier.step().await?;
        gone.add(emptied.gone);
        run.tell();
        if !emptied.more {
            break;
        }
    }
    gone.leaves_nothing(run).await
}
