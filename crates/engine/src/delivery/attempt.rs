//! Makes one attempt: sends the event, and stores the outcome. Trouble with the inbox never counts as an answer.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use hookmitt_event::{Attempt, Event, NoConnection, Request, Silence, Target, Timestamp, Verdict, Via};
use hookmitt_forward::{Envelope, LONGEST_WAIT, Next, Outcome, TargetUrl, next_step, send};
use hookmitt_inbox::{Claimed, Claiming, Finish, Finished, InboxError};

use super::{patience::Patience, round::Round, sending::Sending};
use crate::{
    Change, EngineError,
    judging::{seen_url, signed_with_own},
};

/// How long an attempt runs before its start is announced. A shorter attempt is announced only when it has ended.
const TOLD_AFTER: Duration = Duration::from_millis(50);

/// Makes one attempt, and stores its outcome. Returns the delivery that takes its place, if one was claimed.
pub(crate) async fn make(
    sending: &Sending,
    target: &Target,
    claimed: &Claimed,
    round: &Round,
) -> Option<Claimed> {
    let made = tokio::select! {
        made = attempt(sending, target, claimed) => made,
        never = tell_of_start(sending, claimed) => match never {},
    };
    conclude(sending, target, claimed, made?, round).await
}

/// Returns the outcome of an attempt whose task panicked: the request may have arrived.
pub(crate) fn broken_off(sending: &Sending, target: &Target, claimed: &Claimed) -> Finish {
    let outcome = Outcome::Broken {
        error: "hookmitt failed during the attempt".to_owned(),
        sent: true,
        response: None,
        body: Bytes::new(),
        duration: Duration::ZERO,
    };
    finish(target, claimed, outcome, sending.base.now(), sending.base.now())
}

/// Stores the outcome of an attempt, and tries again until that succeeds. Until then the courier claims nothing more.
/// Returns the delivery that was claimed in the same commit; it must be sent.
pub(crate) async fn conclude(
    sending: &Sending,
    target: &Target,
    claimed: &Claimed,
    end: Finish,
    round: &Round,
) -> Option<Claimed> {
    sending.senders.hear(claimed.delivery.event, target.id, &end);
    let down = if let Finish::Unreachable(silence) = &end { Some(silence.clone()) } else { None };
    let is_down = down.is_some();
    let mut patience = Patience::default();
    let mut mark = None;
    let next = loop {
        match write(sending, target, claimed, end.clone(), down.clone(), round).await {
            Ok(Finished { stored: true, answers_anew, next }) => {
                if answers_anew {
                    sending.base.announce(Change::Config);
                }
                break next;
            }
            Ok(Finished { stored: false, .. }) => {
                tracing::warn!(delivery = %claimed.delivery, "an attempt had already ended");
                break None;
            }
            Err(InboxError::Closed) => return None,
            Err(error) => {
                tracing::warn!(%error, delivery = %claimed.delivery, "the outcome of an attempt can't be stored yet");
                mark.get_or_insert_with(|| round.unwritten.one());
                patience.wait().await;
            }
        }
    };
    drop(mark);
    if is_down && let Err(error) = sending.settings.reload().await {
        tracing::warn!(%error, "the settings could not be reloaded");
    }
    if is_down {
        sending.senders.is_down(target.id);
    }
    sending.base.announce(Change::Delivery(claimed.delivery));
    next
}

async fn write(
    sending: &Sending,
    target: &Target,
    claimed: &Claimed,
    end: Finish,
    down: Option<Silence>,
    round: &Round,
) -> Result<Finished, InboxError> {
    let Some(silence) = down else {
        let then = round.goes_on(sending, target).then(|| claiming(target));
        return sending.base.inbox.finish(claimed, end, then).await;
    };
    let since = target.down_since.unwrap_or_else(|| sending.base.now());
    sending.base.inbox.set_down(target.id, Some((since, silence))).await?;
    sending.base.inbox.finish(claimed, end, None).await // nothing more is sent to a target that is down
}

