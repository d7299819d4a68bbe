//! `hookmitt prune`: deletes for good what has been kept for long enough, or lists what that is.

use hookmitt_event::{Plain, Timestamp, counted};
use http::Method;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    job::{self, Begun},
    shown,
    terminal::{FAINT, ODD, STRONG, Screen, Styled},
};

/// What `prune` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only list what would be deleted
    #[arg(long)]
    dry_run: bool,
}

/// What would be deleted.
#[derive(Debug, Deserialize)]
struct Prunable {
    items: Vec<WouldGo>,
    in_use: u64,
    over_limit: u64,
    complete: bool,
}

/// Some events that would be deleted.
#[derive(Debug, Deserialize, Serialize)]
struct WouldGo {
    source: String,
    kept: String,
    why: String,
    events: u64,
    bytes: u64,
    oldest: Timestamp,
}

impl WouldGo {
    /// Whether they have been kept for long enough. Otherwise they go to make room, and how many go is an estimate.
    fn is_aged(&self) -> bool {
        self.why == "age"
    }

    fn line(&self) -> String {
        let oldest = shown::day_and_clock(self.oldest, &TimeZone::system());
        let why = match self.why.as_str() {
            "size_limit" => ", to stay within the size limit",
            "disk_full" => ", because the disk is nearly full",
            _ => "",
        };
        let about = if self.is_aged() { "" } else { "about " };
        format!(
            "{}  {:11}  {:>9}  {:>9}  {}",
            Styled(STRONG, format!("{:<16}", Plain(&self.source).to_string())),
            Plain(&self.kept.replace('_', " ")).to_string(),
            format!("{about}{}", self.events),
            shown::size(self.bytes),
            Styled(FAINT, format!("since {oldest}{why}")),
        )
    }
}

/// Prunes, or lists what would go.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let address = Address::new(["prune"]);
    if args.dry_run {
        print(&client.get(&address).await?, screen)?;
        return Ok(Exit::Success);
    }
    let Begun { job } = client.send(Method::POST, &address, &json!({})).await?;
    job::follow(job, client, screen).await
}

fn print(prunable: &Prunable, screen: &Screen) -> Result<(), CliError> {
    let Prunable { items, in_use, over_limit, complete } = prunable;
    let events = items.iter().map(|some| some.events).sum();
    if screen.json {
        items.iter().try_for_each(|some| screen.print_json(some))?;
        let total =
            json!({ "events": events, "in_use": in_use, "over_limit": over_limit, "complete": complete });
        return screen.print_json(&json!({ "total": total }));
    }
    items.iter().try_for_each(|some| screen.print(some.line()))?;
    let all = match (complete, items.iter().all(WouldGo::is_aged)) {
        (false, _) => "at least ",
        (true, false) => "about ",
        (true, true) => "",
    };
    screen.note(format_args!("{all}{} would be deleted for good", counted(events, "event")));
    if *over_limit > 0 {
        let (over, in_use) = (shown::size(*over_limit), shown::size(*in_use));
        screen.note(Styled(ODD, format!("the inbox has {in_use}, {over} above its limit")));
    }
    Ok(())
}
