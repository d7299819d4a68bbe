//! Which targets have a courier, and how it is woken.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use hookmitt_event::{TargetId, Timestamp};
use hookmitt_forward::Tls;
use tokio::{sync::Notify, task::JoinSet, time::MissedTickBehavior};

use crate::{Engine, delivery::courier};

/// How often we look for what nobody started.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// How long attempts in flight may go on after the stop. What is still unfinished then is sent again at the next
/// start.
const GRACE: Duration = Duration::from_secs(10);

/// A bell for each target that ever had something to be sent.
#[derive(Default)]
pub(crate) struct Couriers {
    bells: Mutex<HashMap<TargetId, Arc<Notify>>>,
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

    /// Something waits for this target, or about it has changed.
    pub(crate) fn wake(&self, target: TargetId) {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.entry(target).or_insert_with(|| {
            self.news.notify_one();
            Arc::default()
        });
        if let Some(bell) = bells.get(&target) {
            bell.notify_one();
        }
    }

    /// Settings changed: every courier looks again.
    pub(crate) fn wake_all(&self) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.values().for_each(|bell| bell.notify_one());
        self.news.notify_one();
    }

    fn forget(&self, target: TargetId) {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner).remove(&target);
    }

    fn all(&self) -> Vec<(TargetId, Arc<Notify>)> {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.iter().map(|(target, bell)| (*target, Arc::clone(bell))).collect()
    }
}

/// Sends a courier to each target for which something waits, until the stop.
pub(crate) fn dispatch(engine: &Arc<Engine>) {
    let engine = Arc::clone(engine);
    engine.tasks.clone().spawn(async move {
        let mut out = JoinSet::new();
        let mut working = HashSet::new();
        let mut sweep = tokio::time::interval(SWEEP_EVERY);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            for (target, bell) in engine.couriers.all() {
                if working.insert(target) {
                    let engine = Arc::clone(&engine);
                    out.spawn(async move {
                        courier::work(&engine, target, &bell).await;
                        target
                    });
                }
            }
            tokio::select! {
                () = engine.stop.cancelled() => break,
                () = engine.couriers.news.notified() => {}
                _ = sweep.tick() => start_forgotten(&engine).await,
                Some(Ok(target)) = out.join_next() => {
                    working.remove(&target);
                    engine.couriers.forget(target);
                    // It may have been rung for while its courier was leaving, for a target that another process added.
                    if engine.config().targets.contains_key(&target) {
                        engine.couriers.wake(target);
                    }
                }
            }
        }
        let _out_of_time =
            tokio::time::timeout(GRACE, async { while out.join_next().await.is_some() {} }).await;
    });
}

/// Takes back claims that went stale, and wakes the courier of every target for which something waits.
async fn start_forgotten(engine: &Engine) {
    let swept = async {
        engine.inbox.release_stale(Timestamp::now()).await?;
        engine.inbox.waiting().await
    };
    match swept.await {
        Ok(waiting) => waiting.into_iter().for_each(|target| engine.couriers.wake(target)),
        Err(error) => tracing::warn!(%error, "can't look for deliveries that nobody started"),
    }
}
