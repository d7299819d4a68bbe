//! Listens to a channel: each message is judged and stored like a request that is captured here.

use std::{pin::pin, sync::Arc, time::Duration};

use hookmitt_catch::Limits;
use hookmitt_detour::{Channel, DetourError, Listener, MessageError, Progress, SmeeMessage};
use hookmitt_event::{GapWhy, NoConnection, Request, Slug, Timestamp, Verdict, Via};
use hookmitt_inbox::{KeptTunnel, Route};
use hookmitt_tunnel::{Backoff, slept};
use tokio::time::{self, Instant};

use super::lines;
use crate::{
    EngineError,
    capture::{AskedBy, Capture},
    judging::{Arrival, marked, rewritten},
    tunnels::{addressee::addressee, running::Running, view::Trouble},
};

/// How long to wait before storing a message is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// The longest pause before a channel is called again.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How long a connection has, after this machine slept, to show that it is alive before a new one is made.
const REVIVAL: Duration = Duration::from_secs(10);

/// The oldest receiving time that is believed of a channel. A channel stores no messages, so an older time is wrong; it
/// must not choose the moment at which a signature's age is judged.
const OLDEST: Duration = Duration::from_secs(120);

/// Listens to a channel until the tunnel is stopped.
pub(in crate::tunnels) async fn listen(capture: &Arc<Capture>, kept: &KeptTunnel, running: &Arc<Running>) {
    let found = match (running.serves(), Channel::new(kept.url.as_deref().unwrap_or_default())) {
        (Some(source), Ok(channel)) => Ok((source, channel)),
        (None, _) => Err(EngineError::NoTunnelSource),
        (_, Err(error)) => Err(error.into()),
    };
    let (source, channel) = match found {
        Ok(found) => found,
        Err(error) => {
            running.stuck(Trouble::of(&error), running.clock.now());
            return running.stop.cancelled().await;
        }
    };
    let ear = Ear(Arc::new(Inlet {
        capture: Arc::clone(capture),
        tunnel: kept.id,
        running: Arc::clone(running),
        source,
        url: channel.url().to_owned(),
        host: channel.host(),
    }));
    while !running.stop.is_cancelled() {
        listen_once(&channel, &ear).await;
    }
    running.ends(running.clock.now());
}

