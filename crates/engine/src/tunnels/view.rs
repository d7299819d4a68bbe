//! Tunnels and their gaps as they are shown.

use hookmitt_event::{Explain, GapWhy, Slug, Timestamp, TunnelKind};
use hookmitt_inbox::{Gap, KeptTunnel};
use serde::Serialize;

use super::kind;

/// How a tunnel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TunnelState {
    /// Events come through it.
    Connected,
    /// The other side is being called.
    Connecting,
    /// There is no connection; it is tried again.
    Offline,
    /// The other side does not want us: only a person can mend that.
    Refused,
    /// It was turned off by hand, or another process has it.
    Off,
    /// Events come through it, but not as they were sent.
    Limited,
}

/// What is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Trouble {
    /// A stable name.
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

/// What waits at a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Backlog {
    /// How many events.
    pub letters: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When the oldest was received.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub oldest_at: Option<Timestamp>,
}

/// What could not be kept: what a relay refused, for its limits, or dropped when it had waited too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct RefusedCount {
    /// How many since the tunnel was made.
    pub count: u64,
    /// The last time.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub last_at: Option<Timestamp>,
}

/// Whether its relay has said that it doesn't know this device any more.
pub(super) fn is_forgotten(state: TunnelState, error: Option<&Trouble>) -> bool {
    let code = error.map(|error| error.code.as_str());
    state == TunnelState::Refused && matches!(code, Some("unknown-device" | "unknown-tunnel"))
}

/// A tunnel as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct TunnelView {
    /// Its number.
    pub id: i64,
    /// What makes it.
    pub kind: TunnelKind,
    /// What people call it.
    pub label: String,
    /// Its name at the relay.
    pub tunnel: Option<String>,
    /// The relay's URL.
    pub relay: Option<String>,
    /// The only source that it serves, where it serves one.
    #[schema(value_type = Option<String>)]
    pub source: Option<Slug>,
    /// The sources that were chosen for a relay's tunnel: it is told of no others. Empty: none was chosen, and it is told
    /// of all.
    #[schema(value_type = Vec<String>)]
    pub sources: Vec<Slug>,
    /// The other side, for people: `relay.acme.dev`.
    pub host: String,
    /// Its public URL; of a relay's, `/<source>` follows. A program's is known while it is connected.
    pub public_url: Option<String>,
    /// Whether it is wanted.
    pub enabled: bool,
    /// How it is.
    pub state: TunnelState,
    /// Since when.
    #[schema(value_type = String, format = "date-time")]
    pub since: Timestamp,
    /// Why it is offline.
    pub why: Option<GapWhy>,
    /// What is wrong.
    pub error: Option<Trouble>,
    /// How long a question to the other side takes, there and back.
    pub rtt_ms: Option<u64>,
    /// What waits at the relay, as far as it was told.
    pub waiting: Backlog,
    /// How many events are here on their way into the inbox.
    pub to_acknowledge: u64,
    /// What the relay could not keep.
    pub refused: RefusedCount,
    /// How many requests named a source that there is none of.
    pub unknown: u64,
    /// Events that came through it and could not be read: they are gone.
    pub spoilt: RefusedCount,
    /// When its newest event was received.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub last_event_at: Option<Timestamp>,
    /// When it was added.
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// The newest time when it was not connected.
    pub gap: Option<GapView>,
}

impl TunnelView {
    /// Whether what is sent to its URL can come here: it is wanted, and its relay knows this device.
    pub fn is_in_use(&self) -> bool {
        self.enabled && !is_forgotten(self.state, self.error.as_ref())
    }

    /// Where a source's provider posts; none where the tunnel serves another source.
    pub fn url_of(&self, source: &Slug) -> Option<String> {
        let base = self.public_url.as_deref()?;
        match self.kind {
            TunnelKind::Relay => self.serves(source).then(|| format!("{base}/{source}")),
            _ => self.serves(source).then(|| base.to_owned()),
        }
    }

    /// Whether events of a source come through it.
    fn serves(&self, source: &Slug) -> bool {
        match self.kind {
            TunnelKind::Relay => self.sources.is_empty() || self.sources.contains(source),
            _ => self.source.as_ref() == Some(source),
        }
    }
}

/// A time when a tunnel was not connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct GapView {
    /// Its number.
    pub id: i64,
    /// The tunnel's.
    pub tunnel_id: i64,
    /// What the tunnel is called.
    pub label: String,
    /// When the connection was lost.
    #[schema(value_type = String, format = "date-time")]
    pub from: Timestamp,
    /// When it was there again; null while what waited is not all here.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub until: Option<Timestamp>,
    /// Why.
    pub why: GapWhy,
    /// How many events came in afterwards that had waited.
    pub caught_up: u64,
    /// How many requests the relay refused meanwhile or dropped when they had waited too long, and how many of those
    /// that waited could not be read; null where nobody can know: nothing keeps what comes, or the relay refuses this
    /// device.
    pub lost: Option<u64>,
    /// How long the catching up took.
    pub took_ms: Option<u64>,
    /// The first event that was caught up.
    pub first_seq: Option<i64>,
    /// The last.
    pub last_seq: Option<i64>,
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
        }
    }
}

/// What a process knows of a tunnel that it runs.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) state: TunnelState,
    pub(crate) since: Timestamp,
    pub(crate) why: Option<GapWhy>,
    pub(crate) error: Option<Trouble>,
    pub(crate) rtt_ms: Option<u64>,
    pub(crate) waiting: Backlog,
    pub(crate) to_acknowledge: u64,
}

impl Seen {
    pub(crate) fn new(state: TunnelState, since: Timestamp) -> Self {
        let waiting = Backlog::default();
        Self { state, since, why: None, error: None, rtt_ms: None, waiting, to_acknowledge: 0 }
    }
}

/// A tunnel as it is kept, and as it is seen.
pub(crate) fn view(kept: KeptTunnel, seen: Seen, gap: Option<GapView>) -> TunnelView {
    let other_side = kept.url.as_deref().or(kept.public_url.as_deref());
    let host = other_side.and_then(|url| url::Url::parse(url).ok()).and_then(|url| authority(&url));
    let program = kind::program(kept.kind).map(|program| program.to_string());
    TunnelView {
        host: host.or(program).unwrap_or_else(|| kept.label.clone()),
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
        error: seen.error,
        rtt_ms: seen.rtt_ms,
        waiting: seen.waiting,
        to_acknowledge: seen.to_acknowledge,
        refused: RefusedCount { count: kept.told.refused, last_at: kept.told.refused_at },
        unknown: kept.told.unknown,
        spoilt: RefusedCount { count: kept.spoilt, last_at: kept.spoilt_at },
        last_event_at: kept.last_event_at,
        created_at: kept.created_at,
        gap,
    }
}

/// `relay.acme.dev`, with its port where that isn't the scheme's own.
fn authority(url: &url::Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}