/// Asks for the delivery that a target gets next.
pub(crate) fn claiming(target: &Target) -> Claiming {
    Claiming { target: target.id, order: target.order, longest: target.retry.cap.max(LONGEST_WAIT) }
}

/// Announces that a delivery is being sent, if that takes a while. Never returns.
async fn tell_of_start(sending: &Sending, claimed: &Claimed) -> Infallible {
    tokio::time::sleep(TOLD_AFTER).await;
    sending.base.announce(Change::Delivery(claimed.delivery));
    std::future::pending().await
}

/// Tries until there is an outcome that concerns the target, and waits while this machine can't even begin. Returns
/// `None` if we stop meanwhile.
async fn attempt(sending: &Sending, target: &Target, claimed: &Claimed) -> Option<Finish> {
    let mut patience = Patience::default();
    loop {
        match attempt_once(sending, target, claimed).await {
            Ok(Some(end)) => return Some(end),
            Ok(None) => {}
            Err(EngineError::Inbox(InboxError::Closed)) => return None,
            // Waiting brings back no event that is gone, and no body that is lost.
            Err(EngineError::Inbox(error))
                if !matches!(error, InboxError::UnknownEvent(_) | InboxError::Lost(_)) =>
            {
                tracing::warn!(%error, delivery = %claimed.delivery, "an attempt is waiting for the inbox");
            }
            Err(error) => return Some(Finish::Refused(error.to_string())),
        }
        sending.base.tasks.stop.run_until_cancelled(patience.wait()).await?;
    }
}

/// Tries once. Returns `None` if this machine hindered the attempt, so that nothing was sent.
async fn attempt_once(
    sending: &Sending,
    target: &Target,
    claimed: &Claimed,
) -> Result<Option<Finish>, EngineError> {
    let url = TargetUrl::parse(&target.url)?;
    if sending.settings.own.hold(&url).await {
        return Err(EngineError::OwnAddress(target.url.clone()));
    }
    let event = sending.base.inbox.event(claimed.delivery.event).await?;
    if let Some(why) = withheld(sending, claimed, &event) {
        return Ok(Some(Finish::Withheld(why)));
    }
    let started_at = sending.base.now();
    let outcome = deliver(sending, target, &url, claimed, &event).await;
    if let Outcome::Hindered { error } = &outcome {
        tracing::warn!(error, delivery = %claimed.delivery, "an attempt is waiting for this machine");
        return Ok(None);
    }
    Ok(Some(finish(target, claimed, outcome, started_at, sending.base.now())))
}

/// Returns why a waiting event is not sent: its source may reject it by now. What a person sends or replays is sent.
fn withheld(sending: &Sending, claimed: &Claimed, event: &Event) -> Option<&'static str> {
    let by_hand = claimed.replay || matches!(event.via, Via::Send | Via::Edit);
    let known = sending.settings.source(&event.source).ok().filter(|_| !by_hand)?;
    known.withholds(event.verdict, event.via)
}

async fn deliver(
    sending: &Sending,
    target: &Target,
    url: &TargetUrl,
    claimed: &Claimed,
    event: &Event,
) -> Outcome {
    let signed = signed_copy(sending, target, event);
    let envelope = Envelope {
        request: signed.as_ref().unwrap_or(&event.request),
        event_id: event.id,
        delivery_id: claimed.delivery,
        attempt: claimed.attempt,
        verdict: event.verdict,
        replay: claimed.replay,
        preserve_host: target.preserve_host,
        hookmitt_headers: target.hookmitt_headers,
    };
    send(url, &envelope, target.timeout, sending.tls()).await
}