/// Listens until the stop, or until the connection did not survive this machine's sleep.
async fn listen_once(channel: &Channel, ear: &Ear) {
    let running = &ear.0.running;
    let mut backoff = Backoff::new(LONGEST_PAUSE);
    let pause = move |was_open: bool| {
        if was_open {
            backoff.reset();
        }
        backoff.pause()
    };
    let mut listening = pin!(channel.listen(ear, pause, &running.stop));
    let mut sleeping = pin!(slept());
    let mut doubt: Option<Instant> = None;
    loop {
        let dead = async {
            match doubt {
                Some(until) => time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = &mut listening => return,
            since = &mut sleeping => {
                sleeping.set(slept());
                let error = DetourError::Unreachable {
                    host: ear.0.host.clone(),
                    why: NoConnection::BrokenOff,
                    error: "this computer was asleep".to_owned(),
                };
                running.breaks_off(since, GapWhy::Asleep, Trouble::of(&error));
                doubt = Some(Instant::now() + REVIVAL);
            }
            () = dead => match running.is_up() {
                true => doubt = None,
                false => return,
            },
        }
    }
}

/// Stores a channel's messages.
struct Inlet {
    capture: Arc<Capture>,
    tunnel: i64,
    running: Arc<Running>,
    source: Slug,
    url: String,
    host: String,
}

impl Inlet {
    /// Stores a message, and tries again until that succeeds or the tunnel is stopped.
    async fn store(self: Arc<Self>, message: SmeeMessage) {
        loop {
            match Box::pin(self.take(&message)).await {
                Ok(()) => return self.running.mends(),
                Err(error) => {
                    tracing::warn!(tunnel = self.tunnel, %error, "a message from a channel can't be stored yet");
                    self.running.fails(Trouble::of(&error));
                }
            }
            if self.running.stop.run_until_cancelled(time::sleep(AGAIN)).await.is_none() {
                tracing::error!(
                    tunnel = self.tunnel,
                    "a message from a channel is lost: it could not be stored"
                );
                return;
            }
        }
    }

    async fn take(&self, message: &SmeeMessage) -> Result<(), EngineError> {
        let (known, assigned) = addressee(&self.capture.settings, self.source.as_str(), true).await?;
        let (headers, beside) = lines::part(&message.request.headers);
        let request = Request { headers, ..message.request.clone() };
        let page = self.capture.pages.through_tunnel(&request);
        let received_at = received_at(message.received_at, self.capture.base.now());
        let arrival = Arrival {
            url: Some(format!("{}{}", self.url, request.path_and_query())),
            remote: Some(
                lines::caller(&beside).map_or_else(|| self.host.clone(), |caller| caller.to_string()),
            ),
            request,
            received_at,
            via: Via::Tunnel,
            page,
        };
        let mut judged = self.capture.judge(&known, arrival);
        let event = &mut judged.event;
        if !message.exact {
            event.forwarded = Some(marked(&beside, &self.host));
            if event.verdict == Verdict::Invalid {
                event.causes.splice(0..0, rewritten(event.forwarded.as_ref()));
            }
        } else if !beside.is_empty() {
            event.forwarded = Some(beside);
        }
        // The channel has already answered the sender, and not as a set-up request has to be answered.
        if judged.answered.is_to_set_up() {
            judged.leave_unanswered(&known, "a set-up request that a channel can't answer");
        }
        if !assigned {
            judged.event.route = Route::Withheld("its source was removed");
        }
        self.capture.store(&known, judged, None, (), AskedBy::Channel).await?.await?;
        self.running.stored(received_at);
        Ok(())
    }
}

/// Receives what a channel sends.
struct Ear(Arc<Inlet>);

impl Listener for Ear {
    async fn message(&self, message: SmeeMessage) {
        if message.request.body.len() > Limits::default().body {
            let words = "a message from the channel was larger than 25 MiB and was left out";
            return self.0.running.fault(Trouble::new("body-too-large", words, "send less at a time"));
        }
        // On a task of its own, so that the message is stored even if listening ends.
        let storing = self.0.capture.base.tasks.spawn(Arc::clone(&self.0).store(message));
        if storing.await.is_err() {
            tracing::error!(tunnel = self.0.tunnel, "storing a message from a channel failed");
        }
    }

    fn unreadable(&self, error: &MessageError) {
        tracing::warn!(tunnel = self.0.tunnel, %error, "a message from the channel can't be read");
        let words = format!("a message from {} can't be read: {error}", self.0.host);
        self.0.running.fault(Trouble::new("channel-nonsense", words, "look for it on the channel's page"));
    }

    fn heard(&self) {
        if !self.0.running.is_up() {
            self.0.running.opens(&self.0.url, self.0.running.clock.now());
        }
    }

    fn progress(&self, progress: Progress) {
        match progress {
            Progress::Connected => self.0.running.opens(&self.0.url, self.0.running.clock.now()),
            Progress::Offline { since, why } => {
                self.0.running.breaks_off(since, why.why(), Trouble::of(&why));
            }
        }
    }
}

/// Returns when a message was received, as far as the channel is believed.
fn received_at(told: Option<Timestamp>, now: Timestamp) -> Timestamp {
    told.filter(|told| *told <= now && now.since(*told) <= OLDEST).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_is_believed_as_far_as_it_can_know() {
        let now = Timestamp::from_seconds(1_750_000_000);
        let shortly = Timestamp::from_seconds(1_749_999_990);
        assert_eq!(received_at(Some(shortly), now), shortly);
        assert_eq!(received_at(None, now), now);
        for odd in [1_749_990_000, 1_750_000_060] {
            assert_eq!(received_at(Some(Timestamp::from_seconds(odd)), now), now, "{odd}");
        }
    }
}
