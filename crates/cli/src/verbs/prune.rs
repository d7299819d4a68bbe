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
    events: u64,
    bytes: u64,
    oldest: Timestamp,
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
    if screen.json {
        return prunable.items.iter().try_for_each(|some| screen.print_json(some));
    }
    for some in &prunable.items {
        let oldest = shown::day_and_clock(some.oldest, &TimeZone::system());
        screen.print(format_args!(
            "{}  {:11}  {:>9}  {:>9}  {}",
            Styled(STRONG, format!("{:<16}", Plain(&some.source).to_string())),
            Plain(&some.kept.replace('_', " ")).to_string(),
            some.events,
            shown::size(some.bytes),
            Styled(FAINT, format!("since {oldest}")),
        ))?;
    }
    let events = prunable.items.iter().map(|some| some.events).sum();
    let all = if prunable.complete { "" } else { "at least " };
    screen.note(format_args!("{all}{} would be deleted for good", counted(events, "event")));
    if prunable.over_limit > 0 {
        let (over, in_use) = (shown::size(prunable.over_limit), shown::size(prunable.in_use));
        let text = format!("the inbox has {in_use}, {over} above its limit: the oldest events go, too");
        screen.note(Styled(ODD, text));
    }
    Ok(())
}
