//! What a state of the connection means for what is shown, and which steps have to be stored in the inbox.

use hookmitt_event::{Explain as _, GapWhy, Timestamp};
use hookmitt_inbox::Told;
use hookmitt_tunnel::{State, TunnelError};
use hookmitt_wire::Depth;

use super::view::{Backlog, Seen, Trouble, TunnelState};

/// A change that has to outlive the process.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// The relay is connected, and reports this.
    Found { public_url: String, told: Told },
    /// The relay reports something else than before.
    Told(Told),
    /// Everything that waited when the connection was made is here.
    CaughtUp { since: Timestamp },
    /// The connection is lost.
    Lost { since: Timestamp, why: GapWhy },
    /// The present gap has another reason, which was found when we tried again.
    Reason { why: GapWhy },
    /// Letters could not be read; [`Running::take_spoilt`](super::running::Running::take_spoilt) says how many.
    Spoilt,
    /// We closed the connection.
    Closed { told: Told },
}

/// The present state of a tunnel.
#[derive(Debug)]
pub(super) struct LiveState {
    pub(super) seen: Seen,
    /// The state that is shown while the tunnel is connected.
    pub(super) up: TunnelState,
    /// The URL that providers call, if only the connection tells it.
    pub(super) public_url: Option<String>,
    depth: Option<Depth>,
    caught_up: bool,
    pub(super) last_event_at: Option<Timestamp>,
    /// Why letters can't be stored at the moment.
    pub(super) failing: Option<Trouble>,
    /// Something that a person should know and that a later success doesn't undo.
    pub(super) fault: Option<Trouble>,
}

impl LiveState {
    pub(super) fn new(at: Timestamp) -> Self {
        let seen = Seen::new(TunnelState::Connecting, at);
        Self {
            seen,
            up: TunnelState::Connected,
            public_url: None,
            depth: None,
            caught_up: false,
            last_event_at: None,
            failing: None,
            fault: None,
        }
    }

    /// Whether events come through.
    pub(super) fn is_up(&self) -> bool {
        self.seen.state == self.up
    }

    /// Returns what the relay reported last, if it is connected now.
    pub(super) fn told(&self) -> Option<Told> {
        self.depth.as_ref().filter(|_| self.is_up()).map(told)
    }

    /// Takes over a new state of the connection. Returns the steps that have to be stored.
    pub(super) fn becomes(&mut self, state: State, at: Timestamp) -> Vec<Step> {
        let was_connected = self.is_up();
        match state {
            State::Connected { since, public_url, rtt, depth, unacked, caught_up } => {
                let seen = Seen::new(self.up, since);
                let rtt_ms = rtt.map(|rtt| u64::try_from(rtt.as_millis()).unwrap_or(u64::MAX));
                self.seen = Seen { rtt_ms, waiting: waiting(&depth), to_acknowledge: unacked, ..seen };
                let before = self.depth.replace(depth).filter(|_| was_connected);
                let mut steps = match before {
                    None => vec![Step::Found { public_url, told: told(&depth) }],
                    Some(before) if told(&before) != told(&depth) => vec![Step::Told(told(&depth))],
                    Some(_) => Vec::new(),
                };
                if caught_up && !(was_connected && self.caught_up) {
                    steps.push(Step::CaughtUp { since });
                }
                self.caught_up = caught_up;
                steps
            }
            State::Connecting { last_error, .. } => {
                let error = last_error.as_ref().map(trouble).or(self.seen.error.take());
                let since = if was_connected { at } else { self.seen.since };
                let Seen { why, hindrance, .. } = self.seen;
                self.seen =
                    Seen { error, why, hindrance, ..self.unconnected(TunnelState::Connecting, since) };
                lost(was_connected, since, GapWhy::Relay)
            }
            State::Offline { since, why, error, .. } => {
                let before = self.seen.why;
                let hindrance = error.as_ref().map(|_| why);
                let error = error.as_ref().map(trouble);
                self.seen = Seen { error, hindrance, ..self.unconnected(TunnelState::Offline, since) };
                match (why, &self.depth) {
                    // No gap yet: the next start opens one from the time up to which the tunnel was connected.
                    (GapWhy::AppClosed, Some(depth)) if was_connected => {
                        vec![Step::Closed { told: told(depth) }]
                    }
                    (GapWhy::AppClosed, _) => Vec::new(),
                    _ => self.lacks_connection(why, before, was_connected.then_some(since)),
                }
            }
            State::Refused { error } => {
                let (before, why) = (self.seen.why, error.why());
                let since = if self.seen.state == TunnelState::Refused { self.seen.since } else { at };
                let seen = self.unconnected(TunnelState::Refused, since);
                self.seen = Seen { error: Some(trouble(&error)), hindrance: Some(why), ..seen };
                self.lacks_connection(why, before, was_connected.then_some(since))
            }
        }
    }

    /// Shows that something here keeps the tunnel from running.
    pub(super) fn is_stuck(&mut self, trouble: Trouble, at: Timestamp) {
        let why = reason(GapWhy::Hindered, self.seen.why);
        let seen = Seen::new(TunnelState::Refused, at);
        self.seen = Seen { error: Some(trouble), why: Some(why), hindrance: Some(GapWhy::Hindered), ..seen };
    }

    /// Records why there is no connection; `before` is the reason so far, and `lost_at` when the connection was lost, if
    /// there was one until now. Returns the steps that have to be stored.
    fn lacks_connection(
        &mut self,
        why: GapWhy,
        before: Option<GapWhy>,
        lost_at: Option<Timestamp>,
    ) -> Vec<Step> {
        if let Some(since) = lost_at {
            self.seen.why = Some(why);
            return vec![Step::Lost { since, why }];
        }
        let why = reason(why, before);
        self.seen.why = Some(why);
        if before == Some(why) { Vec::new() } else { vec![Step::Reason { why }] }
    }

    /// Returns an unconnected state. What waited when the relay reported last is taken to wait still.
    fn unconnected(&self, state: TunnelState, since: Timestamp) -> Seen {
        Seen { waiting: self.seen.waiting, ..Seen::new(state, since) }
    }
}

fn lost(was_connected: bool, since: Timestamp, why: GapWhy) -> Vec<Step> {
    if was_connected { vec![Step::Lost { since, why }] } else { Vec::new() }
}

/// Returns the reason of a gap that goes on: the latest, unless the one before stays. A reason that stays tells how the
/// connection was lost, so it begins a gap, and never continues one.
fn reason(latest: GapWhy, before: Option<GapWhy>) -> GapWhy {
    before.filter(|before| before.stays() || latest.stays()).unwrap_or(latest)
}

/// Returns an error as it is shown.
pub(super) fn trouble(error: &TunnelError) -> Trouble {
    Trouble::new(error.any_code(), error.to_string(), &error.hint().unwrap_or_default())
}

fn waiting(depth: &Depth) -> Backlog {
    let oldest_at = depth.oldest.map(Timestamp::from_micros);
    Backlog { letters: depth.letters, bytes: depth.bytes, oldest_at }
}

fn told(depth: &Depth) -> Told {
    let refused_at = depth.refused_at.map(Timestamp::from_micros);
    Told { refused: depth.refused, refused_at, unknown: depth.unknown }
}
