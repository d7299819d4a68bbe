//! `hookmitt show`: one event.

use hookmitt_event::{EventJson, Timestamp};
use jiff::tz::TimeZone;

use crate::{
    client::Client,
    event_ref::EventRef,
    event_view::EventView,
    failure::{CliError, Exit},
    shown,
    terminal::Screen,
};

/// What `show` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The event: its id or the id's beginning, '#12', last, last~2
    id: EventRef,
    /// Write the body's exact bytes, and nothing else
    #[arg(long, conflicts_with_all = ["headers", "json"])]
    body: bool,
    /// Print the header lines in order, and nothing else
    #[arg(long, conflicts_with = "json")]
    headers: bool,
}

/// Prints it.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    if args.body {
        screen.print_bytes(&client.bytes(&args.id.address_of("body")).await?)?;
        return Ok(Exit::Success);
    }
    let event: EventJson = args.id.read(client).await?;
    if screen.json {
        screen.print_json(&event)?;
    } else if args.headers {
        if !event.headers.is_empty() {
            screen.print(shown::headers(&event.headers))?;
        }
    } else {
        let body = client.bytes(&args.id.address_of("body")).await?;
        let view = EventView { event: &event, body: &body, zone: &TimeZone::system(), now: Timestamp::now() };
        screen.print(view.text())?;
    }
    Ok(Exit::Success)
}
