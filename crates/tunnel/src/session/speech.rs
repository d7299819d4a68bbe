//! What this side says beside its acknowledgements: heartbeats, sources, answers, commands.

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

/// The words that wait to be said, and the answers that are waited for.
pub(super) struct Speech {
    words: VecDeque<AppFrame>,
    /// The newest sources, where the relay does not know them. Only the newest count.
    sources: Option<Arc<Vec<SourceOffer>>>,
    stamp: u64,
    /// When a heartbeat went out last, and how many bytes had come until then.
    pinged: Option<(Instant, u64)>,
    /// A heartbeat waits for its answer.
    unanswered: bool,
    rtt: Option<Duration>,
    invites: VecDeque<oneshot::Sender<Invite>>,
    lists: VecDeque<Reply<Devices>>,
    revocations: VecDeque<Reply<()>>,
    /// The newest words that the relay knows.
    known: u8,
    /// Says that we are out of the tunnel, by being dropped or used.
    leaving: Option<oneshot::Sender<()>>,
}

impl Speech {
    pub(super) fn new(sources: &watch::Receiver<Arc<Vec<SourceOffer>>>, known: u8) -> Self {
        Self {
            words: VecDeque::new(),
            sources: Some(Arc::clone(&sources.borrow())),
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

    pub(super) fn has_words(&self) -> bool {
        self.sources.is_some() || !self.words.is_empty()
    }

    pub(super) fn next(&mut self) -> Option<AppFrame> {
        match self.sources.take() {
            Some(sources) => Some(fitting(&sources)),
            None => self.words.pop_front(),
        }
    }

    /// Asks whether the relay is there, unless that was asked already. So many bytes have come until now.
    pub(super) fn ping(&mut self, bytes: u64) {
        if self.unanswered {
            return;
        }
        self.stamp += 1;
        self.pinged = Some((Instant::now(), bytes));
        self.unanswered = true;
        self.words.push_front(AppFrame::Ping { stamp: self.stamp });
    }

    /// Asks where the last time is long enough ago.
    pub(super) fn heartbeat(&mut self, every: Duration, bytes: u64) {
        if self.pinged.is_none_or(|(at, _)| at.elapsed() >= every) {
            self.ping(bytes);
        }
    }

    /// How long the answer took that is here now.
    pub(super) fn pong(&mut self, stamp: u64) -> Result<Duration, TunnelError> {
        if !self.unanswered || stamp != self.stamp {
            return Err(TunnelError::Protocol("it answers what was not asked"));
        }
        self.unanswered = false;
        self.rtt = self.pinged.map(|(at, _)| at.elapsed());
        Ok(self.rtt.unwrap_or_default())
    }

    /// The last round trip; or how long, in seconds, the one under way takes already, where that is longer.
    pub(super) fn rtt(&self) -> Option<Duration> {
        let waiting = self.unanswered(0).map(|(unanswered, _)| unanswered.as_secs());
        self.rtt.max(waiting.filter(|seconds| *seconds > 0).map(Duration::from_secs))
    }

    /// For how long a heartbeat has been waiting for its answer, and how many of all bytes have come meanwhile.
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
        let answer = answer.ok_or(TunnelError::Protocol("it answers what was not asked"))?;
        // Whoever asked may have given up.
        let _ = answer.send(Invite { code, until: Timestamp::from_micros(until) });
        Ok(())
    }

    /// Says what this device is, where the relay wants to know.
    pub(super) fn introduce(&mut self, proof: [u8; 32]) {
        if self.known >= 2 {
            self.words.push_back(AppFrame::Introduce { letters: LETTER_VERSION, proof });
        }
    }

    /// Asks for the sealing key. Answers whether the relay knows what that is.
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
        let answer = answer.ok_or(TunnelError::Protocol("it answers what was not asked"))?;
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
        let answer = answer.ok_or(TunnelError::Protocol("it answers what was not asked"))?;
        let refused = |(code, message)| TunnelError::Refused(RelayProblem { code, message, hint: None });
        let _ = answer.send(problem.map_or(Ok(()), |problem| Err(refused(problem))));
        Ok(())
    }

    pub(super) fn leave(&mut self, answer: oneshot::Sender<()>) {
        self.words.push_back(AppFrame::Leave);
        self.leaving = Some(answer);
    }

    /// Whether we said that we leave; then the relay's goodbye is the answer, and whoever asked is told.
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

/// All sources in one frame; without the bodies of their answers where it would be too large with them.
fn fitting(sources: &[SourceOffer]) -> AppFrame {
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

/// Without a type of content that is not there.
fn plain(mut headers: Vec<(String, Bytes)>) -> Vec<(String, Bytes)> {
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    headers
}
