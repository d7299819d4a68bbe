//! One attempt: sends the event, keeps what came of it.

use std::{convert::Infallible, sync::Arc, time::Duration};

use hookmitt_event::{Attempt, Event, Target, Timestamp, Via};
use hookmitt_forward::{Envelope, Next, Outcome, TargetUrl, send, verdict_on};
use hookmitt_inbox::{Claimed, Finish, InboxError};

use crate::{Change, Engine, EngineError, delivery::courier::LEASE};

/// An attempt that ends sooner is told of once, as it ended.
const TOLD_AFTER: Duration = Duration::from_millis(50);

/// Makes one attempt. Whatever happens, the claim ends here.
pub(crate) async fn make(engine: &Arc<Engine>, target: &Target, claimed: &Claimed) {
    let made = tokio::select! {
        made = attempt(engine, target, claimed) => made,
        never = tell_of_start(engine, claimed) => match never {},
    };
    let end = match made {
        Ok(end) => end,
        Err(error) => Finish::Refused(error.to_string()),
    };
    engine.senders.hear(claimed.delivery.event, target.id, &end);
    let down = if let Finish::Unreachable(error) = &end { Some(error.clone()) } else { None };
    let is_down = down.is_some();
    let now = Timestamp::now();
    let kept = async {
        if let Some(error) = down {
            engine.inbox.set_down(target.id, Some((target.down_since.unwrap_or(now), error))).await?;
        }
        engine.inbox.finish(claimed, end, now).await
    };
    match kept.await {
        Ok(true) => {}
        Ok(false) => tracing::warn!(delivery = %claimed.delivery, "an attempt outlived its claim"),
        Err(error) => tracing::warn!(%error, delivery = %claimed.delivery, "an attempt could not be kept"),
    }
    if is_down && let Err(error) = engine.reload().await {
        tracing::warn!(%error, "the settings could not be read again");
    }
    if is_down {
        engine.senders.is_down(target.id);
    }
    engine.live.announce(Change::Delivery(claimed.delivery));
}

/// Says that a delivery is being sent, where that takes a while.
async fn tell_of_start(engine: &Engine, claimed: &Claimed) -> Infallible {
    tokio::time::sleep(TOLD_AFTER).await;
    engine.live.announce(Change::Delivery(claimed.delivery));
    std::future::pending().await
}

async fn attempt(engine: &Engine, target: &Target, claimed: &Claimed) -> Result<Finish, EngineError> {
    let url = TargetUrl::parse(&target.url)?;
    if engine.own.hold(&url).await {
        return Err(EngineError::OwnAddress(target.url.clone()));
    }
    let event = engine.inbox.event(claimed.delivery.event).await?;
    if let Some(why) = withheld(engine, claimed, &event) {
        return Ok(Finish::Withheld(why));
    }
    let started_at = Timestamp::now();
    let outcome = hold(engine, claimed, deliver(engine, target, &url, claimed, &event)).await?;
    Ok(finish(target, claimed, outcome, started_at))
}

/// Why an event isn't sent that waits to be: its source may have begun to reject after it came. What a person sends is
/// sent.
fn withheld(engine: &Engine, claimed: &Claimed, event: &Event) -> Option<&'static str> {
    let by_hand = claimed.replay || matches!(event.via, Via::Send | Via::Edit);
    let known = engine.known(&event.source).ok().filter(|_| !by_hand)?;
    known.withholds(event.verdict, event.via)
}

async fn deliver(
    engine: &Engine,
    target: &Target,
    url: &TargetUrl,
    claimed: &Claimed,
    event: &Event,
) -> Outcome {
    let envelope = Envelope {
        request: &event.request,
        event_id: event.id,
        delivery_id: claimed.delivery,
        attempt: claimed.attempt,
        verdict: event.verdict,
        replay: claimed.replay,
        preserve_host: target.preserve_host,
        hookmitt_headers: target.hookmitt_headers,
    };
    send(url, &envelope, target.timeout, engine.couriers.tls()).await
}

/// Keeps the claim alive while `sending` runs.
async fn hold(
    engine: &Engine,
    claimed: &Claimed,
    sending: impl Future<Output = Outcome>,
) -> Result<Outcome, InboxError> {
    tokio::pin!(sending);
    loop {
        tokio::select! {
            outcome = sending.as_mut() => return Ok(outcome),
            () = tokio::time::sleep(LEASE / 3) => {
                engine.inbox.renew(claimed, Timestamp::now(), LEASE).await?;
            }
        }
    }
}

fn finish(target: &Target, claimed: &Claimed, outcome: Outcome, started_at: Timestamp) -> Finish {
    let now = Timestamp::now();
    let next = verdict_on(&outcome, now);
    let attempt = match outcome {
        Outcome::Unreachable { error } => return Finish::Unreachable(error),
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
            Finish::Retry(attempt, now.after(wait))
        }
        Next::Down => Finish::Retry(attempt, now),
    }
}

/// Full jitter: anywhere between at once and the ceiling, so that retries of many deliveries spread out.
fn jittered(ceiling: Duration) -> Duration {
    ceiling.mul_f64(rand::random::<f64>())
}
