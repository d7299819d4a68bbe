//! What a process knows of a tunnel that it runs: its live state, and the steps that have to be stored in the inbox.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use hookmitt_clock::Clock;
use hookmitt_event::{GapWhy, Slug, Timestamp, TunnelKind};
use hookmitt_inbox::{KeptTunnel, Told};
use hookmitt_tunnel::{Horizon, Line, State};
use hookmitt_wire::{Depth, SourceOffer};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{
    live_state::{LiveState, Step},
    offers::offers,
    view::{Seen, Trouble, TunnelState, is_forgotten},
};
use crate::settings::Settings;

/// How many [`Step`]s may wait to be stored. Most come with a change of the connection, which takes longer than a
/// commit; counts of unreadable letters are added up if the queue is full.
const STEPS: usize = 64;

/// A tunnel that runs in this process.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) line: Line,
    /// The time up to which everything that the relay received is here.
    pub(super) horizon: Horizon,
    pub(super) stop: CancellationToken,
    pub(super) clock: Arc<dyn Clock>,
    /// Notified when something about the tunnel has changed.
    pub(super) changed: Notify,
    now: Mutex<LiveState>,
    /// The only source, if a channel or a program serves one.
    serves: Option<Slug>,
    /// The sources that the relay is told of.
    offers: watch::Sender<Arc<Vec<SourceOffer>>>,
    /// Whether the relay was told that this device doesn't come back.
    left: AtomicBool,
    /// How many requests named a source that the tunnel doesn't serve.
    unknown: AtomicU64,
    /// The names that were called lately at the relay and are no sources there, newest first.
    unserved: Mutex<Vec<Slug>>,
    /// Letters that could not be read, and how many of them had waited, not yet counted in the inbox.
    spoilt: Mutex<(u64, u64)>,
    /// How many letters came under the id of another event.
    reused: AtomicU64,
    steps: mpsc::Sender<Step>,
    /// How many steps were sent, and in `handled` how many of them are stored.
    sent: watch::Sender<u64>,
    handled: watch::Sender<u64>,
}

impl Running {
    /// Creates the state of a tunnel that was connected until `last`; `None` counts as now.
    pub(super) fn new(
        stop: CancellationToken,
        last: Option<Timestamp>,
        clock: Arc<dyn Clock>,
    ) -> (Self, mpsc::Receiver<Step>) {
        let (steps, waiting) = mpsc::channel(STEPS);
        let running = Self {
            line: Line::new(),
            horizon: Horizon::default(),
            stop,
            changed: Notify::new(),
            now: Mutex::new(LiveState::new(last.unwrap_or_else(|| clock.now()))),
            clock,
            serves: None,
            offers: watch::Sender::default(),
            left: AtomicBool::new(false),
            unknown: AtomicU64::new(0),
            unserved: Mutex::default(),
            spoilt: Mutex::default(),
            reused: AtomicU64::new(0),
            steps,
            sent: watch::Sender::new(0),
            handled: watch::Sender::new(0),
        };
        (running, waiting)
    }

    /// Takes over what is stored of the tunnel.
    pub(super) fn of(mut self, kept: &KeptTunnel) -> Self {
        self.serves = kept.source.as_deref().and_then(|source| source.parse().ok());
        self.unknown = AtomicU64::new(kept.told.unknown);
        self.horizon = Horizon::new(complete_until(kept), self.clock.now());
        let mut now = self.now();
        if kept.kind == TunnelKind::Smee {
            now.up = TunnelState::Limited;
            now.public_url.clone_from(&kept.url);
        }
        drop(now);
        self
    }

    fn now(&self) -> MutexGuard<'_, LiveState> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state, with the most serious trouble.
    pub(super) fn seen(&self) -> Seen {
        let now = self.now();
        let mut seen = now.seen.clone();
        seen.stores = now.failing.is_none();
        seen.error = seen.error.or_else(|| now.failing.clone()).or_else(|| now.fault.clone());
        seen
    }

