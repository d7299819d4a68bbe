//! Starts the couriers of all targets.

use std::{collections::HashMap, sync::Arc, time::Duration};

use hookmitt_event::TargetId;
use tokio::{
    task::{Id, JoinError, JoinSet},
    time::MissedTickBehavior,
};
use tokio_util::sync::CancellationToken;

use super::{courier, owner_lock::OwnerLock, sending::Sending};

/// How often we look for deliveries that wait although nobody woke their courier.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// How long attempts in flight may go on after the stop. The next start sends again what is still unfinished then.
const GRACE: Duration = Duration::from_secs(10);

/// Runs a courier for each target for which something waits, until the stop or until the lock is lost.
pub(super) async fn dispatch(sending: &Arc<Sending>, lock: &OwnerLock) {
    let stop = sending.base.tasks.stop.child_token();
    let mut reloads = sending.settings.reloads();
    let mut staff = Staff { sending, out: JoinSet::new(), working: HashMap::new(), stop: stop.clone() };
    let mut sweep = tokio::time::interval(SWEEP_EVERY);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        staff.send_out();
        tokio::select! {
            () = stop.cancelled() => break,
            () = sending.bells.news.notified() => {}
            _ = reloads.changed() => sending.bells.urge_all(),
            _ = sweep.tick() => {
                if !lock.is_ours() {
                    tracing::error!("the owner's lock was replaced by another file: this process no longer delivers");
                    break;
                }
                start_forgotten(sending).await;
            }
            Some(ended) = staff.out.join_next_with_id() => staff.ended(&ended),
        }
    }
    stop.cancel();
    staff.see_out().await;
}

/// The couriers that run.
struct Staff<'e> {
    sending: &'e Arc<Sending>,
    out: JoinSet<()>,
    working: HashMap<Id, TargetId>,
    stop: CancellationToken,
}

impl Staff<'_> {
    fn send_out(&mut self) {
        for (target, bell) in self.sending.bells.all() {
            if self.working.values().all(|at_work| *at_work != target) {
                let (sending, stop) = (Arc::clone(self.sending), self.stop.clone());
                let task = self.out.spawn(async move { courier::work(&sending, target, &bell, &stop).await });
                self.working.insert(task.id(), target);
            }
        }
    }

    /// Handles the end of a courier: its target is removed, or it panicked. After a panic only the next event or sweep
    /// starts another courier, so that one that panics at once doesn't do so endlessly.
    fn ended(&mut self, ended: &Result<(Id, ()), JoinError>) {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, ())| *id);
        let Some(target) = self.working.remove(&id) else { return };
        self.sending.bells.forget(target);
        if let Err(error) = ended {
            tracing::error!(%error, %target, "a courier failed; it is being restarted");
            self.sending.base.tasks.note_fault("a target's courier");
            return;
        }
        // The bell may have been rung while the courier was ending, for a target that another process had added.
        if self.sending.settings.now().targets.contains_key(&target) {
            self.sending.bells.wake(target);
        }
    }

    async fn see_out(mut self) {
        let all = async { while self.out.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            tracing::warn!("attempts were still in progress at the end; the next start retries them");
        }
    }
}

/// Wakes the courier of every target for which something waits, and stores how far the inbox's clock is.
async fn start_forgotten(sending: &Sending) {
    let swept = async {
        sending.base.inbox.keep_clock().await?;
        sending.base.inbox.waiting().await
    };
    match swept.await {
        Ok(waiting) => waiting.into_iter().for_each(|target| sending.bells.wake(target)),
        Err(error) => tracing::warn!(%error, "can't look for deliveries that haven't started"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::begun::engine;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_courier_that_breaks_off_is_said_and_forgotten_so_that_another_can_be_sent() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let sending = &engine.delivery.sending;
        sending.bells.wake(TargetId(7));
        let stop = CancellationToken::new();
        let mut staff = Staff { sending, out: JoinSet::new(), working: HashMap::new(), stop };
        let task = staff.out.spawn(async { panic!("a fault of ours") });
        staff.working.insert(task.id(), TargetId(7));
        let ended = staff.out.join_next_with_id().await.unwrap();
        staff.ended(&ended);
        assert!(staff.working.is_empty() && sending.bells.all().is_empty());
        assert!(engine.warnings().iter().any(|said| said.starts_with("a target's courier failed")));
        sending.bells.wake(TargetId(7));
        staff.send_out();
        assert_eq!(staff.working.len(), 1);
        staff.stop.cancel();
        staff.see_out().await;
        engine.stop().await;
    }
}
