//! Takes in a tunnel's letters: each is judged, stored in order, and answered after the commit.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;
use hookmitt_catch::Reply;
use hookmitt_event::{Cause, Explain, Slug, counted};
use hookmitt_inbox::{InboxError, Sequence, Stored};
use hookmitt_tunnel::{
    Answering, AppReply, Later, Letterhead, NoKey, Recipient, SealingKey, State, Unreadable,
};
use hookmitt_wire::{Letter, SourceOffer};
use tokio::sync::{Mutex, watch};

use super::{
    devices,
    letter::{self, Opened},
    listed::Tunnels,
    running::Running,
    view::Trouble,
};
use crate::{
    EngineError,
    capture::{AT_A_RELAY, AskedBy, Capture, Kept},
    settings::ConfiguredSource,
    tasks::SeenThrough,
};

/// Takes in the letters of one tunnel.
pub(super) struct Mail {
    capture: Arc<Capture>,
    tunnels: Tunnels,
    tunnel: i64,
    running: Arc<Running>,
    /// A fair lock that is taken in the order of the mailbox, so that letters reach the writer in that order.
    turn: Mutex<()>,
    order: Sequence,
}

impl Mail {
    pub(super) fn new(capture: &Arc<Capture>, tunnels: &Tunnels, tunnel: i64, running: Arc<Running>) -> Self {
        Self {
            capture: Arc::clone(capture),
            tunnels: tunnels.clone(),
            tunnel,
            running,
            turn: Mutex::default(),
            order: Sequence::default(),
        }
    }

    /// Stores a letter. What the writer has is stored and followed up even if the connection is lost.
    async fn take(&self, head: &Letterhead, letter: Letter) -> Result<Taken, EngineError> {
        let since = Instant::now();
        let turn = self.turn.lock().await;
        if self.order.is_broken(head.run) {
            return Err(InboxError::OutOfTurn.into());
        }
        let handed_in = self.hand_in(head, letter).await;
        let handed_in = handed_in.inspect_err(|_| self.order.breaks(head.run))?;
        drop(turn);
        let Some(HandedIn { known, is_assigned, differs, committed }) = handed_in else {
            // The relay forgets the letter once we answer, so it must be counted as lost before.
            self.running.gap_is_known().await;
            return Ok(Taken::Nonsense);
        };
        let kept = committed.await?;
        self.running.stored(head.received_at);
        if differs {
            self.complain_of_bytes(&kept.stored);
        }
        if kept.stored.name_was_used {
            self.complain_of_name(&kept.stored);
        }
        if let Some(doubt) = head.doubt {
            self.complain_of_time(&kept.stored, letter::doubted(doubt, head.received_at));
        }
        let capture = Arc::clone(&self.capture);
        let answering = async move {
            let Kept { stored, answered, held, .. } = kept;
            let reply = match capture.local_answer(held, &stored, AT_A_RELAY).await {
                Some(reply) => Some(reply),
                // The relay answers by the source's settings as it was told; this device may know better.
                None if is_assigned => capture.special_answer(&known, &answered).await,
                None => None,
            };
            if let Some(reply) = &reply {
                capture.answers.keep(stored.id, reply.status, since.elapsed());
            }
            reply.map(said)
        };
        Ok(Taken::Stored(is_held(head).then(|| Box::pin(answering) as Answering)))
    }

    /// Judges a letter and hands it to the writer. Returns `None` if the letter makes no sense.
    async fn hand_in(&self, head: &Letterhead, letter: Letter) -> Result<Option<HandedIn>, EngineError> {
        // Capture answers 503 if the writer's queue is full, so letters must not fill the queue.
        let room = Arc::clone(&self.tunnels.register.room);
        let room = room.acquire_owned().await.map_err(|_| EngineError::Stopping)?;
        let Ok(request) = letter::request(&letter).map_err(|nonsense| self.lament(&nonsense, head.waited))
        else {
            return Ok(None);
        };
        let is_served = self.running.is_offered(&letter.slug);
        let Opened { known, assigned, mut judged, differs } =
            letter::judge_letter(&self.capture, head, letter, request, is_served).await?;
        if head.waited {
            self.running.gap_is_known().await;
            judged.event.caught_up_by = Some(self.tunnel);
        }
        let turn = Some((&self.order, head.run));
        let asked_by = if is_held(head) && assigned { AskedBy::HeldAtRelay } else { AskedBy::Nobody };
        let committed = self.capture.store(&known, judged, turn, room, asked_by).await?;
        Ok(Some(HandedIn { known, is_assigned: assigned, differs, committed }))
    }

