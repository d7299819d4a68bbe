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
mod tests {
    use hookmitt_clock::MachineClock;
    use hookmitt_event::{NoConnection, Silence};
    use hookmitt_tunnel::{RelayProblem, TunnelError};
    use hookmitt_wire::Depth;

    use super::*;

    const AT: Timestamp = Timestamp::from_seconds(1_000);

    fn connected(since: Timestamp, refused: u64, caught_up: bool) -> State {
        State::Connected {
            since,
            public_url: "https://relay.test/t".to_owned(),
            rtt: Some(Duration::from_millis(38)),
            depth: Depth { refused, letters: 3, ..Depth::default() },
            unacked: 2,
            caught_up,
        }
    }

    fn steps(running: &Running, waiting: &mut mpsc::Receiver<Step>, state: State) -> Vec<Step> {
        running.becomes(state, AT);
        std::iter::from_fn(|| waiting.try_recv().ok()).collect()
    }

    #[test]
    fn a_night_away_becomes_three_steps() {
        let (running, mut waiting) = Running::new(CancellationToken::new(), Some(AT), Arc::new(MachineClock));
        let told = |refused| Told { refused, ..Told::default() };
        let public_url = "https://relay.test/t".to_owned();
        let first = steps(&running, &mut waiting, connected(AT, 1, true));
        let found = Step::Found { public_url: public_url.clone(), told: told(1) };
        assert_eq!(first, [found, Step::CaughtUp { since: AT }]);
        assert_eq!(steps(&running, &mut waiting, connected(AT, 1, true)), [], "a heartbeat is no news");
        assert_eq!(steps(&running, &mut waiting, connected(AT, 2, true)), [Step::Told(told(2))]);
        let seen = running.seen();
        assert_eq!((seen.rtt_ms, seen.waiting.letters, seen.to_acknowledge), (Some(38), 3, 2));

        let slept = Timestamp::from_seconds(2_000);
        let offline = State::Offline { since: slept, why: GapWhy::Asleep, error: None, next_try: None };
        let lost = Step::Lost { since: slept, why: GapWhy::Asleep };
        assert_eq!(steps(&running, &mut waiting, offline.clone()), [lost]);
        assert_eq!(steps(&running, &mut waiting, offline), [], "it is lost once");
        let calling = State::Connecting { attempt: 2, last_error: None };
        assert_eq!(steps(&running, &mut waiting, calling), []);
        assert_eq!((running.seen().since, running.seen().why), (slept, Some(GapWhy::Asleep)));

        let back = Timestamp::from_seconds(9_000);
        let found = Step::Found { public_url, told: told(4) };
        assert_eq!(steps(&running, &mut waiting, connected(back, 4, false)), [found]);
        let caught_up = steps(&running, &mut waiting, connected(back, 4, true));
        assert_eq!(caught_up, [Step::CaughtUp { since: back }]);
    }

    #[test]
    fn our_own_end_is_no_loss_and_a_refusal_is_one() {
        let (running, mut waiting) = Running::new(CancellationToken::new(), Some(AT), Arc::new(MachineClock));
        steps(&running, &mut waiting, connected(AT, 0, true));
        let ended = State::Offline { since: AT, why: GapWhy::AppClosed, error: None, next_try: None };
        assert_eq!(steps(&running, &mut waiting, ended), [Step::Closed { told: Told::default() }]);

        steps(&running, &mut waiting, connected(AT, 0, true));
        let (code, message) = ("unknown-device".to_owned(), "idle for 30 days".to_owned());
        let problem = RelayProblem { code, message, hint: None };
        let refused = State::Refused { error: TunnelError::Refused(problem) };
        assert_eq!(steps(&running, &mut waiting, refused), [Step::Lost { since: AT, why: GapWhy::Denied }]);
        assert_eq!(running.seen().state, TunnelState::Refused);
        assert!(running.seen().error.is_some());
    }

    fn offline(why: GapWhy, error: Option<TunnelError>) -> State {
        State::Offline { since: AT, why, error, next_try: None }
    }

    fn unreachable(why: NoConnection) -> State {
        let error = TunnelError::Unreachable(Silence { why, error: why.to_string() });
        offline(why.into(), Some(error))
    }

    #[test]
    fn a_gap_has_the_reason_that_the_latest_try_found() {
        let (running, mut waiting) = Running::new(CancellationToken::new(), Some(AT), Arc::new(MachineClock));
        steps(&running, &mut waiting, connected(AT, 0, true));
        let broke_off = offline(GapWhy::Relay, Some(TunnelError::Closed("it broke off".to_owned())));
        let lost = Step::Lost { since: AT, why: GapWhy::Relay };
        assert_eq!(steps(&running, &mut waiting, broke_off), [lost]);
        let refused = || unreachable(NoConnection::ConnectionRefused);
        let reason = Step::Reason { why: GapWhy::ConnectionRefused };
        assert_eq!(steps(&running, &mut waiting, refused()), [reason]);
        assert_eq!(steps(&running, &mut waiting, refused()), [], "it is no other one");
        let seen = running.seen();
        assert_eq!((seen.why, seen.hindrance), (seen.hindrance, Some(GapWhy::ConnectionRefused)));
    }

    #[test]
    fn a_night_s_gap_is_the_night_s_whatever_the_morning_finds() {
        let (running, mut waiting) = Running::new(CancellationToken::new(), Some(AT), Arc::new(MachineClock));
        steps(&running, &mut waiting, connected(AT, 0, true));
        let lost = Step::Lost { since: AT, why: GapWhy::Asleep };
        assert_eq!(steps(&running, &mut waiting, offline(GapWhy::Asleep, None)), [lost]);
        assert_eq!(running.seen().hindrance, None, "nothing was tried yet");
        for why in [NoConnection::NoRoute, NoConnection::ConnectionRefused] {
            assert_eq!(steps(&running, &mut waiting, unreachable(why)), []);
            let seen = running.seen();
            assert_eq!((seen.why, seen.hindrance), (Some(GapWhy::Asleep), Some(why.into())));
        }
    }

    #[test]
    fn what_is_wrong_is_shown_until_it_is_mended() {
        let (running, _waiting) = Running::new(CancellationToken::new(), Some(AT), Arc::new(MachineClock));
        assert!(running.seen().stores);
        running.fails(Trouble::new("disk-full", "no room", ""));
        assert!(!running.seen().stores);
        running.fault(Trouble::new("relay-body-differs", "bytes", ""));
        assert_eq!(running.seen().error.unwrap().code, "disk-full");
        running.mends();
        assert_eq!(
            running.seen().error.unwrap().code,
            "relay-body-differs",
            "a success doesn't undo this one"
        );
        assert!(running.seen().stores, "it is about one letter");
    }
}
