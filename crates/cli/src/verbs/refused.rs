//! `hookmitt events --refused`: lists the requests that were refused instead of stored.

use hookmitt_event::{Plain, Timestamp, counted};
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    client::{Address, Client},
    failure::CliError,
    moment::Since,
    shown,
    terminal::{FAINT, ODD, Screen, Styled},
};

/// A page of refused requests.
#[derive(Debug, Deserialize)]
struct Page {
    items: Vec<Value>,
    next_cursor: Option<String>,
    relays: Vec<Value>,
}

/// Prints the refused requests, newest first, and what relays refused.
pub(crate) async fn print(
    since: Option<Since>,
    limit: usize,
    client: &Client,
    screen: &Screen,
) -> Result<(), CliError> {
    let since = since.map(|since| since.moment(Timestamp::now()).to_string());
    let address = Address::new(["refusals"]).with("since", since);
    let (mut left, mut cursor, mut relays) = (limit, None::<String>, Vec::new());
    while left > 0 {
        let page: Page = client.get(&address.clone().with("cursor", cursor)).await?;
        for refused in page.items.iter().take(left) {
            if screen.json { screen.print_json(refused)? } else { screen.print(row(refused))? }
        }
        left = left.saturating_sub(page.items.len());
        (relays, cursor) = (page.relays, page.next_cursor);
        if cursor.is_none() {
            break;
        }
    }
    if left == limit && relays.is_empty() && !screen.json {
        screen.note(Styled(FAINT, "no request was refused"));
    }
    for relay in relays {
        let [tunnel, host] =
            ["tunnel", "host"].map(|name| relay[name].as_str().unwrap_or_default().to_owned());
        let refused = counted(relay["refused"]["count"].as_u64().unwrap_or_default(), "request");
        screen.note(Styled(ODD, Plain(&format!("{host} refused {refused} to {tunnel}, beyond its limits"))));
    }
    Ok(())
}

/// Says in one line what was refused. What the sender chose is escaped, and cut where it is long.
fn row(refused: &Value) -> String {
    const LONGEST: usize = 200;
    let text = |name: &str| refused[name].as_str().unwrap_or_default();
    let at = text("at").parse::<Timestamp>();
    let at = at.map(|at| shown::day_and_clock(at, &TimeZone::system())).unwrap_or_default();
    let called: String =
        format!("{} {}", text("method"), text("target")).trim().chars().take(LONGEST).collect();
    let called = if called.is_empty() { "-".to_owned() } else { called };
    let provider = refused["provider"].as_str().map(|id| format!(" ({id})")).unwrap_or_default();
    let more = match refused["more"].as_u64().unwrap_or_default() {
        0 => String::new(),
        more => format!(", and {more} more like it"),
    };
    let said = format!("{called}{provider} from {}: {}{more}", text("remote"), text("message"));
    format!("{}  {}  {:18}  {}", Styled(FAINT, at), refused["status"], text("code"), Plain(&said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn threat_2_a_refused_target_controls_no_terminal() {
        let refused = json!({
            "at": "2026-11-21T14:03:59Z", "remote": "127.0.0.1:5", "method": "POST", "target": "/\u{1b}[2J\u{202e}",
            "host": null, "status": 404, "code": "unknown-source", "message": "no\nsource", "source": null,
            "provider": "github", "size": 3, "more": 1204
        });
        let row = anstream::adapter::strip_str(&row(&refused)).to_string();
        let says = r"404  unknown-source      POST /\u{1b}[2J\u{202e} (github) from 127.0.0.1:5: no\u{a}source, and 1204 more like it";
        assert!(row.ends_with(says), "{row}");
    }
}
