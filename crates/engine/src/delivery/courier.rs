//! One target's courier: claims what is next in its order, sends it, waits while nobody answers.

use std::{sync::Arc, time::Duration};

use hookmitt_event::{Target, TargetId, Timestamp};
use hookmitt_forward::{TargetUrl, answers};
use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};

use crate::{Engine, EngineError, delivery::attempt};

/// How long a claim holds; renewed while an attempt runs.
pub(crate) const LEASE: Duration = Duration::from_secs(60);

/// How often we look whether a target that was down answers again.
const PROBE_EVERY: Duration = Duration::from_millis(500);

/// How long a courier waits after an error of the inbox.
const AFTER_ERROR: Duration = Duration::from_secs(1);

/// Works until the target is gone or we stop; attempts in flight are finished.
pub(crate) async fn work(engine: &Arc<Engine>, id: TargetId, bell: &Notify) {
    let mut out = JoinSet::new();
    while !engine.stop.is_cancelled() {
        let Some(target) = engine.config().targets.get(&id).cloned() else {
            while out.join_next().await.is_some() {} // an attempt that fails leaves a delivery that waits
            refuse_rest(engine, id).await;
            break;
        };
        let look = match next(engine, &target, &mut out).await {
            Ok(look) => look,
            Err(error) => {
                tracing::warn!(%error, target = %id, "deliveries to a target pause");
                Look::After(AFTER_ERROR)
            }
        };
        tokio::select! {
            () = engine.stop.cancelled() => break,
            () = look.again(bell) => {}
            Some(_) = out.join_next() => {}
        }
    }
    while out.join_next().await.is_some() {}
}

/// When a courier looks again, an attempt that ends apart.
enum Look {
    /// When something new comes in.
    WhenRung,
    /// Then too, but at that time at the latest.
    At(Instant),
    /// After a while, whatever comes in: while nobody answers there is nothing to be done about it.
    After(Duration),
}

impl Look {
    async fn again(self, bell: &Notify) {
        match self {
            Self::WhenRung => bell.notified().await,
            Self::After(pause) => sleep(pause).await,
            Self::At(time) => {
                let _either = timeout_at(time, bell.notified()).await;
            }
        }
    }
}

/// Starts what may be started. Answers when to look again.
async fn next(
    engine: &Arc<Engine>,
    target: &Arc<Target>,
    out: &mut JoinSet<()>,
) -> Result<Look, EngineError> {
    if target.paused {
        return Ok(Look::WhenRung);
    }
    if target.down_since.is_some() && !is_back(engine, target).await? {
        return Ok(Look::After(PROBE_EVERY));
    }
    while out.len() < usize::from(target.order.width()) {
        let claimed = engine.inbox.claim(target.id, target.order, Timestamp::now(), LEASE).await?;
        let Some(claimed) = claimed else { break };
        let (engine, target) = (Arc::clone(engine), Arc::clone(target));
        out.spawn(async move { attempt::make(&engine, &target, &claimed).await });
    }
    if out.len() >= usize::from(target.order.width()) {
        return Ok(Look::WhenRung); // an attempt that ends makes room
    }
    let due = engine.inbox.next_due(target.id).await?;
    let soon = |due: Timestamp| Instant::now() + due.since(Timestamp::now()).max(Duration::from_millis(5));
    Ok(due.map_or(Look::WhenRung, |due| Look::At(soon(due))))
}

/// Looks whether a target that was down answers again.
async fn is_back(engine: &Arc<Engine>, target: &Target) -> Result<bool, EngineError> {
    if !answers(&TargetUrl::parse(&target.url)?).await {
        return Ok(false);
    }
    engine.inbox.set_down(target.id, None).await?;
    engine.reload().await?;
    Ok(true)
}

async fn refuse_rest(engine: &Engine, id: TargetId) {
    let refused = engine.inbox.refuse_waiting(id, Timestamp::now()).await;
    if let Err(error) = refused {
        tracing::warn!(%error, target = %id, "what waits for a removed target could not be ended");
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_event::{Slug, TargetKind};

    use super::*;
    use crate::{
        SourceChange, TargetChange,
        begun::{engine, post},
    };

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_refused_for_a_target_that_only_we_do_not_know_yet() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let slug: Slug = "s".parse().unwrap();
        engine.add_source(slug.clone(), SourceChange::default()).await.unwrap();
        let url = Some("http://127.0.0.1:9".to_owned());
        let change = TargetChange { url, ..TargetChange::default() };
        let target = engine.add_target(None, change, TargetKind::Kept).await.unwrap();
        let arrival = engine.known(&slug).unwrap().judge(post([], b"")).arrival;
        let stored = engine.store(arrival).await.unwrap();
        refuse_rest(&engine, target.id).await; // as if another process had added it just now
        let waits = engine.inbox.show(stored.id).await.unwrap().deliveries.remove(0);
        assert_eq!(waits.state, hookmitt_event::DeliveryState::Pending, "{:?}", waits.last_error);
        engine.stop().await;
    }
}
