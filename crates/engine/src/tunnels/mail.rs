//! Takes a tunnel's letters: each is judged, stored in its turn, and answered after the commit.

use std::sync::{Arc, Weak};

use bytes::Bytes;
use hookmitt_catch::Reply;
use hookmitt_event::{Explain, Timestamp};
use hookmitt_inbox::Stored;
use hookmitt_tunnel::{Answering, AppReply, Later, Letterhead, Recipient, State, Unreadable};
use hookmitt_wire::{Letter, SourceOffer};
use tokio::sync::{Mutex, watch};

use super::{
    Trouble,
    letter::{self, Opened},
    running::Running,
};
use crate::{Engine, EngineError, respond::AT_A_RELAY};

/// Where a tunnel's letters end up.
pub(super) struct Mail {
    /// Weak: a tunnel that is being kept must not keep the engine.
    engine: Weak<Engine>,
    tunnel: i64,
    running: Arc<Running>,
    sources: watch::Receiver<Arc<Vec<SourceOffer>>>,
    /// Whose turn it is. A fair lock, taken in the order of the mailbox: so is everything after it.
    turn: Mutex<()>,
}

impl Mail {
    pub(super) fn new(engine: &Arc<Engine>, tunnel: i64, running: Arc<Running>) -> Self {
        let sources = engine.tunnels.offers.subscribe();
        Self { engine: Arc::downgrade(engine), tunnel, running, sources, turn: Mutex::default() }
    }

    /// Has a letter stored. Whatever becomes of the connection, what was given to the writer is seen through.
    async fn take(
        &self,
        engine: &Arc<Engine>,
        head: &Letterhead,
        letter: Letter,
    ) -> Result<Taken, EngineError> {
        let turn = self.turn.lock().await;
        // Capture answers 503 where the writer's queue is full, so letters don't fill it.
        let room =
            Arc::clone(&engine.tunnels.room).acquire_owned().await.map_err(|_| EngineError::Stopping)?;
        let Ok(request) = letter::request(&letter).map_err(|nonsense| self.lament(&nonsense)) else {
            return Ok(Taken::Nonsense);
        };
        let Opened { known, judged, differs } = engine.judge_letter(head, letter, request).await?;
        let mut arrival = judged.arrival;
        if head.waited {
            self.running.gap_is_known().await;
            arrival.caught_up_by = Some(self.tunnel);
        }
        let (verdict, known_provider) = (arrival.verdict, arrival.provider.is_some());
        let (is_set_up, received_at) = (arrival.facts.handshake.is_some(), arrival.received_at);
        // One that waited at the relay has been answered there long ago.
        let is_held = head.held && !head.waited;
        let waiting = is_held.then(|| engine.wait_for_local(&known, &judged.answered, arrival.id)).flatten();
        let committed = engine.inbox.store_in_turn(arrival).await?;
        drop(turn);
        let seen_through = {
            let (engine, known) = (Arc::clone(engine), Arc::clone(&known));
            engine.tasks.clone().spawn(async move {
                let stored = committed.await?;
                drop(room);
                engine.see_off(&stored, verdict);
                if is_set_up {
                    engine.confirm_by_itself(&known, stored.id);
                }
                Ok::<_, EngineError>(stored)
            })
        };
        let stored = seen_through.await.map_err(|_| EngineError::Stopping)??;
        self.running.stored(received_at);
        if differs {
            self.complain_of_bytes(&stored);
        }
        let engine = Arc::clone(engine);
        let answering = async move {
            let local = match waiting {
                Some(waiting) => engine.local_answer(waiting, &stored, AT_A_RELAY).await,
                None => None,
            };
            said(match local {
                Some(reply) => reply,
                None => engine.answer(&known, &stored, &judged.answered, known_provider).await,
            })
        };
        Ok(Taken::Stored(head.held.then(|| Box::pin(answering) as Answering)))
    }

    fn complain_of_bytes(&self, stored: &Stored) {
        let message = format!("the body of #{} is not what the relay received", stored.seq);
        tracing::error!(tunnel = self.tunnel, event = %stored.id, "{message}");
        self.running.fault(Trouble::new(
            "relay-body-differs",
            message,
            "the event is kept and not forwarded; have it sent again, and look at the relay",
        ));
    }

    fn lament(&self, why: &dyn std::error::Error) {
        tracing::error!(tunnel = self.tunnel, %why, "a letter can't be read");
        let hint = "somebody wrote it who knows the tunnel's public key; look at the relay's log";
        self.running.fault(Trouble::new("letter-unreadable", why.to_string(), hint));
    }
}

/// What became of a letter.
enum Taken {
    /// It is stored; its sender may want to hear something.
    Stored(Option<Answering>),
    /// It never will be.
    Nonsense,
}

impl Recipient for Mail {
    fn sources(&self) -> watch::Receiver<Arc<Vec<SourceOffer>>> {
        self.sources.clone()
    }

    async fn letter(&self, head: Letterhead, letter: Letter) -> Result<Option<Answering>, Later> {
        let engine = self.engine.upgrade().ok_or(Later)?;
        match Box::pin(self.take(&engine, &head, letter)).await {
            Ok(Taken::Stored(answering)) => {
                self.running.mends();
                Ok(answering)
            }
            Ok(Taken::Nonsense) => Ok(None),
            Err(error) => {
                tracing::warn!(tunnel = self.tunnel, %error, "an event can't be stored yet; it waits at the relay");
                let hint = error.hint().unwrap_or_else(|| "it is tried again by itself".to_owned());
                self.running.fails(Trouble::new(error.code(), error.to_string(), &hint));
                Err(Later)
            }
        }
    }

    fn unreadable(&self, head: &Letterhead, why: &Unreadable, lost: bool) {
        tracing::error!(tunnel = self.tunnel, position = head.position, lost, %why, "a letter can't be read");
        let message = format!("an event of {} can't be read: {why}", head.received_at);
        let hint = if lost { "have it sent again" } else { "it stays at the relay: update hookmitt" };
        self.running.fault(Trouble::new("letter-unreadable", message, hint));
    }

    fn state(&self, state: State) {
        self.running.becomes(state, Timestamp::now());
    }
}

fn said(reply: Reply) -> AppReply {
    let headers = reply.headers.into_iter().map(|(name, value)| (name, Bytes::from(value)));
    AppReply { status: reply.status, headers: headers.collect(), body: reply.body }
}
