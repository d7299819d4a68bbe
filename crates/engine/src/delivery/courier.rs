//! The courier of one target: claims the next deliveries in the target's order, sends them, and waits while nobody
//! answers.

use std::{collections::HashMap, sync::Arc, time::Duration};

use hookmitt_event::{Target, TargetId, TargetKind};
use hookmitt_forward::{TargetUrl, answers};
use hookmitt_inbox::{Claimed, InboxError, Next};
use tokio::{
    task::{Id, JoinError, JoinSet},
    time::{Instant, sleep, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{attempt, bells::Bell, patience::Patience, round::Round, sending::Sending, unwritten::Unwritten};
use crate::{Change, EngineError};

/// How long a target for a URL that was given once is tried while nobody answers there.
const ONCE: Duration = Duration::from_secs(60);

/// How many attempts for senders that wait are made at once, beside the queue.
const MOST_BESIDE: usize = 64;

/// Works until the target is removed or `stop` is cancelled, and then finishes the attempts in flight.
pub(crate) async fn work(sending: &Arc<Sending>, id: TargetId, bell: &Bell, stop: &CancellationToken) {
    let mut courier = Courier {
        sending,
        stop,
        id,
        out: JoinSet::new(),
        under_way: HashMap::new(),
        round: Round { unwritten: Unwritten::default(), stop: stop.clone(), beside: false },
        trouble: Patience::default(),
        silence: None,
        is_tidy: false,
    };
    while !stop.is_cancelled() {
        let Some(target) = sending.settings.now().targets.get(&id).cloned() else {
            courier.finish_all().await; // first, because a failed attempt leaves a delivery that waits
            courier.refuse_rest().await;
            return;
        };
        let look = courier.look(&target, bell).await;
        tokio::select! {
            () = stop.cancelled() => break,
            () = look.again(bell) => {}
            Some(ended) = courier.out.join_next_with_id() => courier.ended(ended).await,
        }
    }
    courier.finish_all().await;
}

struct Courier<'e> {
    sending: &'e Arc<Sending>,
    stop: &'e CancellationToken,
    id: TargetId,
    /// The attempts in flight; each returns the delivery that takes its place, if one was claimed.
    out: JoinSet<Option<Claimed>>,
    under_way: HashMap<Id, UnderWay>,
    round: Round,
    /// How long to wait after the next error of the inbox.
    trouble: Patience,
    /// Since when nobody answers, while the target is down.
    silence: Option<Silence>,
    /// Whether attempts that an earlier courier of this target left unfinished are settled.
    is_tidy: bool,
}

/// An attempt in flight.
struct UnderWay {
    target: Arc<Target>,
    claimed: Claimed,
    /// Whether it is made beside the queue.
    beside: bool,
}

struct Silence {
    since: Instant,
    probe: Patience,
}

/// When a courier looks again, unless an attempt ends before.
enum Look {
    /// When something new comes in.
    WhenRung,
    /// When something new comes in, but at that time at the latest.
    At(Instant),
    /// After a pause, even if something new comes in, because nothing can be done while nobody answers. Only an urgent
    /// ring cuts the pause short.
    After(Duration),
}

impl Look {
    async fn again(self, bell: &Bell) {
        match self {
            Self::WhenRung => bell.rung().await,
            Self::At(time) => {
                let _either = timeout_at(time, bell.rung()).await;
            }
            Self::After(pause) => {
                tokio::select! {
                    () = sleep(pause) => {}
                    () = bell.urged() => {}
                }
            }
        }
    }
}

impl Courier<'_> {
    async fn look(&mut self, target: &Arc<Target>, bell: &Bell) -> Look {
        match self.next(target, bell).await {
            Ok(look) => {
                self.trouble = Patience::default();
                look
            }
            Err(EngineError::Inbox(InboxError::NotOwner)) => {
                self.stop.cancel(); // stops every courier: the lock was lost, and nobody noticed
                Look::WhenRung
            }
            Err(error) => {
                tracing::warn!(%error, target = %self.id, "deliveries to a target are paused");
                Look::After(self.trouble.next())
            }
        }
    }

    /// Starts the attempts that may start now, and returns when to look again.
    async fn next(&mut self, target: &Arc<Target>, bell: &Bell) -> Result<Look, EngineError> {
        if !self.is_tidy {
            self.sending.base.inbox.settle_cut_off(Some(self.id)).await?;
            self.is_tidy = true;
        }
        if target.paused {
            return Ok(Look::WhenRung);
        }
        if target.down_since.is_some() && !self.is_back(target).await? {
            return self.wait_for(target).await;
        }
        self.silence = None;
        self.send_beside(target, bell).await?;
        let width = usize::from(target.order.width());
        while self.out.len() - self.beside() < width && !self.round.unwritten.any() {
            match self.sending.base.inbox.claim(attempt::claiming(target)).await? {
                Next::Claimed(claimed) => self.send(target, claimed, false),
                Next::In(wait) => return Ok(Look::At(Instant::now() + wait)),
                Next::LookAgain => {}
                Next::Nothing => return Ok(Look::WhenRung),
            }
        }
        Ok(Look::WhenRung) // no more room: the end of an attempt makes some
    }

    /// Starts the attempts for which senders wait, unless the target's order lets nothing pass.
    async fn send_beside(&mut self, target: &Arc<Target>, bell: &Bell) -> Result<(), EngineError> {
        while self.beside() < MOST_BESIDE && !self.round.unwritten.any() {
            let Some(event) = bell.hurried() else { break };
            if target.order.lets_pass()
                && self.sending.senders.waits(event)
                && let Some(claimed) = self.sending.base.inbox.claim_event(self.id, event).await?
            {
                self.send(target, claimed, true);
            }
        }
        Ok(())
    }

    /// How many attempts in flight are made beside the queue.
    fn beside(&self) -> usize {
        self.under_way.values().filter(|one| one.beside).count()
    }

    fn send(&mut self, target: &Arc<Target>, claimed: Claimed, beside: bool) {
        let (sending, round) = (Arc::clone(self.sending), Round { beside, ..self.round.clone() });
        let (to, what) = (Arc::clone(target), claimed.clone());
        let task = self.out.spawn(async move { attempt::make(&sending, &to, &what, &round).await });
        self.under_way.insert(task.id(), UnderWay { target: Arc::clone(target), claimed, beside });
    }

    /// Handles the end of an attempt, and starts the next one if it was claimed along with it. If the attempt's task
    /// panicked, that counts as an attempt without an answer.
    async fn ended(&mut self, ended: Result<(Id, Option<Claimed>), JoinError>) {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(UnderWay { target, claimed, beside }) = self.under_way.remove(&id) else { return };
        let next = match ended {
            Ok((_, next)) => next,
            Err(error) => {
                tracing::error!(%error, delivery = %claimed.delivery, "an attempt was cut off; it will be retried");
                let end = attempt::broken_off(self.sending, &target, &claimed);
                let round = Round { beside, ..self.round.clone() };
                attempt::conclude(self.sending, &target, &claimed, end, &round).await
            }
        };
        if let Some(next) = next {
            self.send(&target, next, false);
        }
    }

    async fn finish_all(&mut self) {
        while let Some(ended) = self.out.join_next_with_id().await {
            self.ended(ended).await;
        }
    }

    /// Checks whether a target that was down answers again; if so, its deliveries go on.
    async fn is_back(&self, target: &Target) -> Result<bool, EngineError> {
        if !answers(&TargetUrl::parse(&target.url)?).await {
            return Ok(false);
        }
        let base = &self.sending.base;
        base.inbox.found_at(vec![(target.id, Ok(()))], base.now()).await?;
        self.goes_on(target).await?;
        Ok(true)
    }

    async fn goes_on(&self, target: &Target) -> Result<(), EngineError> {
        self.sending.base.inbox.set_down(target.id, None).await?;
        self.sending.settings.reload().await
    }

    /// Returns when to look again while nobody answers, less and less often. Ends the deliveries to a URL that was
    /// given once after a while.
    async fn wait_for(&mut self, target: &Target) -> Result<Look, EngineError> {
        let begun = || Silence { since: Instant::now(), probe: Patience::default() };
        let silence = self.silence.get_or_insert_with(begun);
        if target.kind != TargetKind::Once || silence.since.elapsed() < ONCE {
            return Ok(Look::After(silence.probe.next()));
        }
        let why = format!(
            "no answer from {} for {} s: replay it once your server runs",
            target.url,
            ONCE.as_secs()
        );
        self.sending.base.inbox.give_up_waiting(target.id, why).await?;
        self.silence = None;
        self.goes_on(target).await?;
        let base = &self.sending.base;
        base.announce(Change::Stored(base.inbox.last_seq().await?));
        Ok(Look::WhenRung)
    }

    async fn refuse_rest(&self) {
        let mut patience = Patience::default();
        while !self.stop.is_cancelled() {
            match self.sending.base.inbox.refuse_waiting(self.id).await {
                Ok(_) | Err(InboxError::Closed) => return,
                Err(error) => {
                    tracing::warn!(%error, target = %self.id, "deliveries waiting for a removed target could not be \
                                                               ended yet");
                    let _stopped = self.stop.run_until_cancelled(patience.wait()).await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_event::TargetKind;
    use hookmitt_inbox::Stored;

    use super::*;
    use crate::{
        Engine, TargetChange,
        begun::{engine, post, source},
    };

    /// Returns an engine that doesn't deliver, and an event that waits for a target.
    async fn waiting() -> (tempfile::TempDir, Arc<Engine>, Arc<Target>, Stored) {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let known = source(&engine, "s").await;
        let url = Some("http://127.0.0.1:9".to_owned());
        let change = TargetChange { url, ..TargetChange::default() };
        let target = engine.targets.add(None, change, TargetKind::Kept).await.unwrap();
        let stored = engine.capture.store_unanswered(&known, known.judge(post([], b"")).event).await.unwrap();
        (folder, engine, target, stored)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_refused_for_a_target_that_only_we_do_not_know_yet() {
        let (_folder, engine, target, stored) = waiting().await;
        work(&engine.delivery.sending, TargetId(target.id.0 + 1), &Bell::default(), &engine.base.tasks.stop)
            .await; // for a target that does not exist
        engine.base.inbox.refuse_waiting(target.id).await.unwrap(); // as if another process had added it
        let waits = engine.base.inbox.show(stored.id).await.unwrap().deliveries.remove(0);
        assert_eq!(waits.state, hookmitt_event::DeliveryState::Pending, "{:?}", waits.last_error);
        engine.stop().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_attempt_that_breaks_off_by_a_fault_of_ours_is_one_without_an_answer() {
        let (_folder, engine, target, stored) = waiting().await;
        let Next::Claimed(claimed) = engine.base.inbox.claim(attempt::claiming(&target)).await.unwrap()
        else {
            panic!("it is due")
        };
        let mut courier = Courier {
            sending: &engine.delivery.sending,
            stop: &engine.base.tasks.stop,
            id: target.id,
            out: JoinSet::new(),
            under_way: HashMap::new(),
            round: Round {
                unwritten: Unwritten::default(),
                stop: engine.base.tasks.stop.clone(),
                beside: false,
            },
            trouble: Patience::default(),
            silence: None,
            is_tidy: true,
        };
        let task = courier.out.spawn(async { panic!("a fault of ours") });
        let one = UnderWay { target: Arc::clone(&target), claimed, beside: false };
        courier.under_way.insert(task.id(), one);
        courier.finish_all().await;
        let delivery = engine.base.inbox.deliveries(stored.id).await.unwrap().remove(0);
        assert_eq!(delivery.state, hookmitt_event::DeliveryState::Pending);
        assert!(delivery.next_attempt_at.is_some() && delivery.attempts[0].is_ambiguous(), "{delivery:?}");
        engine.stop().await;
    }
}
