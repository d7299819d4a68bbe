//! Everything that this side sends besides acknowledgements: heartbeats, sources, replies, requests.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use hookmitt_event::Timestamp;
use hookmitt_wire::{AppFrame, LETTER_VERSION, MAX_SOURCES, SourceOffer, encode};
use tokio::{
    sync::{oneshot, watch},
    time::Instant,
};
use tracing::warn;

use crate::{Devices, Invite, RelayProblem, TunnelError, Turn, line::Reply};

/// The frames that are to be sent, and the requests that wait for an answer.
pub(super) struct Speech {
    words: VecDeque<AppFrame>,
    /// The current sources, if the relay does not have them yet.
    sources: Option<Arc<Vec<SourceOffer>>>,
    /// Who waits until the relay has the sources: the stamp of the heartbeat whose answer says so, and whom to tell.
    announced: VecDeque<(u64, oneshot::Sender<()>)>,
    stamp: u64,
    /// When the last heartbeat was sent, and how many bytes had arrived until then.
    pinged: Option<(Instant, u64)>,
    /// Whether the last heartbeat is still unanswered.
    unanswered: bool,
    rtt: Option<Duration>,
    invites: VecDeque<oneshot::Sender<Invite>>,
    lists: VecDeque<Reply<Devices>>,
    revocations: VecDeque<Reply<()>>,
    /// The newest version of the protocol that the relay knows.
    known: u8,
    /// Answers a request to leave the tunnel, once it was sent.
    leaving: Option<oneshot::Sender<()>>,
}

impl Speech {
    pub(super) fn new(sources: &watch::Receiver<Arc<Vec<SourceOffer>>>, known: u8) -> Self {
        Self {
            words: VecDeque::new(),
            sources: Some(Arc::clone(&sources.borrow())),
            announced: VecDeque::new(),
            stamp: 0,
            pinged: None,
            unanswered: false,
            rtt: None,
            invites: VecDeque::new(),
            lists: VecDeque::new(),
            revocations: VecDeque::new(),
            known,
            leaving: None,
        }
    }

    pub(super) fn sources(&mut self, sources: &watch::Receiver<Arc<Vec<SourceOffer>>>) {
        self.sources = Some(Arc::clone(&sources.borrow()));
    }

    /// Sends the sources again, and then a heartbeat. A relay handles frames in order, so that it has the sources when
    /// it answers.
    pub(super) fn announce(
        &mut self,
        sources: &watch::Receiver<Arc<Vec<SourceOffer>>>,
        answer: oneshot::Sender<()>,
        bytes: u64,
    ) {
        self.sources(sources);
        // An unanswered heartbeat may have been sent before the sources; `pong` sends the next.
        self.announced.push_back((self.stamp + 1, answer));
        self.ping(bytes);
    }

    pub(super) fn has_words(&self) -> bool {
        self.sources.is_some() || !self.words.is_empty()
    }

    pub(super) fn next(&mut self) -> Option<AppFrame> {
        match self.sources.take() {
            Some(sources) => Some(fitting(&sources)),
            None => self.words.pop_front(),
        }
    }

    /// Sends a heartbeat, unless one is unanswered. `bytes` is how many bytes have arrived so far.
    pub(super) fn ping(&mut self, bytes: u64) {
        if self.unanswered {
            return;
        }
        self.stamp += 1;
        self.pinged = Some((Instant::now(), bytes));
        self.unanswered = true;
        self.words.push_front(AppFrame::Ping { stamp: self.stamp });
    }

    /// Sends a heartbeat if the last one was long enough ago.
    pub(super) fn heartbeat(&mut self, every: Duration, bytes: u64) {
        if self.pinged.is_none_or(|(at, _)| at.elapsed() >= every) {
            self.ping(bytes);
        }
    }

    /// Handles the answer to a heartbeat, and returns how long it took. `bytes` is how many bytes have arrived so far.
    pub(super) fn pong(&mut self, stamp: u64, bytes: u64) -> Result<Duration, TunnelError> {
        if !self.unanswered || stamp != self.stamp {
            return Err(TunnelError::Protocol("it answers a question that wasn't asked"));
        }
        self.unanswered = false;
        self.rtt = self.pinged.map(|(at, _)| at.elapsed());
        while let Some((_, answer)) = self.announced.pop_front_if(|(awaited, _)| *awaited <= stamp) {
            // The caller may have stopped waiting.
            let _ = answer.send(());
        }
        if !self.announced.is_empty() {
            self.ping(bytes);
        }
        Ok(self.rtt.unwrap_or_default())
    }

