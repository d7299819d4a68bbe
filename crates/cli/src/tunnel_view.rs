//! Tunnels and their gaps as the API returns them, and how they are formatted for the terminal.

use std::time::Duration;

use hookmitt_event::{GapWhy, Plain, Timestamp};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    shown::size,
    terminal::{BAD, FAINT, GOOD, ODD, STRONG, Styled},
};

/// A tunnel as the API returns it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Tunnel {
    /// The tunnel's number.
    pub(crate) id: i64,
    /// What makes the tunnel: `relay`, `smee`, `cloudflared` or `ngrok`.
    pub(crate) kind: String,
    /// The label that is shown to people.
    pub(crate) label: String,
    /// The tunnel's name at the relay.
    pub(crate) tunnel: Option<String>,
    /// The relay's URL.
    pub(crate) relay: Option<String>,
    /// The only source that a channel or a program serves. `None` for a relay's tunnel.
    pub(crate) source: Option<String>,
    /// The sources that were chosen for a relay's tunnel; the relay is told of no others. Empty if none was chosen: the
    /// relay is told of all.
    #[serde(default)]
    pub(crate) sources: Vec<String>,
    /// The other side's host, for people.
    pub(crate) host: String,
    /// The public URL. For a relay's tunnel, `/<source>` has to be appended.
    pub(crate) public_url: Option<String>,
    /// The tunnel's state, for example `connected`.
    pub(crate) state: String,
    since: Timestamp,
    why: Option<String>,
    #[serde(default)]
    hindrance: Option<String>,
    pub(crate) error: Option<Trouble>,
    rtt_ms: Option<u64>,
    waiting: Backlog,
    to_acknowledge: u64,
    refused: Refused,
    unknown: u64,
    /// Names of unknown sources that were called lately.
    #[serde(default)]
    unserved: Vec<String>,
    spoilt: Refused,
    gap: Option<Gap>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Tunnel {
    /// Whether an event has come through it.
    pub(crate) fn has_brought_events(&self) -> bool {
        self.rest.get("last_event_at").is_some_and(|at| !at.is_null())
    }
}

/// What is wrong with a tunnel, and what to do.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Trouble {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Backlog {
    letters: u64,
    bytes: u64,
    oldest_at: Option<Timestamp>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Refused {
    count: u64,
    last_at: Option<Timestamp>,
}

/// A gap: a time when a tunnel was not connected.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Gap {
    from: Timestamp,
    until: Option<Timestamp>,
    why: String,
    caught_up: u64,
    lost: Option<u64>,
    #[serde(default)]
    synced: Option<u64>,
    #[serde(default)]
    unrecoverable: Option<u64>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Formats a line such as `acme-dev  connected since 08:44, 38 ms  https://relay.acme.dev/acme-dev`.
pub(crate) fn line(tunnel: &Tunnel, zone: &TimeZone) -> String {
    let label = Styled(STRONG, Plain(&format!("{:<16}", tunnel.label)).to_string());
    let url = tunnel.public_url.as_deref().unwrap_or(&tunnel.host);
    format!("{label}  {}  {}", state(tunnel, zone), Plain(url))
}

/// Formats everything that people should know about one tunnel, one line for each fact.
pub(crate) fn lines(tunnel: &Tunnel, zone: &TimeZone) -> Vec<String> {
    let row =
        |name: &str, value: String| format!("{}  {}", Styled(FAINT, format!("{name:<10}")), Plain(&value));
    let mut lines = vec![line(tunnel, zone)];
    lines.extend(tunnel.relay.iter().map(|relay| row("relay", relay.clone())));
    lines.extend(tunnel.source.iter().map(|source| row("source", source.clone())));
    if tunnel.kind == "relay" {
        let all = || "all, including those you add later".to_owned();
        let told = if tunnel.sources.is_empty() { all() } else { tunnel.sources.join(", ") };
        lines.push(row("sources", told));
    }
    match limits(&tunnel.kind) {
        Some(limits) => lines.push(row("limits", limits.to_owned())),
        None => lines.push(row("waiting", waiting(tunnel, zone))),
    }
    if tunnel.refused.count > 0 {
        let last = tunnel.refused.last_at.map_or(String::new(), |at| format!(", last {}", moment(at, zone)));
        lines.push(row("refused", format!("{} by the relay{last}", tunnel.refused.count)));
    }
    if tunnel.spoilt.count > 0 {
        lines.push(row("spoilt", format!("{} unreadable and lost", tunnel.spoilt.count)));
    }
    if tunnel.unknown > 0 {
        lines.push(row("unknown", unknown(tunnel)));
    }
    if let Some(error) = &tunnel.error {
        lines.push(row("error", format!("{} ({})", error.message, error.code)));
        lines.extend(error.hint.iter().map(|hint| row("hint", hint.clone())));
    }
    lines.extend(tunnel.gap.iter().map(|gap| row("gap", sentence(gap, zone))));
    lines
}

/// Formats the tunnel's state, and since when it has been in that state.
pub(crate) fn state(tunnel: &Tunnel, zone: &TimeZone) -> String {
    let since = moment(tunnel.since, zone);
    let now = tunnel.hindrance.as_deref().filter(|now| tunnel.why.as_deref() != Some(now));
    let now = now.map_or(String::new(), |now| format!("; now {}", reason(now)));
    let why = tunnel.why.as_deref().map_or(String::new(), |why| format!(" ({}{now})", reason(why)));
    match tunnel.state.as_str() {
        "connected" => {
            let rtt = tunnel.rtt_ms.map_or(String::new(), |rtt| format!(", {rtt} ms"));
            Styled(GOOD, format!("connected since {since}{rtt}")).to_string()
        }
        "limited" => Styled(ODD, format!("limited since {since}")).to_string(),
        "refused" => Styled(BAD, format!("refused since {since}")).to_string(),
        "off" => Styled(FAINT, "off".to_owned()).to_string(),
        "connecting" => Styled(ODD, "connecting".to_owned()).to_string(),
        other => Styled(ODD, format!("{} since {since}{why}", Plain(other))).to_string(),
    }
}

