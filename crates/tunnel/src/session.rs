//! One connection, from the relay's welcome to the end.
//!
//! A single task does everything. It never waits for one particular thing, so that neither a slow letter nor a slow
//! network delays heartbeats and other letters.

mod letters;
mod shared;
mod speech;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use futures_util::{FutureExt as _, StreamExt as _};
use hookmitt_event::Timestamp;
use hookmitt_seal::KeyPair;
use hookmitt_wire::{MAX_UNSERVED, PIECE, RelayFrame, SourceOffer, encode};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior, interval, sleep_until, timeout},
};
use tokio_tungstenite::tungstenite::Message;

pub(crate) use self::shared::Shared;
pub(crate) use self::speech::fitting;
use self::{letters::Letters, speech::Speech};
use crate::{
    Devices, Recipient, State, TunnelError,
    clock::{Jumps, TICK},
    hello::{Welcomed, no},
    line::Command,
    link::{self, Pulse, Read},
};

/// How long the answer to a heartbeat may take while other bytes arrive that the relay sent before it. They must add up
/// to at least one piece of a large letter in this time. If there are fewer, they can't explain the delay: what we send
/// does not reach the relay.
const PONG: Duration = Duration::from_secs(60);

/// How long letters that are being stored may take when the connection is closed, and then how long the last frames may
/// take.
const LAST_LETTERS: Duration = Duration::from_secs(2);
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a connection ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The tunnel was told to stop.
    Stopped,
    /// The device left the tunnel.
    Left,
    /// The machine slept, from this time on.
    Slept(Timestamp),
    /// The network changed.
    Moved,
    /// Something went wrong.
    Lost(TunnelError),
}

/// Every error ends the connection.
impl From<TunnelError> for Ended {
    fn from(error: TunnelError) -> Self {
        Self::Lost(error)
    }
}

/// A connection.
struct Session<R> {
    shared: Arc<Shared<R>>,
    letters: Letters<R>,
    speech: Speech,
    pulse: Pulse,
    jumps: Jumps,
    /// The relay's address, and the local address from which it is reached.
    way: Option<(SocketAddr, Option<IpAddr>)>,
    since: Timestamp,
    public_url: String,
    /// The state that was reported last.
    said: Option<State>,
}

/// Runs a connection until it ends. Also returns when the relay was last heard from.
pub(crate) async fn run<S, R>(
    welcomed: Welcomed<S>,
    peer: Option<SocketAddr>,
    shared: Arc<Shared<R>>,
) -> (Ended, Timestamp)
where
    S: AsyncRead + AsyncWrite + Unpin,
    R: Recipient,
{
    let Welcomed { socket, pulse, public_url, depth, newest, since, words } = welcomed;
    let sources = shared.recipient.sources();
    let mut session = Session {
        letters: Letters::new(Arc::clone(&shared), newest, depth, since),
        speech: Speech::new(&sources, words),
        jumps: Jumps::new(Arc::clone(&shared.options.clock)),
        pulse: pulse.clone(),
        way: peer.map(|peer| (peer, shared.options.network.way_to(Some(peer)))),
        said: None,
        shared,
        since,
        public_url,
    };
    session.introduce();
    // Before the state is reported, because whoever learns that the tunnel is connected may send a request at once.
    let (_listening, commands) = session.shared.options.line.listen();
    session.tell();
    let mut ended = Box::pin(session.go(socket, sources, commands)).await;
    if let (Ended::Lost(_), Some(asleep)) = (&ended, session.jumps.look()) {
        // A connection that fails after a sleep failed because of the sleep, whatever the error says.
        ended = Ended::Slept(asleep);
    }
    (ended, session.shared.options.clock.now().before(pulse.last().elapsed()))
}