    /// Returns the last round-trip time. If the current heartbeat has already been waiting for longer, returns that
    /// wait in whole seconds.
    pub(super) fn rtt(&self) -> Option<Duration> {
        let waiting = self.unanswered(0).map(|(unanswered, _)| unanswered.as_secs());
        self.rtt.max(waiting.filter(|seconds| *seconds > 0).map(Duration::from_secs))
    }

    /// Returns how long a heartbeat has been unanswered, and how many bytes have arrived since it was sent.
    pub(super) fn unanswered(&self, bytes: u64) -> Option<(Duration, u64)> {
        self.pinged
            .filter(|_| self.unanswered)
            .map(|(at, before)| (at.elapsed(), bytes.saturating_sub(before)))
    }

    pub(super) fn invite(&mut self, answer: oneshot::Sender<Invite>) {
        self.words.push_back(AppFrame::Invite);
        self.invites.push_back(answer);
    }

    pub(super) fn invited(&mut self, code: String, until: i64) -> Result<(), TunnelError> {
        let answer = self.invites.pop_front();
        let answer = answer.ok_or(TunnelError::Protocol("it answers a question that wasn't asked"))?;
        // The caller may have stopped waiting.
        let _ = answer.send(Invite { code, until: Timestamp::from_micros(until) });
        Ok(())
    }

    /// Sends this device's proof that it was invited, if the relay understands that.
    pub(super) fn introduce(&mut self, proof: [u8; 32]) {
        if self.known >= 2 {
            self.words.push_back(AppFrame::Introduce { letters: LETTER_VERSION, proof });
        }
    }

    /// Asks for the sealing key. Returns whether the relay understands that.
    pub(super) fn ask_key(&mut self) -> bool {
        if self.known >= 2 {
            self.words.push_back(AppFrame::SealingKey);
        }
        self.known >= 2
    }

    pub(super) fn list(&mut self, answer: Reply<Devices>) {
        if self.known < 2 {
            let _ = answer.send(Err(TunnelError::OldRelay("devices")));
            return;
        }
        self.words.push_back(AppFrame::Devices);
        self.lists.push_back(answer);
    }

    pub(super) fn listed(&mut self, devices: Devices) -> Result<(), TunnelError> {
        let answer = self.lists.pop_front();
        let answer = answer.ok_or(TunnelError::Protocol("it answers a question that wasn't asked"))?;
        let _ = answer.send(Ok(devices));
        Ok(())
    }

    pub(super) fn revoke(&mut self, turn: Turn, answer: Reply<()>) {
        if self.known < 2 {
            let _ = answer.send(Err(TunnelError::OldRelay("revoking devices")));
            return;
        }
        let Turn { device, before, pair, notes } = turn;
        self.words.push_back(AppFrame::Revoke { device, before, sealing_key: pair.public, notes });
        self.revocations.push_back(answer);
    }

    pub(super) fn revoked(&mut self, problem: Option<(String, String)>) -> Result<(), TunnelError> {
        let answer = self.revocations.pop_front();
        let answer = answer.ok_or(TunnelError::Protocol("it answers a question that wasn't asked"))?;
        let refused = |(code, message)| TunnelError::Refused(RelayProblem { code, message, hint: None });
        let _ = answer.send(problem.map_or(Ok(()), |problem| Err(refused(problem))));
        Ok(())
    }

    pub(super) fn leave(&mut self, answer: oneshot::Sender<()>) {
        self.words.push_back(AppFrame::Leave);
        self.leaving = Some(answer);
    }

    /// Whether we have sent a request to leave. Then the relay's goodbye is its answer, and the caller is told.
    pub(super) fn leaves(&mut self) -> bool {
        match self.leaving.take() {
            Some(answer) => {
                let _ = answer.send(());
                true
            }
            None => false,
        }
    }
}

/// Returns all sources in one frame; if that would be too large, without the bodies of their default answers.
pub(crate) fn fitting(sources: &[SourceOffer]) -> AppFrame {
    let all = AppFrame::Sources(sources.to_vec());
    if encode(&all).len() <= MAX_SOURCES {
        return all;
    }
    warn!("the sources' answers are too large for the tunnel; the relay answers without their bodies");
    let plain = sources.iter().cloned().map(|source| SourceOffer {
        body: None,
        headers: plain(source.headers),
        ..source
    });
    AppFrame::Sources(plain.collect())
}

/// Removes the content type, because the body is not sent.
fn plain(mut headers: Vec<(String, Bytes)>) -> Vec<(String, Bytes)> {
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    headers
}
