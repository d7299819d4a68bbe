//! `hookmitt show`: shows one event.

use hookmitt_api::EventJson;
use hookmitt_event::{Explanation, Timestamp, Verdict};
use jiff::tz::TimeZone;

use crate::{
    client::{Address, Client},
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

/// Prints the event.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    if args.body {
        screen.print_bytes(&client.bytes(&args.id.address_of("body")).await?)?;
        return Ok(Exit::Success);
    }
    let mut event: EventJson = args.id.read(client).await?;
    if !args.headers && event.verdict == Verdict::Invalid {
        explain(&mut event, client).await?;
    }
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

/// Replaces the stored causes, which may come from a quick first look, by those that an explanation finds.
async fn explain(event: &mut EventJson, client: &Client) -> Result<(), CliError> {
    let address = Address::new(["events", &event.id.to_string(), "explanation"]);
    match client.get::<Explanation>(&address).await {
        Ok(explanation) if explanation.verdict == event.verdict => event.causes = explanation.kept_causes(),
        Ok(_) => {} // judged with settings that have changed since, so the stored verdict keeps its causes
        Err(CliError::Problem(problem)) if problem.status == 404 => {} // its source was removed
        Err(error) => return Err(error),
    }
    Ok(())
}
