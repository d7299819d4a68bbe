//! Which targets have a courier, and how it is woken.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use hookmitt_event::TargetId;
use hookmitt_forward::Tls;
use tokio::{
    sync::Notify,
    task::{Id, JoinError, JoinSet},
    time::MissedTickBehavior,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Engine,
    delivery::{bell::Bell, courier},
};

/// How often we look for what nobody started.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// How long attempts in flight may go on after the stop. What is still unfinished then is sent again at the next
/// start.
const GRACE: Duration = Duration::from_secs(10);

/// A bell for each target that ever had something to be sent.
#[derive(Default)]
pub(crate) struct Couriers {
    bells: Mutex<HashMap<TargetId, Arc<Bell>>>,
    news: Notify,
    tls: OnceLock<Tls>,
}

impl std::fmt::Debug for Couriers {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Couriers").field("bells", &self.bells).finish_non_exhaustive()
    }
}

impl Couriers {
    /// What https targets are trusted by; set up when first needed, for its roots take memory.
    pub(crate) fn tls(&self) -> &Tls {
        self.tls.get_or_init(Tls::new)
    }

    /// Something waits for this target.
    pub(crate) fn wake(&self, target: TargetId) {
        self.bell(target).ring();
    }

    /// Somebody wants what waits for this target to go out now, even if nobody answered there the last time.
    pub(crate) fn urge(&self, target: TargetId) {
        self.bell(target).urge();
    }

    fn bell(&self, target: TargetId) -> Arc<Bell> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        let bell = bells.entry(target).or_insert_with(|| {
            self.news.notify_one();
            Arc::default()
        });
        Arc::clone(bell)
    }

    /// Settings changed: every courier looks again.
    pub(crate) fn wake_all(&self) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.values().for_each(|bell| bell.urge());
        self.news.notify_one();
    }

    fn forget(&self, target: TargetId) {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner).remove(&target);
    }

    fn all(&self) -> Vec<(TargetId, Arc<Bell>)> {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.iter().map(|(target, bell)| (*target, Arc::clone(bell))).collect()
    }
}

/// Sends a courier to each target for which something waits, until `stop`, or until the lock is no longer ours.
pub(crate) async fn dispatch(engine: &Arc<Engine>, stop: &CancellationToken) {
    let stop = stop.child_token();
    let mut staff = Staff { engine, out: JoinSet::new(), working: HashMap::new(), stop: stop.clone() };
    let mut sweep = tokio::time::interval(SWEEP_EVERY);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        staff.send_out();
        tokio::select! {
            () = stop.cancelled() => break,
            () = engine.couriers.news.notified() => {}
            _ = sweep.tick() => {
                if !engine.ownership().is_ours() {
                    tracing::error!("the owner's lock was replaced by another file: this process delivers no more");
                    break;
                }
                start_forgotten(engine).await;
            }
            Some(ended) = staff.out.join_next_with_id() => staff.ended(&ended),
        }
    }
    stop.cancel();
    staff.see_out().await;
}

/// The couriers at work.
struct Staff<'e> {
    engine: &'e Arc<Engine>,
    out: JoinSet<()>,
    working: HashMap<Id, TargetId>,
    stop: CancellationToken,
}

impl Staff<'_> {
    fn send_out(&mut self) {
        for (target, bell) in self.engine.couriers.all() {
            if self.working.values().all(|at_work| *at_work != target) {
                let (engine, stop) = (Arc::clone(self.engine), self.stop.clone());
                let task = self.out.spawn(async move { courier::work(&engine, target, &bell, &stop).await });
                self.working.insert(task.id(), target);
            }
        }
    }

    /// A courier has ended: its target is gone, or it broke off by a fault of ours. Then the next event or the next sweep
    /// sends another: one that breaks off again at once must not do so without end.
    fn ended(&mut self, ended: &Result<(Id, ()), JoinError>) {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, ())| *id);
        let Some(target) = self.working.remove(&id) else { return };
        self.engine.couriers.forget(target);
        if let Err(error) = ended {
            tracing::error!(%error, %target, "a courier broke off; it is started again");
            self.engine.faults.note("a target's courier");
            return;
        }
        // It may have been rung for while its courier was leaving, for a target that another process added.
        if self.engine.config().targets.contains_key(&target) {
            self.engine.couriers.wake(target);
        }
    }

    async fn see_out(mut self) {
        let all = async { while self.out.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            tracing::warn!("attempts were still under way at the end; the next start tries them again");
        }
    }
}

/// Wakes the courier of every target for which something waits, and writes down how far the inbox's clock is.
async fn start_forgotten(engine: &Engine) {
    let swept = async {
        engine.inbox.keep_clock().await?;
        engine.inbox.waiting().await
    };
    match swept.await {
        Ok(waiting) => waiting.into_iter().for_each(|target| engine.couriers.wake(target)),
        Err(error) => tracing::warn!(%error, "can't look for deliveries that nobody started"),
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
        engine.couriers.wake(TargetId(7));
        let stop = CancellationToken::new();
        let mut staff = Staff { engine: &engine, out: JoinSet::new(), working: HashMap::new(), stop };
        let task = staff.out.spawn(async { panic!("a fault of ours") });
        staff.working.insert(task.id(), TargetId(7));
        let ended = staff.out.join_next_with_id().await.unwrap();
        staff.ended(&ended);
        assert!(staff.working.is_empty() && engine.couriers.all().is_empty());
        assert!(engine.warnings().iter().any(|said| said.starts_with("a target's courier failed")));
        engine.couriers.wake(TargetId(7));
        staff.send_out();
        assert_eq!(staff.working.len(), 1);
        staff.stop.cancel();
        staff.see_out().await;
        engine.stop().await;
    }
}
