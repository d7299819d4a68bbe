//! Targets as the API returns them, and what is said of them in the terminal.

use std::time::Duration;

use hookmitt_event::{Plain, TargetState, Timestamp};
use jiff::tz::TimeZone;
use serde::Deserialize;

use crate::{
    client::{Address, Client},
    failure::CliError,
    shown,
    terminal::{BAD, FAINT, GOOD, ODD, Screen, Styled},
    tunnel_view::moment,
};

/// How long ago an answer may be, for a target to be said to answer.
const FRESH: Duration = Duration::from_secs(60);

/// A target's URL and state.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Target {
    /// The URL.
    pub(crate) url: String,
    paused: bool,
    state: TargetState,
}

/// The address of the targets, which are looked at first; only those of `source` if there is one.
pub(crate) fn looked_at(source: Option<&str>) -> Address {
    Address::new(["targets"]).with("source", source).with("look", Some("true"))
}

impl Target {
    /// Says what is known of the target: `answered 13 min ago`, `paused, nobody answers since 14:02: connection refused`.
    pub(crate) fn state(&self, now: Timestamp, zone: &TimeZone) -> String {
        let state = match &self.state {
            TargetState::Untried => Styled(FAINT, "not tried yet".to_owned()),
            TargetState::Answered { at } if now.since(*at) < FRESH => Styled(GOOD, "answers".to_owned()),
            TargetState::Answered { at } => {
                Styled(FAINT, format!("answered {} ago", shown::span(now.since(*at))))
            }
            TargetState::Silent { since, why, .. } => {
                Styled(BAD, format!("nobody answers since {}: {why}", moment(*since, zone)))
            }
        };
        if self.paused { format!("{}, {state}", Styled(ODD, "paused")) } else { state.to_string() }
    }

    fn is_silent(&self) -> bool {
        matches!(self.state, TargetState::Silent { .. })
    }
}

/// Notes which targets nobody answers at, as is looked at now. It stands in nobody's way: what comes waits.
pub(crate) async fn note_silent(
    source: Option<&str>,
    client: &Client,
    screen: &Screen,
) -> Result<(), CliError> {
    let targets: Vec<Target> = client.all(&looked_at(source)).await?;
    let (now, zone) = (Timestamp::now(), TimeZone::system());
    for target in targets.iter().filter(|target| target.is_silent()) {
        let state = target.state(now, &zone);
        screen.note(format_args!("  {:<8} {}  {state}; what comes waits", "target", Plain(&target.url)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_known_of_a_target_is_said_and_no_more() {
        let now: Timestamp = "2026-01-31T14:15:00Z".parse().unwrap();
        let said = |paused: bool, state: Value| {
            let target = json!({ "id": 1, "url": "http://localhost:3000", "paused": paused, "state": state });
            let state = serde_json::from_value::<Target>(target).unwrap().state(now, &TimeZone::UTC);
            anstream::adapter::strip_str(&state).to_string()
        };
        let answered = |at: &str| json!({ "is": "answered", "at": at });
        assert_eq!(said(false, json!({ "is": "untried" })), "not tried yet");
        assert_eq!(said(false, answered("2026-01-31T14:14:30Z")), "answers");
        assert_eq!(said(false, answered("2026-01-31T14:02:00Z")), "answered 13 min ago");
        let since = "2026-01-31T14:02:00Z";
        let silent = json!({ "is": "silent", "since": since, "why": "connection_refused", "error": "…" });
        assert_eq!(said(true, silent), "paused, nobody answers since 2026-01-31 14:02: connection refused");
    }
}