impl<R: Recipient> Session<R> {
    async fn go<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        socket: link::Socket<S>,
        mut sources: watch::Receiver<Arc<Vec<SourceOffer>>>,
        mut commands: mpsc::Receiver<Command>,
    ) -> Ended {
        let line = self.shared.options.line.clone();
        let (sink, mut stream) = socket.split();
        let (outbox, outgoing) = mpsc::channel(8);
        let writing = link::write(sink, outgoing);
        tokio::pin!(writing);
        let mut tick = interval(TICK.min(self.shared.options.pace.heartbeat));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = self.shared.stop.clone();
        let mut sources_known = true;
        let ended = loop {
            let resume_at = self.letters.resume_at();
            let done = tokio::select! {
                () = stop.cancelled() => Err(Ended::Stopped),
                message = stream.next() => self.hear(message),
                Some(done) = self.letters.working.next() => { self.finish(done); Ok(()) }
                Some((event, reply)) = self.letters.answering.next() => {
                    self.letters.answer(event, reply);
                    Ok(())
                }
                Some(command) = commands.recv() => { self.obey(command, &sources); Ok(()) }
                changed = sources.changed(), if sources_known => {
                    sources_known = changed.is_ok();
                    self.speech.sources(&sources);
                    Ok(())
                }
                _ = tick.tick() => self.tick(),
                Ok(permit) = outbox.reserve(), if self.has_to_say() => {
                    if let Some(message) = self.next_word() { permit.send(message); }
                    Ok(())
                }
                broke = &mut writing => Err(broke.err().unwrap_or(TunnelError::NotConnected).into()),
                () = sleep_until(resume_at.unwrap_or_else(Instant::now)), if resume_at.is_some() => {
                    self.letters.resume();
                    Ok(())
                }
                () = line.nudged() => { self.speech.ping(self.pulse.bytes()); Ok(()) }
            };
            if let Err(ended) = done {
                break ended;
            }
        };
        if matches!(ended, Ended::Stopped) {
            self.letters.finish_what_is_under_way(LAST_LETTERS).await;
            // If this takes too long, the relay sends the unacknowledged letters again.
            let _ = timeout(LAST_WORDS, async { tokio::join!(self.last_words(outbox), writing) }).await;
        }
        ended
    }

    /// Sends what is still to be sent. The WebSocket is closed once the outbox is dropped.
    async fn last_words(&mut self, outbox: mpsc::Sender<Message>) {
        while let Some(message) = self.next_word() {
            if outbox.send(message).await.is_err() {
                break;
            }
        }
    }

    fn hear(
        &mut self,
        message: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>,
    ) -> Result<(), Ended> {
        match link::read(message)? {
            Read::Nothing => return Ok(()),
            Read::Goodbye(_) if self.speech.leaves() => return Err(Ended::Left),
            Read::Goodbye(error) => return Err(error.into()),
            Read::Frame(RelayFrame::Parcel { position, parcel, size }) => {
                self.letters.begins(position, parcel, size)?;
            }
            Read::Frame(RelayFrame::Piece { position, data }) => self.letters.goes_on(position, &data)?,
            Read::Frame(RelayFrame::Pong { stamp, depth }) => {
                let asked = self.speech.pong(stamp, self.pulse.bytes())?;
                self.letters.depth(depth, asked);
                self.tell();
            }
            Read::Frame(RelayFrame::Invited { code, until }) => self.speech.invited(code, until)?,
            Read::Frame(RelayFrame::Devices { sealing_key, devices }) => {
                self.speech.listed(Devices { sealing_key, devices })?;
            }
            Read::Frame(RelayFrame::Revoked(problem)) => self.speech.revoked(problem)?,
            Read::Frame(RelayFrame::SealingKey { sealing_key, note }) => self.turned(&sealing_key, &note)?,
            Read::Frame(RelayFrame::Unserved(names)) => {
                // The relay chose them, so nothing but names of sources is taken, and no more than it may tell.
                let names = names.iter().take(MAX_UNSERVED).filter_map(|name| name.parse().ok());
                self.shared.recipient.unserved(names.collect());
            }
            Read::Frame(frame) => return Err(no(frame).into()),
        }
        self.ask_for_key();
        self.say_when_caught_up();
        Ok(())
    }

    /// Handles a letter whose work is done, and others that are done too, so that one acknowledgement covers them all.
    fn finish(&mut self, done: crate::work::Done) {
        self.letters.finished(done);
        while let Some(Some(done)) = self.letters.working.next().now_or_never() {
            self.letters.finished(done);
        }
        self.ask_for_key();
        self.say_when_caught_up();
    }

    /// Asks the relay for the sealing key if a letter could not be opened.
    fn ask_for_key(&mut self) {
        if self.letters.wants_key() && !self.speech.ask_key() {
            self.letters.key_is_told(false);
        }
    }

    fn obey(&mut self, command: Command, sources: &watch::Receiver<Arc<Vec<SourceOffer>>>) {
        match command {
            Command::Announce(answer) => self.speech.announce(sources, answer, self.pulse.bytes()),
            Command::Invite(answer) => self.speech.invite(answer),
            Command::Leave(answer) => self.speech.leave(answer),
            Command::Devices(answer) => self.speech.list(answer),
            Command::Revoke(turn, answer) => {
                // Letters for the new key may arrive before the relay's answer.
                self.shared.opener.add(std::slice::from_ref(&turn.pair.secret));
                self.speech.revoke(turn, answer);
            }
        }
    }

    /// Proves with the newest sealing key that this device was invited. A device that doesn't know the tunnel's owner
    /// sends an empty proof, because it could not accept a new key. So the owner learns that it has to join again.
    fn introduce(&mut self) {
        let Shared { opener, credentials, .. } = &*self.shared;
        if let Some(newest) = opener.secrets().first() {
            let knows_owner = credentials.owner.is_some();
            self.speech.introduce(if knows_owner { credentials.proof(newest) } else { [0; 32] });
        }
    }

    /// Handles the relay's report of the current sealing key, with the owner's note about it.
    fn turned(&mut self, sealing_key: &[u8; 32], note: &[u8]) -> Result<(), Ended> {
        let Shared { opener, credentials, recipient, .. } = &*self.shared;
        let has = opener.secrets().iter().any(|secret| is_of(secret, sealing_key));
        let told = if has { None } else { Some(credentials.told(sealing_key, note)) };
        let mut is_new = false;
        match told {
            Some(Ok(keys)) => {
                is_new = opener.add(&keys);
                recipient.sealing_keys(opener.secrets());
            }
            Some(Err(why)) => recipient.no_key(why),
            None => {}
        }
        if is_new {
            self.introduce();
        }
        if self.letters.key_is_told(is_new) {
            return Ok(());
        }
        // Letters that the new key may open arrived before it and are not here any more. The relay sends them again
        // over a new connection.
        Err(TunnelError::Closed("the tunnel's sealing key was replaced".to_owned()).into())
    }

    fn tick(&mut self) -> Result<(), Ended> {
        if let Some(since) = self.jumps.look() {
            return Err(Ended::Slept(since));
        }
        let pace = self.shared.options.pace;
        if self.pulse.last().elapsed() >= pace.silence {
            return Err(TunnelError::Silent(pace.silence).into());
        }
        if let Some((unanswered, bytes)) = self.speech.unanswered(self.pulse.bytes())
            && (unanswered >= PONG || (unanswered >= pace.silence && is_little(bytes, unanswered)))
        {
            return Err(TunnelError::Slow(pace.silence.max(unanswered.min(PONG))).into());
        }
        if self.way.is_some_and(|(peer, way)| self.shared.options.network.way_to(Some(peer)) != way) {
            return Err(Ended::Moved);
        }
        // While letters are being caught up, people want to see the progress; and the number of waiting letters that is
        // shown must be current.
        let settled = self.letters.is_caught_up() && self.letters.waiting().letters == 0;
        let heartbeat = if settled { pace.heartbeat } else { pace.heartbeat.min(TICK) };
        self.speech.heartbeat(heartbeat, self.pulse.bytes());
        self.tell();
        Ok(())
    }

    fn has_to_say(&self) -> bool {
        self.speech.has_words() || self.letters.has_words()
    }

    fn next_word(&mut self) -> Option<Message> {
        let word = self.speech.next().or_else(|| self.letters.next_word())?;
        Some(Message::Binary(encode(&word)))
    }

    fn say_when_caught_up(&mut self) {
        if self.letters.catches_up() {
            self.tell();
        }
    }

    /// Reports the state if it has changed since the last report.
    fn tell(&mut self) {
        let state = State::Connected {
            since: self.since,
            public_url: self.public_url.clone(),
            rtt: self.speech.rtt(),
            depth: self.letters.waiting(),
            unacked: self.letters.unacked(),
            caught_up: self.letters.is_caught_up(),
        };
        if self.said.as_ref() != Some(&state) {
            self.said = Some(state.clone());
            self.shared.recipient.state(state);
        }
    }
}

fn is_of(secret: &[u8; 32], public: &[u8; 32]) -> bool {
    KeyPair::from_secret(secret).is_ok_and(|pair| pair.public == *public)
}

/// Whether too few bytes arrived since a heartbeat to explain why its answer is late.
fn is_little(bytes: u64, unanswered: Duration) -> bool {
    u128::from(bytes) * PONG.as_millis() < PIECE as u128 * unanswered.as_millis()
}

#[cfg(test)]
mod tests;
