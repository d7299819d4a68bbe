//! `hookmitt trash`: lists what was deleted, restores it, and deletes it for good.

use hookmitt_api::EventJson;
use hookmitt_event::{Timestamp, counted};
use http::Method;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::{
    agreed::is_sure,
    client::{Address, Client, Items},
    event_ref::EventRef,
    event_words::subject,
    failure::{CliError, Exit},
    job::{self, Begun},
    moment::Since,
    shown,
    terminal::{FAINT, STRONG, Screen, Styled},
};

/// What `trash` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to do; without it, the trash is listed
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// What to do with the trash.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List what was deleted, the last deleted first
    List,
    /// Restore events; their ended deliveries wait again
    Restore(Events),
    /// Delete events for good
    Delete(Events),
    /// Delete everything in the trash for good
    Empty(Empty),
}

/// Events in the trash.
#[derive(Debug, clap::Args)]
struct Events {
    /// The events: ids or the start of them, or '#12'
    #[arg(value_name = "ID", required = true)]
    ids: Vec<EventRef>,
}

/// What `trash empty` takes.
#[derive(Debug, clap::Args)]
struct Empty {
    /// Only what was deleted before this time: how long ago (10m, 2h, 7d), or an RFC 3339 time
    #[arg(long, value_name = "T")]
    before: Option<Since>,
    /// Don't ask
    #[arg(long)]
    yes: bool,
}

/// Runs the command.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    match &args.verb {
        None | Some(Verb::List) => list(client, screen).await,
        Some(Verb::Restore(events)) => restore(events, client, screen).await,
        Some(Verb::Delete(events)) => delete(events, client, screen).await,
        Some(Verb::Empty(args)) => empty(args, client, screen).await,
    }
}

async fn list(client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let (mut cursor, mut is_empty) = (None::<String>, true);
    loop {
        let page: Items<EventJson> = client.get(&Address::new(["trash"]).with("cursor", cursor)).await?;
        for event in &page.items {
            is_empty = false;
            print(event, screen)?;
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if is_empty && !screen.json {
        screen.note(Styled(FAINT, "the trash is empty"));
    }
    Ok(Exit::Success)
}

fn print(event: &EventJson, screen: &Screen) -> Result<(), CliError> {
    if screen.json {
        return screen.print_json(event);
    }
    let at = event.deleted_at.map(|at| shown::day_and_clock(at, &TimeZone::system())).unwrap_or_default();
    let by = event.deleted_by.map_or("-", hookmitt_event::Actor::as_str);
    let number = Styled(STRONG, format!("{:>6}", format!("#{}", event.seq)));
    let what = format!("{}  {}", event.source, subject(event));
    screen.print(format_args!("{number}  {}  {by:<9}  {what}", Styled(FAINT, at)))
}

async fn restore(events: &Events, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let events = EventRef::each_deleted(&events.ids, client).await?;
    let ids: Vec<_> = events.iter().map(|event| event.id.to_string()).collect();
    let address = Address::new(["trash", "restore"]);
    let done: Value = client.send(Method::POST, &address, &json!({ "ids": ids })).await?;
    if done["job"].is_object() {
        return job::follow(job::begun(done)?, client, screen).await;
    }
    if screen.json {
        screen.print_json(&done)?;
    } else {
        let waiting = done["waiting"].as_u64().unwrap_or_default();
        let restored = counted(done["restored"].as_u64().unwrap_or_default(), "event");
        screen.note(format_args!("restored {restored}; deliveries that wait again: {waiting}"));
    }
    Ok(Exit::Success)
}

async fn delete(events: &Events, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let mut ends = Exit::Success;
    for id in EventRef::ids(&events.ids, client).await? {
        let address = Address::new(["trash", &id.to_string()]);
        let done: Value = client.send(Method::DELETE, &address, &json!({})).await?;
        ends = if done["stay"] == 0 { ends } else { Exit::No };
        tell(&done, screen)?;
    }
    Ok(ends)
}

async fn empty(args: &Empty, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let what = "what is deleted from the trash can't be restored";
    if !(args.yes || is_sure(what, "Delete it for good?", "--yes does it without asking", screen).await?) {
        return Ok(Exit::No);
    }
    let before = args.before.map(|before| before.moment(Timestamp::now()).to_string());
    let address = Address::new(["trash", "empty"]);
    let Begun { job } = client.send(Method::POST, &address, &json!({ "before": before })).await?;
    job::follow(job, client, screen).await
}

fn tell(done: &Value, screen: &Screen) -> Result<(), CliError> {
    if screen.json {
        return screen.print_json(done);
    }
    let number = |name: &str| done[name].as_u64().unwrap_or_default();
    let stay = match number("stay") {
        0 => String::new(),
        stay => format!("; {} being sent right now: try again", counted(stay, "event")),
    };
    screen.note(format_args!("deleted for good: {}{stay}", counted(number("gone"), "event")));
    Ok(())
}