/// Returns the request of a copy from backup sync with a signature, so that the local server takes it like the webhook:
/// the provider's API gives the event, but not what was signed. `None` if it needs none, or can't have one: then it goes
/// out as it is.
fn signed_copy(sending: &Sending, target: &Target, event: &Event) -> Option<Request> {
    if event.via != Via::BackupSync || event.verdict == Verdict::Valid {
        return None;
    }
    let known = sending.settings.source(&event.source).ok()?;
    let url = seen_url(&sending.settings, &known, target.id, &event.request).ok()?;
    let now = sending.base.now();
    signed_with_own(&known, &event.request, url.as_deref(), now).ok().flatten()
}

fn finish(
    target: &Target,
    claimed: &Claimed,
    outcome: Outcome,
    started_at: Timestamp,
    now: Timestamp,
) -> Finish {
    let next = next_step(&outcome, now);
    let attempt = match outcome {
        Outcome::Unreachable(silence) => return Finish::Unreachable(silence),
        Outcome::Hindered { error } => {
            return Finish::Unreachable(Silence { why: NoConnection::Hindered, error });
        }
        Outcome::Answered { response, body, truncated, duration } => Attempt {
            number: claimed.attempt,
            started_at,
            duration,
            sent: true,
            response: Some(response),
            body,
            body_truncated: truncated,
            error: None,
        },
        Outcome::Broken { error, sent, response, body, duration } => Attempt {
            number: claimed.attempt,
            started_at,
            duration,
            sent,
            response,
            body,
            body_truncated: false,
            error: Some(error),
        },
    };
    match next {
        Next::Completed => Finish::Completed(attempt),
        Next::Final => Finish::Final(attempt),
        Next::Retry { .. } if claimed.attempt >= target.retry.attempts => Finish::Dead(attempt),
        Next::Retry { after } => {
            let wait = jittered(target.retry.ceiling(claimed.attempt)).max(after.unwrap_or_default());
            Finish::Retry(attempt, wait)
        }
        Next::Down => Finish::Retry(attempt, Duration::ZERO),
    }
}

/// Returns a random wait from zero to the ceiling (full jitter), so that retries of many deliveries spread out.
fn jittered(ceiling: Duration) -> Duration {
    ceiling.mul_f64(rand::random::<f64>())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hookmitt_event::{DeliveryState, TargetKind};
    use hookmitt_inbox::{NewEvent, Next};

    use super::*;
    use crate::{
        TargetChange,
        begun::{engine, post, source},
    };

    #[tokio::test(flavor = "multi_thread")]
    async fn what_has_lost_its_body_is_not_sent_and_does_not_wait_either() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let known = source(&engine, "s").await;
        let change = TargetChange { url: Some("http://127.0.0.1:9".to_owned()), ..TargetChange::default() };
        let target = engine.targets.add(None, change, TargetKind::Kept).await.unwrap();
        // As if its bytes had changed on the disk.
        let caught = NewEvent { sha256: [9; 32], ..known.judge(post([], b"body")).event };
        let id = engine.capture.store_unanswered(&known, caught).await.unwrap().id;
        for _ in 0..2 {
            let claimed = engine.base.inbox.claim(claiming(&target)).await.unwrap();
            let Next::Claimed(claimed) = claimed else { panic!("it is due") };
            let tried = attempt(&engine.delivery.sending, &target, &claimed);
            let end = tokio::time::timeout(Duration::from_secs(20), tried).await.expect("it doesn't wait");
            engine.base.inbox.finish(&claimed, end.unwrap(), None).await.unwrap();
            let delivery = engine.base.inbox.deliveries(id).await.unwrap().remove(0);
            assert_eq!(delivery.state, DeliveryState::Failed);
            assert!(delivery.last_error.unwrap().contains("the body of event #1"));
            engine.base.inbox.retry(id).await.unwrap();
        }
        let replayed = engine.replays.replay(id, crate::Edit::default()).await;
        assert!(matches!(replayed, Err(EngineError::Inbox(InboxError::Lost(_)))), "{replayed:?}");
        assert_eq!(engine.inbox().damage(), None, "the inbox goes on");
        engine.capture.store_unanswered(&known, known.judge(post([], b"new")).event).await.unwrap();
        engine.stop().await;
    }
}