    fn complain_of_bytes(&self, stored: &Stored) {
        let message = format!("the body of #{} isn't what the relay received", stored.seq);
        tracing::error!(tunnel = self.tunnel, event = %stored.id, "{message}");
        self.running.fault(Trouble::new(
            "relay-body-differs",
            message,
            "the event is stored but not forwarded; let the provider send it again, and check the relay",
        ));
    }

    fn complain_of_name(&self, stored: &Stored) {
        let times = counted(self.running.reuses_a_name(), "time");
        let message = format!(
            "the relay gave #{} the ID of another event ({times} since the start): both are stored",
            stored.seq
        );
        tracing::error!(tunnel = self.tunnel, event = %stored.id, "{message}");
        self.running.fault(Trouble::new("relay-name-reused", message, "check the relay: it is faulty"));
    }

    fn complain_of_time(&self, stored: &Stored, cause: Cause) {
        let message = format!("#{}: {}", stored.seq, cause.message);
        tracing::warn!(tunnel = self.tunnel, event = %stored.id, "{message}");
        self.running.fault(Trouble::new("relay-time-doubted", message, &cause.fix));
    }

    fn lament(&self, why: &dyn std::error::Error, waited: bool) {
        tracing::error!(tunnel = self.tunnel, %why, "an event could not be decrypted");
        self.running.spoils(waited);
        let hint = "someone who knows the tunnel's public key sent it; check the relay's log";
        self.running.fault(Trouble::new("letter-unreadable", why.to_string(), hint));
    }
}

/// Whether a sender waits for the answer. If the letter waited at the relay, its sender was answered long ago.
fn is_held(head: &Letterhead) -> bool {
    head.held && !head.waited
}

/// A letter that the writer has.
struct HandedIn {
    known: Arc<ConfiguredSource>,
    /// Whether the letter's source exists here and is served by the tunnel.
    is_assigned: bool,
    /// Whether the body differs from what the relay received.
    differs: bool,
    committed: SeenThrough<Result<Kept, InboxError>>,
}

/// What became of a letter.
enum Taken {
    /// The letter is stored; the sender may be waiting for an answer.
    Stored(Option<Answering>),
    /// The letter makes no sense and will never be stored.
    Nonsense,
}

impl Recipient for Mail {
    fn sources(&self) -> watch::Receiver<Arc<Vec<SourceOffer>>> {
        self.running.offers()
    }

    async fn letter(&self, head: Letterhead, letter: Letter) -> Result<Option<Answering>, Later> {
        match Box::pin(self.take(&head, letter)).await {
            Ok(Taken::Stored(answering)) => {
                self.running.mends();
                Ok(answering)
            }
            Ok(Taken::Nonsense) => Ok(None),
            // The failure was reported for the earlier letter of the same run.
            Err(EngineError::Inbox(InboxError::OutOfTurn)) => Err(Later),
            Err(error) => {
                tracing::warn!(tunnel = self.tunnel, %error, "an event can't be stored yet; it is waiting at the \
                                                              relay");
                let hint = error.hint().unwrap_or_else(|| "this is retried automatically".to_owned());
                self.running.fails(Trouble::new(error.code(), error.to_string(), &hint));
                Err(Later)
            }
        }
    }

    fn unreadable(&self, head: &Letterhead, why: &Unreadable, lost: bool) {
        tracing::error!(tunnel = self.tunnel, position = head.position, lost, %why, "an event could not be decrypted");
        if lost {
            self.running.spoils(head.waited);
        }
        let message = format!("an event of {} could not be decrypted: {why}", head.received_at);
        let hint =
            if lost { "let the provider send it again" } else { "it stays at the relay: update hookmitt" };
        self.running.fault(Trouble::new("letter-unreadable", message, hint));
    }

    fn unserved(&self, names: Vec<Slug>) {
        self.running.knows_unserved(names);
    }

