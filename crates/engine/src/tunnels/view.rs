//! Tunnels and their gaps, as they are shown.

use hookmitt_event::{Explain, GapWhy, Slug, Timestamp, TunnelKind};
use hookmitt_inbox::{Gap, KeptTunnel};
use serde::Serialize;

use super::kind;

/// The state of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TunnelState {
    /// Connected: events come through it.
    Connected,
    /// A connection is being made.
    Connecting,
    /// There is no connection; connecting is tried again.
    Offline,
    /// The relay refuses this device, or something here keeps the tunnel from running; `error` says what to do.
    Refused,
    /// Switched off, or run by another process.
    Off,
    /// Connected, but events don't come through it exactly as they were sent.
    Limited,
}

/// What is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Trouble {
    /// A stable code.
    pub code: String,
    /// What happened.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
}

impl Trouble {
    pub(crate) fn new(code: &str, message: impl Into<String>, hint: &str) -> Self {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        Self { code: code.to_owned(), message: message.into(), hint }
    }

    pub(crate) fn of<E: Explain + std::fmt::Display>(error: &E) -> Self {
        Self::new(error.code(), error.to_string(), &error.hint().unwrap_or_default())
    }
}

/// The events that wait at a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Backlog {
    /// The number of events.
    pub letters: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// When the oldest was received.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub oldest_at: Option<Timestamp>,
}

/// A count of events that were lost: refused by a relay for its limits, dropped by it after too long a wait, or
/// unreadable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct RefusedCount {
    /// How many since the tunnel was added.
    pub count: u64,
    /// When the last one was lost.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub last_at: Option<Timestamp>,
}

/// Whether the relay has said that it no longer knows this device or its tunnel.
pub(super) fn is_forgotten(state: TunnelState, error: Option<&Trouble>) -> bool {
    let code = error.map(|error| error.code.as_str());
    state == TunnelState::Refused && matches!(code, Some("unknown-device" | "unknown-tunnel"))
}

/// A tunnel as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct TunnelView {
    /// The number of the tunnel.
    pub id: i64,
    /// What makes the tunnel.
    pub kind: TunnelKind,
    /// The label that is shown to people.
    pub label: String,
    /// The name of the tunnel at the relay.
    pub tunnel: Option<String>,
    /// The relay's URL.
    pub relay: Option<String>,
    /// The only source that a channel or a program serves.
    #[schema(value_type = Option<String>)]
    pub source: Option<Slug>,
    /// The sources that were chosen for a relay's tunnel; the relay is told of no others. Empty if none was chosen: the
    /// relay is told of all.
    #[schema(value_type = Vec<String>)]
    pub sources: Vec<Slug>,
    /// The other side's host, for people: `relay.acme.dev`.
    pub host: String,
    /// The public URL. For a relay, `/<source>` follows. A program's URL is known only while it is connected.
    pub public_url: Option<String>,
    /// Whether the tunnel is switched on.
    pub enabled: bool,
    /// The state of the tunnel.
    pub state: TunnelState,
    /// Since when the tunnel has been in this state.
    #[schema(value_type = String, format = "date-time")]
    pub since: Timestamp,
    /// Why there is no connection. The open gap has the same reason: how the connection was lost, or what was found
    /// when connecting was tried again.
    pub why: Option<GapWhy>,
    /// Why the latest try to connect failed; null if none was made since. It differs from `why` where that stays the
    /// reason for the whole gap: the computer slept, hookmitt was closed, or the tunnel was switched off.
    pub hindrance: Option<GapWhy>,
    /// Whether events that come through the tunnel can be stored here.
    pub stores: bool,
    /// What is wrong.
    pub error: Option<Trouble>,
    /// The round-trip time to the other side, in milliseconds.
    pub rtt_ms: Option<u64>,
    /// The events that wait at the relay, as it reported last.
    pub waiting: Backlog,
    /// How many events are here and not acknowledged yet.
    pub to_acknowledge: u64,
    /// Events that the relay could not keep.
    pub refused: RefusedCount,
    /// How many requests named a source that the tunnel doesn't serve.
    pub unknown: u64,
    /// Names among them that were called lately and are still not served, newest first; known while it is connected.
    #[schema(value_type = Vec<String>)]
    pub unserved: Vec<Slug>,
    /// Events that came through the tunnel and were lost because they could not be read.
    pub spoilt: RefusedCount,
    /// When its newest event was received.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub last_event_at: Option<Timestamp>,
    /// When the tunnel was added.
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// The newest time when the tunnel was not connected.
    pub gap: Option<GapView>,
}

impl TunnelView {
    /// Whether requests to its URL can arrive here: it is switched on, and its relay knows this device.
    pub fn is_in_use(&self) -> bool {
        self.enabled && !is_forgotten(self.state, self.error.as_ref())
    }

    /// Returns the URL that a source's provider calls, or `None` if the tunnel doesn't serve the source.
    pub fn url_of(&self, source: &Slug) -> Option<String> {
        let base = self.public_url.as_deref()?;
        match self.kind {
            TunnelKind::Relay => self.serves(source).then(|| format!("{base}/{source}")),
            _ => self.serves(source).then(|| base.to_owned()),
        }
    }