    /// Takes over which unknown sources were called lately.
    pub(super) fn knows_unserved(&self, names: Vec<Slug>) {
        *self.unserved.lock().unwrap_or_else(PoisonError::into_inner) = names;
        self.changed.notify_one();
    }

    /// Returns which sources were called lately and are still not among those that the relay is told of, newest first.
    pub(super) fn unserved(&self) -> Vec<Slug> {
        let names = self.unserved.lock().unwrap_or_else(PoisonError::into_inner);
        names.iter().filter(|name| !self.is_offered(name.as_str())).cloned().collect()
    }

    pub(super) fn serves(&self) -> Option<Slug> {
        self.serves.clone()
    }

    /// Offers the relay the chosen sources as the settings have them now, or all sources if none was chosen.
    pub(super) fn offer(&self, settings: &Settings, chosen: &[String]) {
        self.offers.send_if_modified(|told| {
            // Read under the lock of the channel, so that of two changes the later one stays.
            let offers = offers(&settings.now(), chosen);
            let differs = **told != *offers;
            if differs {
                *told = offers;
            }
            differs
        });
    }

    /// Returns the offered sources, as they change.
    pub(super) fn offers(&self) -> watch::Receiver<Arc<Vec<SourceOffer>>> {
        self.offers.subscribe()
    }

    /// Whether a source is among those that the relay is told of.
    pub(super) fn is_offered(&self, slug: &str) -> bool {
        self.offers.borrow().iter().any(|offer| offer.slug == slug)
    }

    pub(super) fn public_url(&self) -> Option<String> {
        self.now().public_url.clone()
    }

    pub(super) fn is_up(&self) -> bool {
        self.now().is_up()
    }

    pub(super) fn last_event_at(&self) -> Option<Timestamp> {
        self.now().last_event_at
    }

    /// Returns what the relay reported last, if it is connected now.
    pub(super) fn told(&self) -> Option<Told> {
        self.now().told()
    }

    /// Records that an event is in the inbox.
    pub(super) fn stored(&self, received_at: Timestamp) {
        let mut now = self.now();
        now.last_event_at = now.last_event_at.max(Some(received_at));
    }

    /// Shows something that a person should know.
    pub(super) fn fault(&self, trouble: Trouble) {
        self.now().fault = Some(trouble);
        self.changed.notify_one();
    }

