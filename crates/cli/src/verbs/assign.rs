//! `hookmitt move`: moves events out of `unassigned` into a source.

use hookmitt_api::EventJson;
use hookmitt_event::Slug;
use http::Method;
use serde_json::json;

use crate::{
    client::{Address, Client},
    event_ref::EventRef,
    failure::{CliError, Exit},
    shown,
    terminal::{STRONG, Screen, Styled},
};

/// What `move` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The events in `unassigned`: ids or the start of them, '#12', last, last~2
    #[arg(value_name = "ID", required = true)]
    ids: Vec<EventRef>,
    /// The source that they belong to
    #[arg(long, value_name = "S")]
    to: Slug,
}

/// Moves the events, and prints each with its new number.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    for id in EventRef::ids(&args.ids, client).await? {
        let address = Address::new(["events", &id.to_string(), "move"]);
        let moved: EventJson = client.send(Method::POST, &address, &json!({ "source": args.to })).await?;
        if screen.json {
            screen.print_json(&moved)?;
        } else {
            let number = Styled(STRONG, format!("#{}", moved.seq));
            screen.print(format_args!("{number}  {}  {}", moved.source, shown::verdict(moved.verdict)))?;
        }
    }
    Ok(Exit::Success)
}
