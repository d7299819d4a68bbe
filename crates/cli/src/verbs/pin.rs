//! `hookmitt pin`: pins events, so that retention keeps them.

use hookmitt_api::EventJson;
use http::Method;
use serde_json::json;

use crate::{
    client::{Address, Client},
    event_ref::EventRef,
    failure::{CliError, Exit},
    terminal::{STRONG, Screen, Styled},
};

/// What `pin` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The events: ids or the start of them, '#12', last, last~2
    #[arg(value_name = "ID", required = true)]
    ids: Vec<EventRef>,
    /// Remove the pins
    #[arg(long)]
    undo: bool,
}

/// Pins the events or removes their pins, and prints a line for each.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    for id in EventRef::ids(&args.ids, client).await? {
        let address = Address::new(["events", &id.to_string()]);
        let change = json!({ "pinned": !args.undo });
        let event: EventJson = client.send(Method::PATCH, &address, &change).await?;
        if screen.json {
            screen.print_json(&json!({ "event_id": event.id, "seq": event.seq, "pinned": event.pinned }))?;
        } else {
            let done = if event.pinned { "pinned" } else { "no longer pinned" };
            screen.print(format_args!("{}  {done}", Styled(STRONG, format!("#{}", event.seq))))?;
        }
    }
    Ok(Exit::Success)
}