    /// Records that a letter came under the id of another event. Returns how many did.
    pub(super) fn reuses_a_name(&self) -> u64 {
        self.reused.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Shows that the tunnel can't go on for now.
    pub(super) fn stuck(&self, trouble: Trouble, now: Timestamp) {
        self.now().is_stuck(trouble, now);
        self.changed.notify_one();
    }

    /// Records, for display, that incoming events can't be stored.
    pub(super) fn fails(&self, trouble: Trouble) {
        self.now().failing = Some(trouble);
        self.changed.notify_one();
    }

    /// Clears what [`fails`](Self::fails) showed, because letters can be stored again.
    pub(super) fn mends(&self) {
        if self.now().failing.take().is_some() {
            self.changed.notify_one();
        }
    }

    /// Waits until every step so far is stored.
    pub(super) async fn gap_is_known(&self) {
        let sent = *self.sent.borrow();
        let mut handled = self.handled.subscribe();
        // The minder runs as long as letters come.
        let _gone = handled.wait_for(|handled| *handled >= sent).await;
    }

    /// Records that a step is stored.
    pub(super) fn handled(&self) {
        self.handled.send_modify(|count| *count += 1);
        self.changed.notify_one();
    }

    /// Records that a channel or a program is connected. Nothing waited, because these store nothing.
    pub(super) fn opens(&self, public_url: &str, at: Timestamp) {
        let mut now = self.now();
        let same = now.is_up() && now.public_url.as_deref() == Some(public_url);
        let since = if same { now.seen.since } else { at };
        now.public_url = Some(public_url.to_owned());
        let state = State::Connected {
            since,
            public_url: public_url.to_owned(),
            rtt: None,
            depth: Depth { unknown: self.unknown.load(Ordering::Relaxed), ..Depth::default() },
            unacked: 0,
            caught_up: true,
        };
        if now.is_up() && !same {
            // Another URL counts as another connection, so that it is stored.
            self.takes(&mut now, State::Connecting { attempt: 1, last_error: None }, at);
        }
        self.takes(&mut now, state, at);
    }

    /// Records that a channel or a program is not connected since that time.
    pub(super) fn breaks_off(&self, since: Timestamp, why: GapWhy, trouble: Trouble) {
        let mut now = self.now();
        // The first break counts, not the failed tries after it.
        let since = if now.is_up() { since } else { now.seen.since };
        self.takes(&mut now, State::Offline { since, why, error: None, next_try: None }, since);
        now.seen.error = Some(trouble);
        now.seen.hindrance = (!why.stays()).then_some(why);
        if now.up == TunnelState::Connected {
            now.public_url = None; // a program's URL ends with its connection
        }
    }

    /// Records that a channel or a program was ended by us.
    pub(super) fn ends(&self, at: Timestamp) {
        let ended = State::Offline { since: at, why: GapWhy::AppClosed, error: None, next_try: None };
        self.now().public_url = None;
        self.becomes(ended, at);
    }

    /// Tells the relay that this device doesn't come back. Returns whether the relay knows that.
    pub(super) async fn leaves(&self, patience: Duration) -> bool {
        let left = self.is_forgotten()
            || matches!(tokio::time::timeout(patience, self.line.leave()).await, Ok(Ok(())));
        self.left.store(left, Ordering::Relaxed);
        left
    }

    pub(super) fn has_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    /// Whether the relay has said that it no longer knows this device.
    fn is_forgotten(&self) -> bool {
        let Seen { state, error, .. } = self.seen();
        is_forgotten(state, error.as_ref())
    }

    /// Counts a letter that could not be read and never will be.
    pub(super) fn spoils(&self, waited: bool) {
        let mut spoilt = self.spoilt.lock().unwrap_or_else(PoisonError::into_inner);
        *spoilt = (spoilt.0 + 1, spoilt.1 + u64::from(waited));
        // If there is no room for the step, a queued step takes all that was counted.
        if self.steps.try_send(Step::Spoilt).is_ok() {
            self.sent.send_modify(|count| *count += 1);
        }
    }

    /// Returns how many letters could not be read since the last call, and how many of them had waited.
    pub(super) fn take_spoilt(&self) -> (u64, u64) {
        std::mem::take(&mut *self.spoilt.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts a request for a source that is not served.
    pub(super) fn names_no_source(&self, at: Timestamp) {
        self.unknown.fetch_add(1, Ordering::Relaxed);
        let url = self.public_url().filter(|_| self.is_up());
        if let Some(url) = url {
            self.opens(&url, at);
        }
    }

    /// Takes over a new state of the connection, and queues the steps that have to be stored.
    pub(super) fn becomes(&self, state: State, at: Timestamp) {
        self.takes(&mut self.now(), state, at);
    }

    fn takes(&self, now: &mut LiveState, state: State, at: Timestamp) {
        for step in now.becomes(state, at) {
            match self.steps.try_send(step) {
                Ok(()) => self.sent.send_modify(|count| *count += 1),
                Err(error) => tracing::warn!(%error, "a change of a tunnel's state isn't stored"),
            }
        }
        self.changed.notify_one();
    }
}

/// Returns the time up to which everything that a relay received was here. An earlier version did not store it; then
/// this is at most the time of the newest event, because letters come in order and no later one is older.
fn complete_until(kept: &KeptTunnel) -> Option<Timestamp> {
    let since = kept.connected_until.unwrap_or(kept.created_at);
    kept.complete_until.or_else(|| Some(kept.last_event_at.map_or(since, |newest| newest.min(since))))
}

#[cfg(test)]
mod tests;