    fn sealing_keys(&self, keys: Vec<SealingKey>) {
        let (tunnels, tunnel, running) = (self.tunnels.clone(), self.tunnel, Arc::clone(&self.running));
        self.tunnels.base.tasks.spawn(async move {
            if let Err(error) = tunnels.keep_sealing_keys(tunnel, keys).await {
                tracing::error!(tunnel, %error, "the new sealing key could not be stored; the relay will send it \
                                                 again");
                running.fault(Trouble::of(&error));
            }
        });
    }

    fn no_key(&self, why: NoKey) {
        let trouble = devices::no_key(why);
        tracing::error!(tunnel = self.tunnel, "{}", trouble.message);
        self.running.fault(trouble);
    }

    fn state(&self, state: State) {
        self.running.becomes(state, self.running.clock.now());
    }
}

fn said(reply: Reply) -> AppReply {
    let headers = reply.headers.into_iter().map(|(name, value)| (name, Bytes::from(value)));
    AppReply { status: reply.status, headers: headers.collect(), body: reply.body }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hookmitt_clock::{Clock as _, MachineClock};
    use hookmitt_event::{GapWhy, Timestamp, TunnelKind};
    use hookmitt_inbox::{KeptTunnel, NewTunnel};
    use hookmitt_tunnel::Bounds;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::{Engine, begun::engine, tunnels::minder::Minder};

    fn nonsense() -> Letter {
        Letter {
            id: [7; 16],
            slug: "github".to_owned(),
            method: "GET / HTTP/1.1".to_owned(),
            path: String::new(),
            query: None,
            http10: false,
            headers: Bytes::new(),
            body: Bytes::new(),
            sha256: [0; 32],
            url: "https://relay.test/t/github".to_owned(),
            remote: "203.0.113.9:5555".to_owned(),
            forwarded: Bytes::new(),
            received: None,
        }
    }

    /// A tunnel that is catching up after a gap.
    async fn kept(engine: &Engine) -> KeptTunnel {
        let new = NewTunnel {
            kind: TunnelKind::Relay,
            label: "acme".to_owned(),
            name: Some("acme".to_owned()),
            url: Some("https://relay.test/".to_owned()),
            keys: None,
            source: None,
            sources: Vec::new(),
            public_url: None,
        };
        let began = Timestamp::from_seconds(1_750_000_000);
        let kept = engine.base.inbox.add_tunnel(new, began).await.unwrap();
        engine.base.inbox.open_gap(kept.id, began, GapWhy::Network).await.unwrap();
        kept
    }

    fn head(waited: bool) -> Letterhead {
        let arrival_key = b"acme\0key".to_vec();
        let (doubt, bounds) = (None, Bounds::none());
        let received_at = MachineClock.now();
        Letterhead { arrival_key, received_at, doubt, bounds, held: false, position: 1, waited, run: 1 }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_letter_that_is_thrown_away_is_counted_as_lost_before_the_relay_forgets_it() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let kept = kept(&engine).await;
        let (running, steps) = Running::new(CancellationToken::new(), None, Arc::clone(&engine.base.clock));
        let running = Arc::new(running);
        let mut minder = Minder::begin(Arc::clone(&engine.base), &kept, Arc::clone(&running), steps).await;
        let mail = Mail::new(&engine.capture, &engine.tunnels, kept.id, Arc::clone(&running));
        let story = async {
            assert!(matches!(mail.letter(head(true), nonsense()).await, Ok(None)), "it is acknowledged");
            let gaps = engine.base.inbox.gaps(kept.id, None, 1).await.unwrap();
            assert_eq!((gaps.items[0].caught_up, gaps.items[0].lost), (0, 1));
            assert_eq!(engine.base.inbox.tunnel(kept.id).await.unwrap().spoilt, 1);

            mail.unreadable(&head(false), &Unreadable::Foreign, true);
            mail.unreadable(&head(true), &Unreadable::Foreign, false);
            running.gap_is_known().await;
            let counted = engine.tunnels.one(kept.id).await.unwrap();
            assert_eq!(counted.spoilt.count, 2, "one that stays at the relay is not lost");
            let gaps = engine.base.inbox.gaps(kept.id, None, 1).await.unwrap();
            assert_eq!(gaps.items[0].lost, 1, "one that did not wait is no gap's");
        };
        let told = async {
            tokio::select! {
                () = minder.mind() => {}
                () = story => {}
            }
        };
        tokio::time::timeout(Duration::from_secs(60), told).await.unwrap();
        engine.stop().await;
    }
}
