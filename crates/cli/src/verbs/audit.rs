//! `hookmitt audit`: lists who did what.

use hookmitt_event::{Actor, Deed, Plain, Timestamp};
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::{
    client::{Address, Client, Items},
    failure::{CliError, Exit},
    moment::Since,
    shown,
    terminal::{FAINT, STRONG, Screen, Styled},
};

/// What `audit` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only since this time: how long ago (10m, 2h, 7d), or an RFC 3339 time
    #[arg(long, value_name = "T")]
    since: Option<Since>,
    /// Only what they did: window, page, cli, api, up or retention
    #[arg(long, value_name = "WHO")]
    who: Option<Actor>,
    /// Only this, for example deleted or secret_set
    #[arg(long, value_name = "WHAT")]
    what: Option<Deed>,
}

/// Prints the entries, newest first.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let since = args.since.map(|since| since.moment(Timestamp::now()).to_string());
    let address = Address::new(["audit"])
        .with("since", since)
        .with("who", args.who.map(Actor::as_str))
        .with("what", args.what.map(Deed::as_str));
    let (mut cursor, mut is_unused) = (None::<String>, true);
    loop {
        let page: Items<Value> = client.get(&address.clone().with("cursor", cursor)).await?;
        if is_unused && !page.items.is_empty() && !screen.json {
            let head = format!("{:14}  {:9}  {:18}  {}", "TIME", "WHO", "WHAT", "WHICH");
            screen.print(Styled(STRONG, head))?;
        }
        for entry in &page.items {
            is_unused = false;
            if screen.json { screen.print_json(entry)? } else { screen.print(row(entry))? }
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if is_unused && !screen.json {
        screen.note(Styled(FAINT, "nothing was done that is in the audit trail"));
    }
    Ok(Exit::Success)
}

fn row(entry: &Value) -> String {
    let text = |name: &str| entry[name].as_str().unwrap_or_default();
    let at = text("at").parse::<Timestamp>();
    let at = at.map(|at| shown::day_and_clock(at, &TimeZone::system())).unwrap_or_default();
    let what = text("what").replace('_', " ");
    format!(
        "{}  {:9}  {:18}  {}",
        Styled(FAINT, at),
        Plain(text("who")).to_string(),
        Plain(&what).to_string(),
        which(entry)
    )
}

/// Says in one line to what something was done: `#12  demo  https://host  label main`.
fn which(entry: &Value) -> String {
    let number = entry["seq"].as_i64().map(|seq| format!("#{seq}"));
    let named = ["source", "target"].into_iter().filter_map(|name| entry[name].as_str().map(str::to_owned));
    let details = entry["detail"].as_object().into_iter().flatten().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{} {value}", name.replace('_', " "))
    });
    let all: Vec<_> = number.into_iter().chain(named).chain(details).collect();
    Plain(&all.join("  ")).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_says_which_and_controls_no_terminal() {
        let entry = json!({
            "id": 1, "at": "2026-11-21T14:03:59Z", "who": "cli", "what": "secret_set", "event_id": null, "seq": 12,
            "source": "demo", "target": null, "detail": { "label": "a\u{1b}[2J" }
        });
        assert_eq!(which(&entry), r"#12  demo  label a\u{1b}[2J");
        assert!(row(&entry).contains("secret set"));
    }
}