/// Returns the limits that people should know before they rely on a tunnel of this kind. Relays have none.
pub(crate) fn limits(kind: &str) -> Option<&'static str> {
    match kind {
        "smee" => Some(
            "the channel rewrites JSON, so signatures can't verify; what is sent while hookmitt isn't listening is \
             lost",
        ),
        "cloudflared" => Some("the URL changes on every start; what is sent while it isn't running is lost"),
        "ngrok" => Some("needs an account; what is sent while it isn't running is lost"),
        _ => None,
    }
}

/// Formats a gap: `Offline 02:10–08:44: 37 caught up, 0 lost.`
pub(crate) fn sentence(gap: &Gap, zone: &TimeZone) -> String {
    let from = moment(gap.from, zone);
    let synced = match (gap.synced, gap.unrecoverable.unwrap_or(0)) {
        (None, _) => String::new(),
        (Some(synced), 0) => format!(", {synced} recovered by sync"),
        (Some(synced), lost) => format!(", {synced} recovered by sync, {lost} can't be"),
    };
    let what = match gap.lost {
        Some(lost) => format!("{} caught up, {lost} lost{synced}", gap.caught_up),
        None if gap.synced.is_some() => format!("what was sent meanwhile was lost{synced}"),
        None => "what was sent meanwhile is unknown and lost".to_owned(),
    };
    match gap.until {
        Some(until) if on_day(until, zone) == on_day(gap.from, zone) => {
            format!("Offline {from}–{}: {what}.", clock(until, zone))
        }
        Some(until) => format!("Offline {from}–{}: {what}.", moment(until, zone)),
        None if gap.lost.is_none() => format!("Offline since {from}: what is sent meanwhile is unknown."),
        None => format!("Offline since {from}: {what} so far."),
    }
}

/// Says how often, and by which names, sources were called that are not here, and how to add them.
fn unknown(tunnel: &Tunnel) -> String {
    let calls = if tunnel.unknown == 1 { "1 call".to_owned() } else { format!("{} calls", tunnel.unknown) };
    match tunnel.unserved.first() {
        None => format!("{calls} for sources that don't exist here"),
        Some(newest) => {
            let names = tunnel.unserved.join(", ");
            format!(
                "{calls} for sources that don't exist here, most recently {names}; to receive them, run `hookmitt \
                 source add {newest}`"
            )
        }
    }
}

fn waiting(tunnel: &Tunnel, zone: &TimeZone) -> String {
    if !matches!(tunnel.state.as_str(), "connected" | "limited") {
        return "mailbox unknown until connected".to_owned();
    }
    let Backlog { letters, bytes, oldest_at } = &tunnel.waiting;
    let oldest = oldest_at.map_or(String::new(), |at| format!(", the oldest since {}", moment(at, zone)));
    format!("{letters} at the relay ({}{oldest}), {} to acknowledge", size(*bytes), tunnel.to_acknowledge)
}

/// Returns a reason in words, or as it is if only a later version knows it.
fn reason(why: &str) -> String {
    let known = serde_json::from_value::<GapWhy>(why.into());
    known.map_or_else(|_| Plain(why).to_string(), |why| why.to_string())
}

/// Formats a time of day, with the date before it unless that is today.
pub(crate) fn moment(at: Timestamp, zone: &TimeZone) -> String {
    let now = Timestamp::now();
    if on_day(at, zone) == on_day(now, zone) && now.since(at) < Duration::from_secs(86_400) {
        return clock(at, zone);
    }
    shown(at, zone, "%Y-%m-%d %H:%M")
}

fn clock(at: Timestamp, zone: &TimeZone) -> String {
    shown(at, zone, "%H:%M")
}

fn on_day(at: Timestamp, zone: &TimeZone) -> String {
    shown(at, zone, "%Y-%m-%d")
}

fn shown(at: Timestamp, zone: &TimeZone, form: &str) -> String {
    match jiff::Timestamp::from_microsecond(at.as_micros()) {
        Ok(moment) => moment.to_zoned(zone.clone()).strftime(form).to_string(),
        Err(_) => at.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(until: Value) -> Gap {
        serde_json::from_value(serde_json::json!({
            "id": 1, "tunnel_id": 1, "label": "acme", "from": "2026-01-31T02:10:00Z", "until": until, "why": "asleep",
            "caught_up": 37, "lost": 0, "took_ms": 200, "first_seq": 1, "last_seq": 37,
        }))
        .unwrap()
    }

    #[test]
    fn a_gap_says_what_came_of_it() {
        let zone = TimeZone::UTC;
        let same_day = sentence(&gap("2026-01-31T08:44:10Z".into()), &zone);
        assert_eq!(same_day, "Offline 2026-01-31 02:10–08:44: 37 caught up, 0 lost.");
        let next_day = sentence(&gap("2026-02-01T08:44:10Z".into()), &zone);
        assert_eq!(next_day, "Offline 2026-01-31 02:10–2026-02-01 08:44: 37 caught up, 0 lost.");
        let unknown = Gap { lost: None, ..gap("2026-01-31T08:44:10Z".into()) };
        assert_eq!(
            sentence(&unknown, &zone),
            "Offline 2026-01-31 02:10–08:44: what was sent meanwhile is unknown and lost."
        );
        let open = sentence(&gap(Value::Null), &zone);
        assert_eq!(open, "Offline since 2026-01-31 02:10: 37 caught up, 0 lost so far.");
    }
}