    /// Whether events of a source come through the tunnel.
    fn serves(&self, source: &Slug) -> bool {
        match self.kind {
            TunnelKind::Relay => self.sources.is_empty() || self.sources.contains(source),
            _ => self.source.as_ref() == Some(source),
        }
    }
}

/// A gap: a time when a tunnel was not connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct GapView {
    /// The number of the gap.
    pub id: i64,
    /// The number of the tunnel.
    pub tunnel_id: i64,
    /// The tunnel's label.
    pub label: String,
    /// When the connection was lost.
    #[schema(value_type = String, format = "date-time")]
    pub from: Timestamp,
    /// When the connection was back; null until everything that waited is here.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub until: Option<Timestamp>,
    /// Why the connection was lost.
    pub why: GapWhy,
    /// How many events had waited and came in afterwards.
    pub caught_up: u64,
    /// How many requests the relay refused meanwhile or dropped after too long a wait, plus how many of those that
    /// waited could not be read. Null if nobody can know: channels and programs store nothing, or the relay refuses
    /// this device.
    pub lost: Option<u64>,
    /// How long catching up took, in milliseconds.
    pub took_ms: Option<u64>,
    /// The first event that was caught up.
    pub first_seq: Option<i64>,
    /// The last event that was caught up.
    pub last_seq: Option<i64>,
    /// How many events of that time backup sync has added; null if no sync has looked at the whole of it.
    pub synced: Option<u64>,
    /// How many more it can't recover.
    pub unrecoverable: Option<u64>,
}

impl From<Gap> for GapView {
    fn from(gap: Gap) -> Self {
        Self {
            id: gap.id,
            tunnel_id: gap.tunnel,
            label: gap.label,
            from: gap.from,
            until: gap.until,
            why: gap.why,
            caught_up: gap.caught_up,
            lost: (gap.kind == TunnelKind::Relay).then_some(gap.lost),
            took_ms: gap.took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            first_seq: gap.first_seq,
            last_seq: gap.last_seq,
            synced: None,
            unrecoverable: None,
        }
    }
}

/// What a process knows of a tunnel that it runs.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) state: TunnelState,
    pub(crate) since: Timestamp,
    pub(crate) why: Option<GapWhy>,
    pub(crate) hindrance: Option<GapWhy>,
    pub(crate) stores: bool,
    pub(crate) error: Option<Trouble>,
    pub(crate) rtt_ms: Option<u64>,
    pub(crate) waiting: Backlog,
    pub(crate) to_acknowledge: u64,
}

impl Seen {
    pub(crate) fn new(state: TunnelState, since: Timestamp) -> Self {
        let waiting = Backlog::default();
        Self {
            state,
            since,
            why: None,
            hindrance: None,
            stores: true,
            error: None,
            rtt_ms: None,
            waiting,
            to_acknowledge: 0,
        }
    }
}

impl Seen {
    /// Takes beginning and reason from the open gap: an earlier one goes on if the connection was lost again before
    /// everything that waited was here.
    fn within(self, gap: Option<&GapView>) -> Self {
        match gap.filter(|gap| gap.until.is_none()) {
            Some(gap) if matches!(self.state, TunnelState::Offline | TunnelState::Connecting) => {
                Self { since: gap.from, why: Some(gap.why), ..self }
            }
            Some(gap) if self.state == TunnelState::Refused => Self { why: Some(gap.why), ..self },
            _ => self,
        }
    }
}

/// Combines a tunnel as it is stored with what is known of its connection.
pub(crate) fn view(kept: KeptTunnel, seen: Seen, gap: Option<GapView>) -> TunnelView {
    let seen = seen.within(gap.as_ref());
    TunnelView {
        host: host(&kept),
        id: kept.id,
        kind: kept.kind,
        label: kept.label,
        tunnel: kept.name,
        relay: kept.url.filter(|_| kept.kind == TunnelKind::Relay),
        source: kept.source.and_then(|source| source.parse().ok()),
        sources: kept.sources.iter().filter_map(|source| source.parse().ok()).collect(),
        public_url: kept.public_url,
        enabled: kept.enabled,
        state: seen.state,
        since: seen.since,
        why: seen.why,
        hindrance: seen.hindrance,
        stores: seen.stores,
        error: seen.error,
        rtt_ms: seen.rtt_ms,
        waiting: seen.waiting,
        to_acknowledge: seen.to_acknowledge,
        refused: RefusedCount { count: kept.told.refused, last_at: kept.told.refused_at },
        unknown: kept.told.unknown,
        unserved: Vec::new(),
        spoilt: RefusedCount { count: kept.spoilt, last_at: kept.spoilt_at },
        last_event_at: kept.last_event_at,
        created_at: kept.created_at,
        gap,
    }
}

/// Returns the other side's host; of a program without a URL, what it is called.
pub(super) fn host(kept: &KeptTunnel) -> String {
    let other_side = kept.url.as_deref().or(kept.public_url.as_deref());
    let host = other_side.and_then(|url| url::Url::parse(url).ok()).and_then(|url| authority(&url));
    let program = || kind::program(kept.kind).map(|program| program.to_string());
    host.or_else(program).unwrap_or_else(|| kept.label.clone())
}

/// Returns the host, with the port if it isn't the scheme's default: for example `relay.acme.dev`.
fn authority(url: &url::Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}
